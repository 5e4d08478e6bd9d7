"""The registry of similarities: one decorated function declares everything about a similarity."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, Unpack

from pytest_rankcheck.metrics.laws.declared_laws import PairLaws, checked_laws

__all__ = ["Similarity", "similarities", "similarity"]

SimilarityFunction = TypeVar("SimilarityFunction", bound=Callable[..., float])


@dataclass(frozen=True, slots=True)
class Similarity:
    """A registered similarity of two rankings."""

    name: str
    compute: Callable[..., float]
    reference: str
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    laws: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The laws that the similarity declares to keep or not to keep."""

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.compute.__doc__ or "").partition("\n")[0]


_SIMILARITIES: dict[str, Similarity] = {}


def similarities() -> Mapping[str, Similarity]:
    """Return all similarities by name, sorted."""
    from pytest_rankcheck.metrics import similarity as package

    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(_SIMILARITIES.items()))


def similarity(
    name: str,
    reference: str,
    higher_is_better: bool = True,
    range: tuple[float, float] = (0.0, 1.0),
    **laws: Unpack[PairLaws],
) -> Callable[[SimilarityFunction], SimilarityFunction]:
    """Register the decorated function as a similarity of two rankings.

    Args:
        name: the name in the manual.
        reference: the source of the formula (paper, equation).
        higher_is_better: whether a higher value means more similar rankings.
        range: the lowest and the highest possible value.
        **laws: whether the similarity keeps each law; the tests verify them.
    """

    def register(compute: SimilarityFunction) -> SimilarityFunction:
        declared = checked_laws(name, laws, PairLaws)
        _SIMILARITIES[name] = Similarity(
            name, compute, reference, higher_is_better, range, declared
        )
        return compute

    return register
