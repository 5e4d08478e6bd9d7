"""The registry of similarities: what is said once beside a function and read everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, Unpack

from pytest_rankcheck.metrics.laws.declared_laws import PairLaws, checked_laws

__all__ = ["Similarity", "similarities", "similarity"]

Compute = TypeVar("Compute", bound=Callable[..., float])


@dataclass(frozen=True, slots=True)
class Similarity:
    """A similarity of two rankings as it is registered."""

    name: str
    compute: Callable[..., float]
    reference: str
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    laws: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The laws that it is declared to keep, or not to."""

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.compute.__doc__ or "").partition("\n")[0]


_SIMILARITIES: dict[str, Similarity] = {}


def similarities() -> Mapping[str, Similarity]:
    """Return every similarity by its name, sorted."""
    from pytest_rankcheck.metrics import similarity as package

    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(_SIMILARITIES.items()))


def similarity(
    name: str,
    reference: str,
    higher_is_better: bool = True,
    range: tuple[float, float] = (0.0, 1.0),
    **laws: Unpack[PairLaws],
) -> Callable[[Compute], Compute]:
    """Register the decorated function; the tables of the manual are made from the registry.

    ``laws`` are those that it keeps or does not, as the tests find too.
    """

    def register(compute: Compute) -> Compute:
        declared = checked_laws(name, laws, PairLaws)
        _SIMILARITIES[name] = Similarity(
            name, compute, reference, higher_is_better, range, declared
        )
        return compute

    return register
