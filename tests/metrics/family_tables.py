"""What the general tests know about each metric: the registry, and tables in the families' tests.

A family ``pytest_rankcheck/metrics/families/gain.py`` is tested by ``test_gain.py`` beside this
file, which may have any of these tables:

- ``LAW_VARIANTS``: names of metrics, with other parameters than the defaults, that the laws are
  tried on.
- ``ON_AN_EMPTY_RANKING``: the values that are not 0 when nothing was retrieved for a query with
  one relevant document, by the name at a cutoff of 5.
- ``WITH_NOTHING_RELEVANT``: the values that are not 0 for a ranking of a document with grade 0 and
  an unjudged one, by the name at a cutoff of 5.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from pytest_rankcheck.metrics import families
from pytest_rankcheck.metrics.metric_registry import judged_definitions


def family_tests() -> Iterator[ModuleType]:
    """Yield the test module of every family."""
    for family in pkgutil.iter_modules(families.__path__):
        yield import_module(f"test_{family.name}")


def plain_names() -> list[str]:
    """Return every metric of the registry with its default parameters, and at a cutoff of 3."""
    plain = []
    for name, definition in judged_definitions().items():
        match definition.at:
            case "recall":
                plain.append(f"{name}@0.5")
            case "cutoff":
                plain += [name, f"{name}@3"]
            case _:
                plain.append(name)
    return plain


def names() -> list[str]:
    """Return every metric of the registry, with and without a cutoff, and with parameters."""
    variants = [name for tests in family_tests() for name in getattr(tests, "LAW_VARIANTS", [])]
    return [*plain_names(), *variants]


def names_at_a_cutoff() -> list[str]:
    """Return every metric of the registry, at a cutoff of 5 or a recall level of 0.5."""
    cutoffs = {"cutoff": "@5", "recall": "@0.5", None: ""}
    return [name + cutoffs[definition.at] for name, definition in judged_definitions().items()]


def on_an_empty_ranking() -> dict[str, float]:
    return _merged("ON_AN_EMPTY_RANKING")


def with_nothing_relevant() -> dict[str, float]:
    return _merged("WITH_NOTHING_RELEVANT")


def _merged(table: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for tests in family_tests():
        values |= getattr(tests, table, {})
    return values
