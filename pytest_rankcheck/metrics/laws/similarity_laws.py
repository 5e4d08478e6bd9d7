"""Laws of a similarity of two rankings, tried on all pairs of rankings of five documents.

These are the properties of Balestra, Mayr and Müller, Ranking evaluation metrics from a
group-theoretic perspective, 2024 (arXiv:2408.16009), for s(r, t) of two rankings r and t of the
same documents; the bounds are ours and are stated with each law. Empty rankings and rankings that
share only some documents are not covered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.laws.law_report import LawResult
from pytest_rankcheck.metrics.laws.law_trials import (
    PRECISION,
    CounterExample,
    LawTrials,
    ScoredRanking,
)
from pytest_rankcheck.metrics.similarity.similarity_registry import Similarity

__all__ = ["PAIR_LAWS", "RankingPairs", "check_similarity", "pair_in_range"]

Documents = tuple[str, ...]


@dataclass(frozen=True)
class RankingPairs:
    """A similarity, and its value for every pair of rankings of n documents."""

    similarity: Similarity
    n: int = 5

    @cached_property
    def rankings(self) -> Sequence[Documents]:
        """All rankings of the documents a, b, c, ..."""
        return tuple(permutations("abcdefgh"[: self.n]))

    @cached_property
    def places(self) -> dict[Documents, int]:
        """The index of each ranking in `rankings`."""
        return {ranking: place for place, ranking in enumerate(self.rankings)}

    @cached_property
    def values(self) -> FloatArray:
        """``[R, R]`` the value of each pair."""
        compute = self.similarity.compute
        return np.array([[compute(r, t) for t in self.rankings] for r in self.rankings])

    @property
    def merits(self) -> FloatArray:
        """The values, negated if lower means more similar."""
        return self.values if self.similarity.higher_is_better else -self.values

    @cached_property
    def tolerance(self) -> float:
        """The largest difference at which two values count as equal."""
        return PRECISION * float(np.abs(self.values).max())

    def mapped(self, change: Callable[[Documents], Documents]) -> np.ndarray:
        """Return the index of each ranking after ``change``."""
        return np.array([self.places[change(ranking)] for ranking in self.rankings])

    def scored(self, *pairs: tuple[int, int]) -> tuple[ScoredRanking, ...]:
        """Return pairs of rankings as text, with their values."""
        return tuple(
            ScoredRanking(
                f"{''.join(self.rankings[first])} and {''.join(self.rankings[second])}",
                float(self.values[first, second]),
            )
            for first, second in pairs
        )

    def trials(self, broken: np.ndarray, describe: Callable[..., CounterExample]) -> LawTrials:
        """Return the trials of a law, one for each element of ``broken``."""
        flat = broken.ravel()
        return LawTrials(
            flat,
            np.ones_like(flat),
            lambda trial: describe(*map(int, np.unravel_index(trial, broken.shape))),
        )


def pair_symmetric(pairs: RankingPairs) -> LawTrials:
    """Symmetry: the order of the two rankings does not matter: s(r, t) = s(t, r)."""
    broken = np.abs(pairs.values - pairs.values.T) > pairs.tolerance
    return pairs.trials(
        broken,
        lambda first, second: CounterExample(
            "the two rankings have a different value in the other order",
            pairs.scored((first, second), (second, first)),
        ),
    )


def pair_identity(pairs: RankingPairs) -> LawTrials:
    """Identity of indiscernibles: s(r, t) is the best value if and only if r = t."""
    is_best = pairs.merits >= pairs.merits.max() - pairs.tolerance
    same = np.eye(len(pairs.rankings), dtype=bool)
    return pairs.trials(
        is_best != same,
        lambda first, second: CounterExample(
            "two different rankings are as similar as a ranking and itself",
            pairs.scored((first, first), (first, second)),
        ),
    )


def pair_normalised(pairs: RankingPairs) -> LawTrials:
    """A ranking and itself have the best value of the range."""
    low, high = pairs.similarity.range
    end = high if pairs.similarity.higher_is_better else -low
    broken = np.abs(np.diagonal(pairs.merits) - end) > pairs.tolerance
    return pairs.trials(
        broken,
        lambda first: CounterExample(
            f"a ranking and itself do not have the value {abs(end):g}", pairs.scored((first, first))
        ),
    )


def pair_sensitive(pairs: RankingPairs) -> LawTrials:
    """Sensitivity: swaps near the top change the value most.

    Let w_i be the largest |s(r', t) - s(r, t)|, over all r and t, where r' is r with a swap at rank
    i: w_1 >= w_2 >= ..., and w_1 is greater than the last of them.
    """
    weights = _pair_swap_changes(pairs).max(axis=(1, 2))
    falls = bool((np.diff(weights) <= pairs.tolerance).all())
    top = bool(weights[0] > weights[-1] + pairs.tolerance)
    listed = ", ".join(f"{weight:.3g}" for weight in weights)
    why = f"the largest change by a swap at rank 1, 2, ... is {listed}"
    return pairs.trials(np.array([not (falls and top)]), lambda _: CounterExample(why))


def pair_robust_1(pairs: RankingPairs) -> LawTrials:
    """Robustness of type I: one swap in one ranking changes the value by less than half.

    For all r and t: |s(r', t) - s(r, t)| is less than half of the difference between the best and
    the worst value of any two rankings, where r' is r with a swap at any rank.
    """
    changes = _pair_swap_changes(pairs)
    span = pairs.merits.max() - pairs.merits.min()
    broken = (changes > pairs.tolerance) & (changes >= span / 2 - pairs.tolerance)
    return pairs.trials(
        broken,
        lambda place, first, second: CounterExample(
            f"the swap at rank {place + 1} of the first changes the value by half or more",
            pairs.scored((first, second), (int(_after_swap(pairs, place)[first]), second)),
        ),
    )


def pair_robust_2(pairs: RankingPairs) -> LawTrials:
    """Robustness of type II: the same swap in both rankings does not change the value.

    For all r and t and any two documents x and y: s(r', t') = s(r, t), where x and y are swapped
    in both. This is invariance under renaming, which group theory calls right-invariance
    (Diaconis, Group representations in probability and statistics, 1988, chapter 6).
    """
    names = "abcdefgh"[: pairs.n]
    swaps = list(combinations(names, 2))
    maps = [pairs.mapped(_exchange(*swap)) for swap in swaps]
    moved = np.stack([pairs.values[np.ix_(rows, rows)] for rows in maps])
    return pairs.trials(
        np.abs(moved - pairs.values) > pairs.tolerance,
        lambda swap, first, second: CounterExample(
            f"{swaps[swap][0]} and {swaps[swap][1]} are swapped in both rankings",
            pairs.scored((first, second), (int(maps[swap][first]), int(maps[swap][second]))),
        ),
    )


def pair_stable(pairs: RankingPairs) -> LawTrials:
    """Stability: adding a document below all rankings does not change which are more similar.

    For all rankings r, u and t of n-1 documents and a new document x: s(rx, tx) and s(ux, tx)
    compare (better, equal or worse) as s(r, t) and s(u, t) do.
    """
    short = RankingPairs(pairs.similarity, pairs.n - 1)
    longer = np.array(
        [pairs.places[(*ranking, "abcdefgh"[pairs.n - 1])] for ranking in short.rankings]
    )

    def order(merits: FloatArray) -> np.ndarray:
        differences = merits[:, np.newaxis, :] - merits[np.newaxis, :, :]
        small = np.abs(differences) <= pairs.tolerance
        signs: np.ndarray = np.where(small, 0.0, np.sign(differences))
        return signs

    broken = order(short.merits) != order(pairs.merits[np.ix_(longer, longer)])
    return pairs.trials(
        broken,
        lambda first, second, third: CounterExample(
            "adding a document below changes which of two rankings is more similar to a third",
            short.scored((first, third), (second, third))
            + pairs.scored(
                (int(longer[first]), int(longer[third])),
                (int(longer[second]), int(longer[third])),
            ),
        ),
    )


def pair_in_range(pairs: RankingPairs) -> LawTrials:
    """Every value is within the declared range."""
    low, high = pairs.similarity.range
    broken = ~((pairs.values >= low - pairs.tolerance) & (pairs.values <= high + pairs.tolerance))
    return pairs.trials(
        broken,
        lambda first, second: CounterExample(
            f"a value is outside the range {low:g} to {high:g}", pairs.scored((first, second))
        ),
    )


PairLaw = Callable[[RankingPairs], LawTrials]

PAIR_LAWS: Mapping[str, PairLaw] = {
    "identity": pair_identity,
    "symmetric": pair_symmetric,
    "normalised": pair_normalised,
    "sensitive": pair_sensitive,
    "robust_1": pair_robust_1,
    "robust_2": pair_robust_2,
    "stable": pair_stable,
}
"""The laws that a similarity declares, by name, in the order of the manual."""


def check_similarity(similarity: Similarity) -> tuple[LawResult, ...]:
    """Try every law on all pairs of rankings of five documents."""
    pairs = RankingPairs(similarity)
    results = []
    for name, law in {"in_range": pair_in_range, **PAIR_LAWS}.items():
        trials = law(pairs)
        declared = True if name == "in_range" else similarity.laws.get(name)
        results.append(
            LawResult(
                name,
                (law.__doc__ or "").partition("\n")[0],
                declared,  # type: ignore[arg-type]
                trials.holds,
                trials.counter_example(),
            )
        )
    return tuple(results)


def _after_swap(pairs: RankingPairs, place: int) -> np.ndarray:
    """Return the index of each ranking after a swap at ``place`` (from 0)."""

    def swap(ranking: Documents) -> Documents:
        upper, lower = ranking[place : place + 2]
        return (*ranking[:place], lower, upper, *ranking[place + 2 :])

    return pairs.mapped(swap)


def _pair_swap_changes(pairs: RankingPairs) -> FloatArray:
    """Return how much a swap in the first ranking changes the value, ``[n-1, R, R]``."""
    return np.stack(
        [
            np.abs(pairs.values[_after_swap(pairs, place)] - pairs.values)
            for place in range(pairs.n - 1)
        ]
    )


def _exchange(first: str, second: str) -> Callable[[Documents], Documents]:
    """Return the function that exchanges two documents."""
    names = {first: second, second: first}
    return lambda ranking: tuple(names.get(doc, doc) for doc in ranking)
