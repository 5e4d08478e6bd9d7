"""Metrics: pure functions over judged hits, their registry and their names. numpy in, numpy out.

``__init__.pyi`` states the public checks of parameters, such as ``metrics.number(above=0)``.
"""

from pytest_rankcheck.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
del lazy_names
