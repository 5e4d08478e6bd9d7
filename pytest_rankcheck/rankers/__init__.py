"""Rankers: the run, its file formats, and adapters for every kind of model.

``__init__.pyi`` states the public adapters; they are loaded on first use: ``rankers.http(...)``.
"""

from pytest_rankcheck.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
del lazy_names
