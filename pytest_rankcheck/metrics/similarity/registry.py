"""The registry of similarities: what is said once beside a function and read everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

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
) -> Callable[[Compute], Compute]:
    """Register the decorated function; the table of the manual is made from the registry."""

    def register(compute: Compute) -> Compute:
        _SIMILARITIES[name] = Similarity(name, compute, reference, higher_is_better, range)
        return compute

    return register
