"""How often the cause of a fall is named: ``python benchmarks/named_causes.py [--draws 20]``.

Two rankers of real_pairs.py, swapped at random in each query, are an innocent change. On top of
it, in a fifth, a half or all of the queries, a cause is planted: of every kind, and of several
sizes. It counts if the queries that it broke have half of the fall. The queries have three
attributes, drawn at random; rankings have 10, 20 or 50 documents, and the record of those before
keeps ten.

Printed are the shares of plants that are named first, what is named for swaps without a plant, and
what is named for the changes as they are. ``--write`` puts the table into ``docs/messages.md``.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import cranfield_bm25
import lambdarank_folds
import numpy as np
from manual_parts import DOCS, write_part
from rates import head, row
from real_pairs import DATA, cranfield_changes, lambdarank_changes

from pytest_rankcheck import (
    Cause,
    CauseKind,
    Comparison,
    GoldenSet,
    Metric,
    Record,
    Run,
    compare,
    evaluate,
)

METRIC = Metric.parse("nDCG@10")
SIZES = {"60": 60, "150": 150, "225": None}
"""How many queries of a collection are drawn; None: all, which are 251 of LambdaRank."""
CHANGED = (0.2, 0.5, 1.0)
DEPTHS = (10, 20, 50)
ATTRIBUTES = {
    "locale": {"en": 0.55, "de": 0.2, "fr": 0.15, "ja": 0.1},
    "device": {"phone": 0.6, "desktop": 0.4},
    "intent": dict.fromkeys("abcdefgh", 0.125),
}
SHARES = {
    CauseKind.IDS: (0.05, 0.1, 0.3),
    CauseKind.GONE: (0.05, 0.1, 0.3),
    CauseKind.MISSING: (0.05, 0.1, 0.3),
    CauseKind.NO_ANSWER: (0.05, 0.1, 0.3),
    CauseKind.REVERSED: (1.0,),
    CauseKind.SLICE: (0.5, 0.75, 1.0),
    CauseKind.WORDS: (0.5, 0.75, 1.0),
    CauseKind.NEWCOMER: (0.1, 0.2, 0.4, 1.0),
}
"""How large each kind of cause is: the share of the documents that it concerns, of those of a slice
or with a word, or of all queries."""
OF_DOCUMENTS = {CauseKind.IDS, CauseKind.GONE, CauseKind.MISSING}
NEEDS_CRANFIELD = {CauseKind.WORDS, CauseKind.MISSING}
"""The queries of LambdaRank have no texts, and share no documents."""

Rankings = dict[str, list[str]]


@dataclass(frozen=True)
class Pair:
    """What two rankers answer that somebody might swap."""

    name: str
    golden: GoldenSet
    before: Rankings
    after: Rankings


@dataclass(frozen=True)
class Plant:
    """A change with a cause that was planted."""

    kind: CauseKind
    pair: Pair
    names: tuple[str, ...] = ()
    """The attribute and its value, the word or the document; empty for facts."""

    def is_named_by(self, cause: Cause) -> bool:
        """Whether a cause is the one that was planted."""
        return cause.kind == self.kind and (not self.names or cause.names == self.names)


# --- innocent changes ------------------------------------------------------------------------


@cache
def real_pairs() -> Sequence[Pair]:
    """Return the changes of both collections as they are."""
    cranfield, lambdarank = DATA / "cranfield", DATA / "lightgbm-lambdarank"
    texts = enumerate(cranfield_bm25.queries(cranfield), 1)
    return [
        *_pairs(
            cranfield_bm25.golden_set(cranfield),
            cranfield_changes(cranfield),
            {str(number): text for number, text in texts},
        ),
        *_pairs(lambdarank_folds.golden_set(lambdarank), lambdarank_changes(lambdarank), {}),
    ]


def _pairs(golden: GoldenSet, changes: Mapping[str, Any], texts: dict[str, str]) -> Iterator[Pair]:
    """Yield pairs; documents that are numbered within a query are named by it too."""

    def name(query_id: str, doc_id: str) -> str:
        return doc_id if texts else f"{query_id}/{doc_id}"

    random = np.random.default_rng(1)
    attributes = {
        each: {of: str(random.choice([*its], p=[*its.values()])) for of, its in ATTRIBUTES.items()}
        for each in golden.query_ids
    }
    grades = {
        each: {name(each, doc): grade for doc, grade in golden.grades(each).items()}
        for each in golden.query_ids
    }
    own = GoldenSet.from_dict(grades, texts, attributes=attributes)
    for change, rankings in changes.items():
        sides = [
            {each: [name(each, doc) for doc in run.get(each)] for each in own.query_ids}
            for run in (ranking() for ranking in rankings)
        ]
        yield Pair(change, own, *sides)


def swapped(pair: Pair, random: np.random.Generator, size: int | None, changed: float) -> Pair:
    """Return some queries of a pair, with the two rankers swapped in half of them.

    Args:
        pair: the pair.
        random: what is drawn from.
        size: how many queries; None: all.
        changed: in which share of the queries the rankers differ.
    """
    ids = pair.golden.query_ids
    chosen = [ids[place] for place in random.permutation(len(ids))[:size]]
    before, after = {}, {}
    for each in chosen:
        sides = pair.before[each], pair.after[each]
        before[each], after[each] = sides if random.random() < 0.5 else sides[::-1]
        if random.random() >= changed:
            after[each] = before[each]
    return Pair(pair.name, pair.golden.subset(chosen), before, after)


# --- planted causes --------------------------------------------------------------------------


def cut(pair: Pair, depth: int) -> Pair:
    """Return a pair whose rankers return so many documents."""
    before, after = (
        {each: ranking[:depth] for each, ranking in side.items()}
        for side in (pair.before, pair.after)
    )
    return replace(pair, before=before, after=after)


def planted(pair: Pair, kind: CauseKind, share: float, random: np.random.Generator) -> Plant:
    """Return a pair with a cause of a kind and a size."""
    depth = int(random.choice(DEPTHS))
    if kind in OF_DOCUMENTS:  # others take the places of those that are gone
        return Plant(kind, cut(_with_other_documents(pair, kind, share, random), depth))
    pair = cut(pair, depth)
    names, among = _part(pair.golden, kind, random)
    hit = [each for each in pair.after if each in among and random.random() < share]
    length = int(random.choice([0, 3]))
    after = dict(pair.after)
    for each in hit:
        if kind is CauseKind.NEWCOMER:
            after[each] = [*names, *after[each]]
        elif kind is CauseKind.NO_ANSWER:
            after[each] = after[each][:length]
        elif kind is CauseKind.REVERSED:
            after[each] = after[each][::-1]
        else:
            after[each] = _broken(each, pair, random)
    return Plant(kind, replace(pair, after=after), names)


def _part(
    golden: GoldenSet, kind: CauseKind, random: np.random.Generator
) -> tuple[tuple[str, ...], Collection[str]]:
    """Return the names of a cause, and the queries among which it breaks some."""
    if kind is CauseKind.SLICE:
        attribute = str(random.choice([*ATTRIBUTES]))
        slices = golden.slices(attribute)
        value = str(random.choice([*slices]))
        return (attribute, value), set(slices[value])
    if kind is CauseKind.WORDS:
        words = _words(golden)
        word = str(random.choice(sorted(words)))
        return (word,), words[word]
    return (("new",) if kind is CauseKind.NEWCOMER else ()), golden.query_ids


def _words(golden: GoldenSet) -> Mapping[str, set[str]]:
    """Return the queries with each word that at least 8, and at most a third, of them have."""
    having: dict[str, set[str]] = {}
    for query in golden:
        for word in re.findall(r"\w+", (query.text or "").casefold()):
            having.setdefault(word, set()).add(query.id)
    return {word: its for word, its in having.items() if 8 <= len(its) <= len(golden) / 3}


def _broken(query_id: str, pair: Pair, random: np.random.Generator) -> list[str]:
    """Return what a broken ranker answers: another query's ranking, or the relevant ones last."""
    if random.random() < 0.5:
        return pair.after[str(random.choice(pair.golden.query_ids))]
    grades = pair.golden.grades(query_id)
    return sorted(pair.after[query_id], key=lambda doc: grades.get(doc, 0) > 0)


def _with_other_documents(
    pair: Pair, kind: CauseKind, share: float, random: np.random.Generator
) -> Pair:
    """Return a pair in which some documents are no longer ranked, or under another id."""
    golden = pair.golden
    ranked = {doc for side in (pair.before, pair.after) for its in side.values() for doc in its}
    some = {doc for doc in sorted(ranked) if random.random() < share}
    if kind is CauseKind.IDS:
        after = {
            each: [f"{doc}#0" if doc in some else doc for doc in its]
            for each, its in pair.after.items()
        }
        return replace(pair, after=after)
    if kind is CauseKind.GONE:
        judged = {each: dict(golden.grades(each)) for each in golden.query_ids}
        known = ranked.union(*judged.values()) - some
        golden = GoldenSet.from_dict(
            judged,
            {query.id: query.text for query in golden if query.text},
            attributes={query.id: query.attributes for query in golden},
            documents={doc: {} for doc in known},
        )
    after = {each: [doc for doc in its if doc not in some] for each, its in pair.after.items()}
    return replace(pair, golden=golden, after=after)


# --- what is named ---------------------------------------------------------------------------


def compared(pair: Pair, after: Rankings | None = None) -> Comparison:
    """Return the rankings now, or others, against a record of those before."""
    now, before = (
        evaluate(Run.from_dict(dict(rankings)), pair.golden)
        for rankings in (pair.after if after is None else after, pair.before)
    )
    return compare(now, Record.of(before, [METRIC]))


def has_half(pair: Pair, plant: Plant, comparison: Comparison) -> bool:
    """Whether the queries that a plant broke have half of the fall."""
    values = comparison.values(METRIC)
    is_broken = values.after < compared(plant.pair, pair.after).values(METRIC).after
    losses = np.maximum(0, values.before - values.after)
    return bool(losses.any()) and bool(losses[is_broken].sum() >= losses.sum() / 2)


@dataclass
class Counts:
    """What was counted for a size."""

    first: dict[CauseKind, list[bool]]
    """By kind, whether each plant with half of the fall was named first."""
    swaps: list[bool]
    """Whether anything was named for a swap without a plant."""


def counted(size: int | None, draws: int) -> Counts:
    """Count for a size, with so many draws of each pair."""
    counts = Counts(defaultdict(list), [])
    for number, pair in enumerate(real_pairs()):
        random = np.random.default_rng([size or 0, number])
        for _ in range(draws):
            innocent = cut(swapped(pair, random, size, 1.0), int(random.choice(DEPTHS)))
            counts.swaps.append(bool(compared(innocent).in_common(METRIC)))
            innocent = swapped(pair, random, size, float(random.choice(CHANGED)))
            has_texts = bool(_words(innocent.golden))
            kinds = [kind for kind in SHARES if has_texts or kind not in NEEDS_CRANFIELD]
            kind = kinds[random.integers(len(kinds))]
            plant = planted(innocent, kind, float(random.choice(SHARES[kind])), random)
            comparison = compared(plant.pair)
            if has_half(innocent, plant, comparison):
                causes = comparison.in_common(METRIC)
                counts.first[kind].append(bool(causes) and plant.is_named_by(causes[0]))
    return counts


def table(draws: int) -> Iterator[str]:
    """Yield the table: for each size, which share of plants is named first."""
    columns = {
        "facts": set(SHARES) - {CauseKind.SLICE, CauseKind.WORDS, CauseKind.NEWCOMER},
        "slice": {CauseKind.SLICE},
        "word": {CauseKind.WORDS},
        "newcomer": {CauseKind.NEWCOMER},
        "all": set(SHARES),
    }
    yield from head("queries", [*columns, "innocent"])
    for name, size in SIZES.items():
        counts = counted(size, draws)
        of_columns = [
            [is_first for kind in kinds for is_first in counts.first[kind]]
            for kinds in columns.values()
        ]
        yield row(name, (f"{np.mean(each):.0%}" for each in (*of_columns, counts.swaps) if each))


def changes() -> Iterator[str]:
    """Yield what is named for each change as it is, in both directions."""
    for pair in real_pairs():
        for one in (pair, Pair(f"{pair.name}, reversed", pair.golden, pair.after, pair.before)):
            comparison = compared(one)
            causes = "; ".join(cause.text for cause in comparison.in_common(METRIC)) or "nothing"
            yield f"- {one.name} ({comparison.values(METRIC).difference:+.4f}): {causes}"


def main() -> None:
    """Print the table and what is named for changes as they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="of each pair and size")
    parser.add_argument("--write", action="store_true", help="put the table into the manual")
    options = parser.parse_args()
    text = "\n".join(table(options.draws))
    print(text, *changes(), sep="\n")
    if options.write:
        write_part(DOCS / "messages.md", "named causes", f"{text}\n")


if __name__ == "__main__":
    main()
