"""The harms: a closed list of faults that rankers really have, applied to kept rankings.

A harm never asks the ranker. Random choices come from a generator that the caller seeds with the
data, so the same rankings are always harmed in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np
from numpy.random import Generator

from pytest_rankcheck.proof.kept_rankings import KeptRankings, Rankings

Change = Callable[[str], Sequence[str]]
"""Returns the harmed ranking of a query."""

DRAWS = 12
"""How often a harm is drawn if it is random."""

_TOP = 10
_MISSPELT = re.compile(r"typo|mis-?spel|spelling", re.IGNORECASE)
_NEGATIVE = ("0", "false", "no", "none", "(none)", "correct")
"""Attribute values that mean "no"."""


@dataclass(frozen=True)
class Harm:
    """A fault, and its effect on rankings."""

    name: str
    begin: Callable[[Generator], Change]
    """Draws what all queries share; returns the function that harms the ranking of a query."""
    queries: Sequence[str]
    """The queries that it can harm."""
    count: int | None = None
    """How many of them it harms; None: all."""
    draws: int = DRAWS
    """1 if it is not random."""

    def changed(self, draw: Generator) -> Rankings:
        """Return the harmed rankings of the queries that are harmed."""
        queries, change = self.queries, self.begin(draw)
        if self.count is not None:
            drawn = draw.choice(len(queries), self.count, replace=False)
            queries = [queries[place] for place in sorted(drawn.tolist())]
        return {query: change(query) for query in queries}


def harms(kept: KeptRankings) -> Iterator[Harm]:
    """Yield the harms that rankings can suffer, each name once."""
    found = (*_lost(kept), *_misplaced(kept), *_of_slices(kept))
    yield from {harm.name: harm for harm in found if harm.queries}.values()


def _lost(kept: KeptRankings) -> Iterator[Harm]:
    """Yield faults by which documents are missing."""
    rankings, queries = kept.rankings, kept.queries
    answered = [query for query in queries if kept.reciprocal_rank(query)]
    for share in (0.02, 0.04, 0.05):
        count = min(_count(queries, share), len(answered))
        name = f"{_some(count, queries)} lose all their answers"
        change = _each(lambda query, _: kept.without(kept.relevant[query], query))
        yield Harm(name, change, answered, count)
    count = _count(queries, 0.05)
    yield Harm(f"{_some(count, queries)} find nothing", _each(lambda *_: ()), queries, count)

    def without_shard(shards: int, draw: Generator) -> Change:
        start = int(draw.integers(2**32))
        ids = ((doc, doc.encode("utf-8", "surrogatepass")) for doc in kept.documents)
        hashes = ((doc, crc32(text, start)) for doc, text in ids)
        return partial(kept.without, {doc for doc, code in hashes if code % shards == 0})

    for shards in (8, 32):
        yield Harm(f"one of {shards} shards lost", partial(without_shard, shards), queries)
    if kept.longest > _TOP and not kept.golden.contents.candidates:  # those are all sorted
        change = _each(lambda query, _: rankings[query][:_TOP])
        yield Harm(f"only the top {_TOP} retrieved", change, queries, draws=1)


def _misplaced(kept: KeptRankings) -> Iterator[Harm]:
    """Yield faults by which documents are in the wrong place, or answer the wrong query."""
    rankings, queries = kept.rankings, kept.queries

    def moved(query: str, draw: Generator) -> Sequence[str]:
        docs = rankings[query]
        places = (np.arange(len(docs)) + draw.uniform(0, 4, len(docs))).argsort()
        return [*map(docs.__getitem__, places.tolist())]

    def shuffled(query: str, draw: Generator) -> Sequence[str]:
        docs = rankings[query]
        places = draw.permutation(np.arange(_TOP, max(_TOP, len(docs))))
        return [*docs[:_TOP], *map(docs.__getitem__, places.tolist())]

    def of_another(query: str, draw: Generator) -> Sequence[str]:
        others = [queries[place] for place in draw.choice(len(queries), 2, replace=False)]
        return rankings[others[others[0] == query]]

    change = _each(lambda query, _: [*rankings[query][1::-1], *rankings[query][2:]])
    yield Harm("the first two places swapped", change, queries, draws=1)
    yield Harm("every place moved by up to 3", _each(moved), queries)
    count = _count(queries, 0.2)
    change = _each(lambda query, _: ["a foreign document", *rankings[query]][: kept.longest])
    yield Harm(f"a foreign document first for {_some(count, queries)}", change, queries, count)
    for count in (_count(queries, 0.02), _count(queries, 0.1)):
        if len(queries) > 1:
            name = f"{_some(count, queries)} get the answer of another"
            yield Harm(name, _each(of_another), queries, count)
    if kept.longest > _TOP:
        name = f"results {_TOP + 1} to {kept.longest} in random order"
        yield Harm(name, _each(shuffled), queries)


def _of_slices(kept: KeptRankings) -> Iterator[Harm]:
    """Yield, for each attribute, the slice that suffers most from halved answers; then typos."""

    def halved(query: str, draw: Generator) -> Sequence[str]:
        answers = (doc for doc in kept.rankings[query] if doc in kept.relevant[query])
        return kept.without({doc for doc in answers if draw.random() < 0.5}, query)

    for attribute, slices in kept.slices.items():
        worst = max(slices, key=lambda value: sum(map(kept.reciprocal_rank, slices[value])))
        yield Harm(f"answers of {attribute}={worst} halved", _each(halved), slices[worst])
        for value, queries in slices.items():
            label = f"{attribute}={value}"
            if _MISSPELT.search(label) and value.lower() not in _NEGATIVE:
                name = f"typing errors no longer corrected ({label})"
                yield Harm(name, _each(lambda *_: ()), queries, draws=1)


def _each(change: Callable[[str, Generator], Sequence[str]]) -> Callable[[Generator], Change]:
    """Return a harm that draws nothing that all queries share."""
    return lambda draw: lambda query: change(query, draw)


def _count(queries: Sequence[str], share: float) -> int:
    return max(1, round(share * len(queries)))


def _some(count: int, queries: Sequence[str]) -> str:
    return f"{count:,} of {len(queries):,} queries"
