"""Ids that never meet: a run whose documents are not those that the golden set judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.document_ids import (
    DocIdMap,
    IdSample,
    differences,
    joining_rule,
    last_mark,
    queries_that_meet,
)
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.evaluation.run_golden_join import Joined
from pytest_rankcheck.golden.judged_queries import JudgedQueries

__all__ = ["UnmetIds", "unmet_ids"]

_REFUSED_FROM = 5
"""From this many queries with a relevant judgment on, ids that never meet fail assertions. Fewer
queries are reported only if a rule makes the ids meet."""
_FEW_SHARE, _FEW_FROM = 0.01, 50
"""Below this share of at least so many queries, ids that meet are suspicious."""
_SAMPLED_QUERIES, _SAMPLED_IDS = 50, 100
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class UnmetIds:
    """How few of the queries rank a judged document, and the ids of both sides."""

    run_name: str
    golden_name: str
    queries: int
    """The number of queries with a relevant judgment."""
    meeting: int
    """How many of them rank a judged document."""
    judged: Sequence[str]
    ranked: Sequence[str]
    rule: Sequence[str]
    """The named rules that would make the ids meet; empty if no rule was found."""
    mark: str
    """The mark that ends the judged id in the ranked ids, if no rule fits; empty without one."""
    why_known: str
    """How the golden set knows ranked documents, although it does not judge them for their queries:
    then the ids are right and the ranker may be bad. Empty if it does not know them."""

    @property
    def is_error(self) -> bool:
        """Whether assertions and updates must fail."""
        return self.meeting == 0 and self.queries >= _REFUSED_FROM and not self.why_known

    @property
    def lines(self) -> Sequence[str]:
        """What is wrong, three ids of each side, and what to do."""
        queries = "only query" if self.queries == 1 else f"{self.queries:,} queries"
        few = f"no ranked document is judged in {'any of ' * (self.queries > 1)}the"
        if self.meeting:
            verb = "ranks" if self.meeting == 1 else "rank"
            few = f"only {self.meeting:,} {verb} a judged document, of the"
        return (
            (
                f"run '{quoted(self.run_name)}' on golden set '{quoted(self.golden_name)}': {few} "
                f"{queries} with a relevant judgment"
            ),
            f"judged: {listed(self.judged)}",
            f"ranked: {listed(self.ranked) or 'nothing'}",
            self._advice,
        )

    @property
    def _advice(self) -> str:
        if self.why_known:
            return self.why_known
        if self.rule:
            names = ", ".join(f'"{quoted(rule)}"' for rule in self.rule)
            value = names if len(self.rule) == 1 else f"[{names}]"
            return (
                f"The ids differ only in {differences(self.rule)}. To match them, set "
                f"rankcheck_doc_id = [{names}] (after any rules that it has), or give "
                f"doc_id={value} to both the golden set and the run"
            )
        if self.mark:
            return (
                f"The ranked ids are judged ids with one more part after a '{quoted(self.mark)}'. "
                "If they are parts of the judged documents, map the ids of the run alone: "
                f"doc_id=lambda doc_id: doc_id.rpartition({quoted(repr(self.mark))})[0]"
            )
        return (
            "if both mean the same documents, map the ids with doc_id= or rankcheck_doc_id; if "
            "not, this run or golden set is the wrong one"
        )


def unmet_ids(
    run_name: str,
    golden: JudgedQueries,
    joined: Joined,
    ranking: Callable[[str], Sequence[str]],
    *,
    is_ranked_here: bool,
) -> UnmetIds | None:
    """Return what is wrong if judged documents are never or hardly ever ranked, otherwise None.

    Args:
        run_name: what messages call the run.
        golden: the judged queries.
        joined: the judged documents that were ranked.
        ranking: returns the known top of the ranking of a query.
        is_ranked_here: whether a ranker in this process made the run.
    """
    has_relevant, has_hits = golden.columns.has_relevant, joined.has_hits
    relevant = _ids(golden, has_relevant)
    meeting = int(np.count_nonzero(has_relevant & has_hits))
    if not relevant or (
        meeting and (len(relevant) < _FEW_FROM or meeting >= _FEW_SHARE * len(relevant))
    ):
        return None
    samples = [
        (_best(golden.grades(query_id)), ranking(query_id)[:_SAMPLED_IDS])
        for query_id in _ids(golden, has_relevant & ~has_hits & (joined.retrieved > 0))
    ][:_SAMPLED_QUERIES]
    rule = joining_rule(samples)
    met = _met(rule, samples)
    mark = last_mark(samples, more_than=met)
    rule = () if mark else rule
    if len(relevant) < _REFUSED_FROM and not rule and not mark:
        return None  # a ranker may miss the judged documents of a few queries
    judged, ranked = _shown(samples, rule)
    if not judged:
        judged = _best(golden.grades(relevant[0]))[:_SHOWN]
    return UnmetIds(
        run_name,
        golden.name,
        len(relevant),
        meeting,
        judged,
        ranked,
        rule,
        mark,
        # A rule that joins most queries cannot be chance.
        "" if 2 * met > len(samples) else _why_known(golden, joined, ranking, is_ranked_here),
    )


def _ids(golden: JudgedQueries, chosen: BoolArray) -> Sequence[str]:
    return [golden.query_ids[code] for code in np.flatnonzero(chosen).tolist()]


def _met(rule: Sequence[str], samples: Sequence[IdSample]) -> int:
    """Return in how many queries documents meet by a rule."""
    if not rule:
        return 0
    to_id = DocIdMap(rule)
    return queries_that_meet([({*map(to_id, a)}, {*map(to_id, b)}) for a, b in samples])


def _why_known(
    golden: JudgedQueries,
    joined: Joined,
    ranking: Callable[[str], Sequence[str]],
    is_ranked_here: bool,
) -> str:
    """Return how the golden set knows ranked documents that it does not judge; empty if not."""
    ranked = {
        query_id: set(ranking(query_id)[:_SAMPLED_IDS])
        for query_id in _ids(golden, joined.is_ranked)
    }
    for expectation in golden.expectations:
        documents = (*expectation.documents, *expectation.others)
        if not ranked.get(expectation.query, set()).isdisjoint(documents):
            return (
                "The golden set has expectations on the ranked documents, so their ids are right. "
                "Are the judged documents in the index?"
            )
    if golden.has_candidates and any(
        not doc_ids.isdisjoint(golden.candidates_of(query_id))
        for query_id, doc_ids in ranked.items()
    ):
        return (
            "The ranked documents are candidates in the golden set, so their ids are right, but "
            "no judged document is in the ranking: raise the depth, or improve the ranker"
        )
    judged = set(chain.from_iterable(golden.grades(query_id) for query_id in golden.query_ids))
    if any(not judged.isdisjoint(doc_ids) for doc_ids in ranked.values()):
        question = (
            "Does the ranker return the results of another query?"
            if is_ranked_here
            else "Do the run and the golden set use the same query ids?"
        )
        return f"Ranked documents are judged for other queries. {question}"
    return ""


def _best(grades: Mapping[str, float]) -> Sequence[str]:
    """Return judged documents of a query, the best grades first."""
    return sorted(grades, key=lambda doc_id: -grades[doc_id])[:_SAMPLED_IDS]


def _shown(
    samples: Sequence[tuple[Sequence[str], Sequence[str]]], rule: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return a few ids of each side: those that the rule makes equal, side by side, come first."""
    pairs: list[tuple[str, str]] = []
    if rule:
        to_id = DocIdMap(rule)
        for judged, ranked in samples:
            spelled = {to_id(doc_id): doc_id for doc_id in reversed(ranked)}
            pairs += [(doc, spelled[to_id(doc)]) for doc in judged if to_id(doc) in spelled][:1]
    rest_judged = chain.from_iterable(zip_longest(*(judged[:_SHOWN] for judged, _ in samples)))
    rest_ranked = chain.from_iterable(zip_longest(*(ranked[:_SHOWN] for _, ranked in samples)))
    return (
        _first([judged for judged, _ in pairs], rest_judged),
        _first([ranked for _, ranked in pairs], rest_ranked),
    )


def _first(shown: Sequence[str], others: Iterable[str | None]) -> Sequence[str]:
    return [doc_id for doc_id in dict.fromkeys([*shown, *others]) if doc_id is not None][:_SHOWN]
