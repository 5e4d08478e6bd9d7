"""Laws of a similarity of two rankings, tried on all pairs of rankings of five documents.

These are the properties of Balestra, Mayr and Müller, Ranking evaluation metrics from a
group-theoretic perspective, 2024 (arXiv:2408.16009), for s(r, t) of two rankings r and t of the
same documents; the bounds are ours, and written out. Rankings that share only some documents, and
empty ones, are another matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import PRECISION, Cases, CounterExample, Shown
from pytest_rankcheck.metrics.laws.law_report import LawResult
from pytest_rankcheck.metrics.similarity.similarity_registry import Similarity
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["PAIR_LAWS", "Pairs", "check_similarity"]

Ranking = tuple[str, ...]


@dataclass(frozen=True)
class Pairs:
    """A similarity, and its value for every pair of rankings of n documents."""

    similarity: Similarity
    n: int = 5

    @cached_property
    def rankings(self) -> Sequence[Ranking]:
        """All rankings of the documents a, b, c, ..."""
        return tuple(permutations("abcdefgh"[: self.n]))

    @cached_property
    def places(self) -> dict[Ranking, int]:
        """Where each ranking stands in `rankings`."""
        return {ranking: place for place, ranking in enumerate(self.rankings)}

    @cached_property
    def values(self) -> FloatArray:
        """``[R, R]`` the value of each pair."""
        compute = self.similarity.compute
        return np.array([[compute(one, two) for two in self.rankings] for one in self.rankings])

    @property
    def merits(self) -> FloatArray:
        """The values, turned so that more is more alike."""
        return self.values if self.similarity.higher_is_better else -self.values

    @cached_property
    def tolerance(self) -> float:
        """The difference up to which two values are the same."""
        return PRECISION * float(np.abs(self.values).max())

    def mapped(self, change: Callable[[Ranking], Ranking]) -> np.ndarray:
        """Return the place of each ranking after it is changed."""
        return np.array([self.places[change(ranking)] for ranking in self.rankings])

    def shown(self, *pairs: tuple[int, int]) -> tuple[Shown, ...]:
        """Return pairs of rankings in words, with what they score."""
        return tuple(
            Shown(
                f"{''.join(self.rankings[one])} and {''.join(self.rankings[two])}",
                float(self.values[one, two]),
            )
            for one, two in pairs
        )

    def cases(self, broken: np.ndarray, told: Callable[..., CounterExample]) -> Cases:
        """Return the trials of a law, of which each index of ``broken`` is one."""
        flat = broken.ravel()
        return Cases(
            flat,
            np.ones_like(flat),
            lambda case: told(*map(int, np.unravel_index(case, broken.shape))),
        )


def symmetric(pairs: Pairs) -> Cases:
    """Symmetry: which ranking is the first does not matter: s(r, t) = s(t, r)."""
    broken = np.abs(pairs.values - pairs.values.T) > pairs.tolerance
    return pairs.cases(
        broken,
        lambda one, two: CounterExample(
            "the other way round it is another", pairs.shown((one, two), (two, one))
        ),
    )


def identity(pairs: Pairs) -> Cases:
    """Identity of indiscernibles: s(r, t) is the best value exactly where r = t."""
    is_best = pairs.merits >= pairs.merits.max() - pairs.tolerance
    same = np.eye(len(pairs.rankings), dtype=bool)
    return pairs.cases(
        is_best != same,
        lambda one, two: CounterExample(
            "two rankings are as alike as one with itself", pairs.shown((one, one), (one, two))
        ),
    )


def normalised(pairs: Pairs) -> Cases:
    """A ranking has the best value of the range with itself."""
    low, high = pairs.similarity.range
    end = high if pairs.similarity.higher_is_better else -low
    broken = np.abs(np.diagonal(pairs.merits) - end) > pairs.tolerance
    return pairs.cases(
        broken,
        lambda one: CounterExample(
            f"a ranking does not have {abs(end):g} with itself", pairs.shown((one, one))
        ),
    )


def sensitive(pairs: Pairs) -> Cases:
    """Sensitivity: the top weighs most.

    Let w_i be the largest |s(r', t) - s(r, t)| where r' is r with a swap at rank i, over all r and
    t: w_1 >= w_2 >= ..., and w_1 > the last of them.
    """
    weights = _changes(pairs).max(axis=(1, 2))
    falls = bool((np.diff(weights) <= pairs.tolerance).all())
    top = bool(weights[0] > weights[-1] + pairs.tolerance)
    listed = ", ".join(f"{weight:.3g}" for weight in weights)
    why = f"the most that a swap at rank 1, 2, ... changes is {listed}"
    return pairs.cases(np.array([not (falls and top)]), lambda _: CounterExample(why))


def robust_1(pairs: Pairs) -> Cases:
    """Robustness of type I: a swap in one ranking changes it little: by less than half.

    For all r and t, and r' that is r with a swap at any rank: |s(r', t) - s(r, t)| is less than
    half of what lies between the best and the worst value of two rankings.
    """
    changes = _changes(pairs)
    span = pairs.merits.max() - pairs.merits.min()
    broken = (changes > pairs.tolerance) & (changes >= span / 2 - pairs.tolerance)
    return pairs.cases(
        broken,
        lambda place, one, two: CounterExample(
            f"the swap at rank {place + 1} of the first changes the value by half or more",
            pairs.shown((one, two), (int(_swapped(pairs, place)[one]), two)),
        ),
    )


def robust_2(pairs: Pairs) -> Cases:
    """Robustness of type II: the same swap in both rankings changes nothing.

    For all r and t and any two documents x and y: s(r', t') = s(r, t), where x and y have changed
    places in both. This is invariance under renaming, which group theory calls right-invariance
    (Diaconis, Group representations in probability and statistics, 1988, chapter 6).
    """
    names = "abcdefgh"[: pairs.n]
    swaps = list(combinations(names, 2))
    maps = [pairs.mapped(_renaming(*swap)) for swap in swaps]
    moved = np.stack([pairs.values[np.ix_(one, one)] for one in maps])
    return pairs.cases(
        np.abs(moved - pairs.values) > pairs.tolerance,
        lambda swap, one, two: CounterExample(
            f"{swaps[swap][0]} and {swaps[swap][1]} change places in both rankings",
            pairs.shown((one, two), (int(maps[swap][one]), int(maps[swap][two]))),
        ),
    )


def stable(pairs: Pairs) -> Cases:
    """Stability: a document added below all rankings does not change which is more alike.

    For all rankings r, u and t of n-1 documents and a new one x: rx is more like tx than ux is, as
    much or less, just as r is more like t than u is, as much or less.
    """
    short = Pairs(pairs.similarity, pairs.n - 1)
    longer = np.array(
        [pairs.places[(*ranking, "abcdefgh"[pairs.n - 1])] for ranking in short.rankings]
    )

    def order(merits: FloatArray) -> np.ndarray:
        differences = merits[:, np.newaxis, :] - merits[np.newaxis, :, :]
        small = np.abs(differences) <= pairs.tolerance
        signs: np.ndarray = np.where(small, 0.0, np.sign(differences))
        return signs

    broken = order(short.merits) != order(pairs.merits[np.ix_(longer, longer)])
    return pairs.cases(
        broken,
        lambda one, two, third: CounterExample(
            "which of two rankings is more like a third changes when a document is added below",
            short.shown((one, third), (two, third))
            + pairs.shown(
                (int(longer[one]), int(longer[third])), (int(longer[two]), int(longer[third]))
            ),
        ),
    )


def in_range(pairs: Pairs) -> Cases:
    """Every value is within the declared range."""
    low, high = pairs.similarity.range
    broken = ~((pairs.values >= low - pairs.tolerance) & (pairs.values <= high + pairs.tolerance))
    return pairs.cases(
        broken,
        lambda one, two: CounterExample(
            f"a value is not from {low:g} to {high:g}", pairs.shown((one, two))
        ),
    )


PAIR_LAWS = (identity, symmetric, normalised, sensitive, robust_1, robust_2, stable)
"""What is declared of a similarity, in the order of the manual."""


def check_similarity(similarity: Similarity) -> tuple[LawResult, ...]:
    """Try every law on all pairs of rankings of five documents."""
    pairs = Pairs(similarity)
    laws: tuple[Callable[[Pairs], Cases], ...] = (in_range, *PAIR_LAWS)
    found = []
    for law in laws:
        cases = law(pairs)
        declared = True if law is in_range else similarity.laws.get(law.__name__)
        found.append(
            LawResult(
                law.__name__,
                (law.__doc__ or "").partition("\n")[0],
                declared,  # type: ignore[arg-type]
                cases.holds,
                cases.counter_example(),
            )
        )
    return tuple(found)


def _swapped(pairs: Pairs, place: int) -> np.ndarray:
    """Return the place of each ranking with a swap at a rank (from 0)."""

    def swap(ranking: Ranking) -> Ranking:
        upper, lower = ranking[place : place + 2]
        return (*ranking[:place], lower, upper, *ranking[place + 2 :])

    return pairs.mapped(swap)


def _changes(pairs: Pairs) -> FloatArray:
    """Return by how much a swap in the first ranking changes the value, ``[n-1, R, R]``."""
    return np.stack(
        [np.abs(pairs.values[_swapped(pairs, at)] - pairs.values) for at in range(pairs.n - 1)]
    )


def _renaming(one: str, other: str) -> Callable[[Ranking], Ranking]:
    """Return the exchange of two documents."""
    names = {one: other, other: one}
    return lambda ranking: tuple(names.get(doc, doc) for doc in ranking)
