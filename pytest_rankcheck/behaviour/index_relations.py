"""Relations between the answers of two indexes whose documents differ in a known way."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.behaviour.compared_answers import (
    ComparedAnswer,
    MeasuredAnswers,
    gain_of,
    similarity_of,
    values_by_query,
)
from pytest_rankcheck.behaviour.index_builds import IndexBuilds
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.behaviour.irrelevant_documents import irrelevant_maker
from pytest_rankcheck.behaviour.relation_rules import Relation
from pytest_rankcheck.errors import MetricWarning, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = [
    "IndexAnswer",
    "IndexResult",
    "IndexSetting",
    "index_answers",
]

_IRRELEVANT_SHARE = 0.1
_MOST_IRRELEVANT = 1_000
_EQUAL = 1e-6
"""How far the score of a copy may be from its original's, absolutely or relatively."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexAnswer(ComparedAnswer):
    """The answers of two indexes to a query, reduced to the parts that must be alike."""

    problem: str = ""
    """What else is wrong with the second answer, as text."""

    @property
    def is_wrong(self) -> bool:
        """Whether the second answer is wrong, whatever the limits are."""
        return self.failure is not None or bool(self.problem)


@dataclass(frozen=True)
class IndexResult(MeasuredAnswers[IndexAnswer]):
    """The answers before and after the documents are changed as a relation says."""

    k: int
    documents: int
    builds: int
    calls: int
    unranked: Sequence[str] = ()
    """The queries with an empty ranking, in which there is no document to remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSetting:
    """The documents and queries that a relation is checked on, and how."""

    builds: IndexBuilds
    documents: IndexDocuments
    golden: GoldenSet
    metric: Metric
    k: int
    p: float
    seed: int
    fields: Sequence[str] | None = None
    """The fields of records that hold text; None: all."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A query's answers, reduced to the parts that must be alike."""

    before: Sequence[str]
    after: Sequence[str]
    failure: Exception | None = None
    problem: str = ""


def index_answers(relation: Relation, setting: IndexSetting) -> IndexResult:
    """Return the answers before and after the documents are changed as a relation says.

    Raises:
        ConfigurationError: a ranked document is unknown, the documents have no text to change, or
            an index that was built without a document still ranks it.
        RankerError: no index can be built, or the ranker fails on the unchanged documents.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    builds, golden = setting.builds, setting.golden
    run = builds.first_run(setting.documents, golden)
    if relation != "remove_top":  # which checks build's use of documents for each query
        builds.refuse_unused_documents(setting.documents, golden, run)
    found = dict(_ROWS[relation](setting, run))
    rows = {query_id: found[query_id] for query_id in golden.query_ids if query_id in found}
    trials = _trials(setting, rows)
    return IndexResult(
        builds.ranker,
        relation,
        trials,
        setting.metric,
        setting.p,
        setting.k,
        len(setting.documents.keys),
        builds.count,
        builds.calls,
        tuple(query_id for query_id in golden.query_ids if query_id not in rows),
    )


def _in_another_order(setting: IndexSetting, run: Run) -> Iterator[tuple[str, _Row]]:
    permuted = setting.documents.permuted(setting.seed)
    attempt = setting.builds.attempt(permuted, "the documents in another order", setting.golden)
    return _same_tops(setting, run, attempt)


def _with_irrelevant(setting: IndexSetting, run: Run) -> Iterator[tuple[str, _Row]]:
    size = len(setting.documents.keys)
    count = min(_MOST_IRRELEVANT, max(1, round(_IRRELEVANT_SHARE * size)))
    texts = [query.text for query in setting.golden if query.text]
    make = irrelevant_maker(texts, setting.fields, setting.seed)
    more, _ = setting.documents.with_more(count, make, setting.seed)
    attempt = setting.builds.attempt(more, "documents with irrelevant ones", setting.golden)
    return _same_tops(setting, run, attempt)


def _same_tops(setting: IndexSetting, run: Run, attempt: Attempt) -> Iterator[tuple[str, _Row]]:
    for query_id in run:
        tops = run[query_id][: setting.k], attempt.run.get(query_id)[: setting.k]
        yield query_id, _Row(*tops, attempt.failures.get(query_id))


def _with_copies(setting: IndexSetting, run: Run) -> Iterator[tuple[str, _Row]]:
    tops = dict.fromkeys(run[query_id][0] for query_id in run if run[query_id])
    more, copies = setting.documents.with_copies(list(tops))
    attempt = setting.builds.attempt(more, "documents with copies of some", setting.golden)
    copied = set(copies.values())
    for query_id in run:
        before, answer = run[query_id][: setting.k], attempt.run.get(query_id)
        after = tuple(doc_id for doc_id in answer if doc_id not in copied)[: setting.k]
        failure = attempt.failures.get(query_id)
        problem = (
            "" if failure else _misplaced(attempt.run, query_id, before, copies, 2 * setting.k)
        )
        yield query_id, _Row(before, after, failure, problem)


def _misplaced(
    run: Run, query_id: str, top: Sequence[str], copies: Mapping[str, str], depth: int
) -> str:
    """Describe the first misplaced copy of a top document; empty if no copy is misplaced."""
    places = {doc_id: place for place, doc_id in enumerate(run.get(query_id))}
    scores = run.scores(query_id)
    for doc_id in top:
        if doc_id not in copies or doc_id not in places:
            continue
        copy, place = copies[doc_id], places[doc_id]
        named = f"the copy of {quoted(doc_id, 60)}"
        if copy not in places:
            if scores is not None and len(places) >= depth and scores[place] <= scores[-1]:
                continue  # more equal scores than the depth holds, so some are cut off
            return f"{named} is not ranked, and {quoted(doc_id, 60)} is at {place + 1}"
        if scores is not None:
            pair = scores[place], scores[places[copy]]
            if not math.isclose(*pair, rel_tol=_EQUAL, abs_tol=_EQUAL):
                return f"{named} has the score {pair[1]:.6g}, and its original {pair[0]:.6g}"
        elif abs(places[copy] - place) != 1:
            return f"{named} is at {places[copy] + 1}, and its original at {place + 1}"
    return ""


def _without_top(setting: IndexSetting, run: Run) -> Iterator[tuple[str, _Row]]:
    """Yield, for each top document, the answers of an index without it."""
    tops: dict[str, list[str]] = {}
    for query_id in run:
        if run[query_id]:
            tops.setdefault(run[query_id][0], []).append(query_id)
    for doc_id, query_ids in tops.items():
        what = f"the documents without '{quoted(doc_id, 60)}'"
        others = setting.documents.without(doc_id)
        attempt = setting.builds.attempt(others, what, setting.golden.subset(query_ids))
        for query_id in query_ids:
            answer = attempt.run.get(query_id)
            still = f"{quoted(doc_id, 60)} is still ranked, though build was not given it"
            yield (
                query_id,
                _Row(
                    run[query_id][1 : setting.k + 1],
                    answer[: setting.k],
                    attempt.failures.get(query_id),
                    still if doc_id in answer else "",
                ),
            )


_ROWS = {
    "order": _in_another_order,
    "duplicate": _with_copies,
    "irrelevant": _with_irrelevant,
    "remove_top": _without_top,
}


def _trials(setting: IndexSetting, rows: Mapping[str, _Row]) -> list[IndexAnswer]:
    """Return the answers with their similarity and, where the top k determines it, the metric."""
    metric, golden = setting.metric, setting.golden
    values: list[Mapping[str, float]] = [{}, {}]
    if rows and metric.cutoff is not None and metric.cutoff <= setting.k:
        part = golden.subset(rows)
        for place, side in enumerate(("before", "after")):
            tops = {query_id: list(getattr(row, side)) for query_id, row in rows.items()}
            run = Run.from_dict(tops, duplicates="keep_places", depth=setting.k)
            with warnings.catch_warnings():  # documents below the top k do not count
                warnings.simplefilter("ignore", MetricWarning)
                values[place] = values_by_query(run, part, metric)
    trials = []
    for query_id, row in rows.items():
        before, after = (side.get(query_id, math.nan) for side in values)
        trials.append(
            IndexAnswer(
                query=golden.query(query_id),
                before=tuple(row.before),
                after=tuple(row.after),
                rbo=similarity_of(row.before, row.after, setting.p),
                value_before=before,
                value_after=after,
                gain=gain_of(metric, before, after),
                failure=row.failure,
                problem=row.problem,
            )
        )
    return trials
