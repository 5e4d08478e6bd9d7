"""Lint rules for attributes: grades that differ between slices, and texts in two splits."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.statistics.dominance import Dominance, dominance
from pytest_rankcheck.statistics.multiplicity import holm

__all__ = ["ALPHA", "LEAST_DELTA", "Shift", "clear_shifts"]

ALPHA = 0.01
"""The chance that any pair of slices, or of judges, is reported although the grades are alike."""
LEAST_DELTA = 0.3
"""A smaller Cliff's delta is not reported, because slices always differ a little."""
_LEAST_SLICE = 5
"""A smaller slice is not compared."""
_MOST_SLICES = 20
"""An attribute with more values is a measurement or a note, not a slice."""
_SPLITS = ("split", "splits", "fold", "partition", "subset", "data_split", "dataset_split")
"""The names of attributes that tell the split of a query."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Two groups of judgments; the group with the higher grades comes first."""

    names: tuple[str, str]
    means: tuple[float, float]
    found: Dominance

    def __str__(self) -> str:
        (high, low), (above, below) = self.names, self.means
        return (
            f"{high} has a mean grade of {above:.2f}, {low} of {below:.2f} (Cliff's delta "
            f"{abs(self.found.delta):.2f})"
        )


def clear_shifts(
    pairs: Sequence[tuple[tuple[str, str], tuple[FloatArray, FloatArray], Dominance]],
) -> Sequence[Shift]:
    """Return the pairs that differ clearly, the largest difference first.

    All pairs are one family (Holm). Small differences do not count, however certain they are.
    """
    shifts = []
    adjusted = holm([found.p for _, _, found in pairs])
    for p, (names, (first, second), found) in zip(adjusted, pairs, strict=True):
        if p <= ALPHA and abs(found.delta) >= LEAST_DELTA:
            means = float(first.mean()), float(second.mean())
            shift = Shift(names, means, found)
            shifts.append(shift if found.delta > 0 else Shift(names[::-1], means[::-1], found))
    return sorted(shifts, key=lambda shift: -abs(shift.found.delta))


@rule("warning")
def slice_shift(linted: Linted) -> RuleResult | None:
    """Slices whose grades differ clearly, as if they were judged by different standards."""
    means = _mean_grades(linted)
    pairs = [
        ((f"{quoted(attribute)}={quoted(one)}", f"{quoted(attribute)}={quoted(other)}"), values,
         dominance(*values))
        for attribute, slices in _slices(linted)
        for (one, first), (other, second) in combinations(slices.items(), 2)
        if (values := _apart(first, second, means)) is not None
    ]  # fmt: skip
    shifts = clear_shifts(pairs)
    if not shifts:
        return None
    return RuleResult(
        query_ids=(),
        what=f"{plural(len(shifts), 'pair')} of slices with clearly different grades: {shifts[0]}",
        why="If the slices were judged by different people or guidelines, their metrics cannot be "
        "compared, and a mean over both depends on their mix",
        remedy="let one person judge a few queries of both slices; if the difference is real, gate "
        "each slice by itself, with by=",
    )


def _mean_grades(linted: Linted) -> Mapping[str, float]:
    """Return the mean grade of each query that has judgments."""
    judgments = linted.contents.judgments
    counts = np.diff(judgments.starts)
    with np.errstate(all="ignore"):  # no judgments, or grades near 1e308
        sums = np.add.reduceat(np.append(judgments.grades, 0.0), judgments.starts[:-1])
        means = (sums / counts).tolist()
    pairs = zip(judgments.query_ids, means, counts.tolist(), strict=True)
    return {query_id: mean for query_id, mean, count in pairs if count}


def _slices(linted: Linted) -> Iterator[tuple[str, Mapping[str, Sequence[str]]]]:
    """Yield the attributes whose slices are compared, and their slices."""
    contents = linted.contents
    for attribute, slices in linted.slices.items():
        is_unit = attribute in (contents.weight_by, contents.cluster_by)
        if not is_unit and 1 < len(slices) <= _MOST_SLICES:
            yield attribute, slices


def _apart(
    first: Sequence[str], second: Sequence[str], means: Mapping[str, float]
) -> tuple[FloatArray, FloatArray] | None:
    """Return the mean grades of the queries in one slice and in the other, except those in both.

    None if one has too few queries left.
    """
    both = set(first).intersection(second)
    one, other = (
        np.array([means[each] for each in query_ids if each in means and each not in both])
        for query_ids in (first, second)
    )
    return None if min(len(one), len(other)) < _LEAST_SLICE else (one, other)


@rule("warning")
def split_leakage(linted: Linted) -> RuleResult | None:
    """One text in two splits, such as train and test."""
    attribute = _split_attribute(linted.queries.values())
    if attribute is None:
        return None
    groups: dict[str, dict[str, str]] = {}
    for query in linted.queries.values():
        value = query.attributes.get(attribute)
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if query.text and item is not None:
                groups.setdefault(_plain(query.text), {}).setdefault(label_of(item), query.id)
    leaks = [members for members in groups.values() if len(members) > 1]
    if not leaks:
        return None
    query_ids = tuple(dict.fromkeys(query_id for members in leaks for query_id in members.values()))
    first = leaks[0]
    text = quoted(linted.queries[next(iter(first.values()))].text, 60)
    where = " and ".join(f"{quoted(name)} ({quoted(each)})" for name, each in first.items())
    return RuleResult(
        query_ids=query_ids,
        what=f"{plural(len(leaks), 'text is', 'texts are')} in more than one value of "
        f"'{quoted(attribute)}': \"{text}\" in {where}",
        why="A model that was trained on the text has seen the answer, so its value for it says "
        "nothing about new queries",
        remedy="keep each text in one split; remove it from the one that is gated",
    )


def _split_attribute(queries: Iterable[Query]) -> str | None:
    """Return the attribute that tells the split of each query."""
    names = dict.fromkeys(name for query in queries for name in query.attributes)
    return next((name for name in names if str(name).lower().replace("-", "_") in _SPLITS), None)


def _plain(text: str) -> str:
    """Return a text normalised in case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
