"""Ranking regression testing for pytest: golden sets, metrics, gates and approved baselines.

``__init__.pyi`` states the public names. They are loaded on first use, so importing the package,
as pytest does at every start, costs nothing.
"""

from pytest_rankcheck.lazy_names import lazy_names

__version__ = "0.2.0"

__getattr__, __dir__ = lazy_names(__name__)
del lazy_names
