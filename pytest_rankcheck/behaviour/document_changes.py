"""Change one document of an index, and measure how many ranks it rises or falls for a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pytest_rankcheck.behaviour.compared_answers import (
    ComparedAnswer,
    ComparedAnswers,
    similarity_of,
)
from pytest_rankcheck.behaviour.index_builds import IndexBuilds
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.behaviour.record_fields import (
    ids_in,
    is_same,
    text_fields,
    with_text,
)
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.rank import Attempt
from pytest_rankcheck.rankers.run import Run

__all__ = [
    "ChangeDocument",
    "ChangedDocument",
    "DocumentResult",
    "appended_query",
    "changed_document_answers",
]

ChangeDocument = Callable[[Any, Query, str], Any]
"""Takes a copy of a document, in the form that the user gave, a query, and the document's id;
returns a changed version of the document."""

_TARGET = 6
"""The rank of the document to change, chosen so that it can both rise and fall."""
_DEEPEST = 10
"""The lowest rank of a document to change instead, if the change has no effect on that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedDocument(ComparedAnswer):
    """A query, a document before and after its change, and the document's ranks."""

    doc_id: str
    document: Any
    """The document before the change."""
    changed: Any
    """The document after the change."""
    rank_before: int
    rank_after: int | None
    """Its rank after the change; None if it is not ranked."""


@dataclass(frozen=True)
class DocumentResult(ComparedAnswers[ChangedDocument]):
    """The ranks of changed documents, one document for each query."""

    documents: int
    builds: int
    calls: int
    unchanged: Sequence[str]
    """The queries with no ranked document, or whose top documents the change does not affect."""

    @property
    def moved(self) -> int:
        """How many of the documents have a different rank after the change."""
        return sum(
            trial.failure is None and trial.rank_before != trial.rank_after for trial in self.trials
        )

    @property
    def most_up(self) -> int:
        """The most ranks by which a changed document can rise."""
        return max((trial.rank_before - 1 for trial in self.trials), default=0)

    @property
    def most_down(self) -> int:
        """The most ranks by which a changed document can fall: out of the ranking."""
        lasts = (max(len(trial.before), len(trial.after)) + 1 for trial in self.trials)
        falls = (last - trial.rank_before for last, trial in zip(lasts, self.trials, strict=True))
        return max(falls, default=0)

    @property
    def failed(self) -> Sequence[str]:
        """The queries on which the ranker failed after the change."""
        return [trial.query.id for trial in self.trials if trial.failure is not None]


@dataclass(frozen=True, slots=True)
class _Version:
    """A changed version of a document, and the queries whose rankings it is checked in."""

    doc_id: str
    before: Any
    after: Any
    query_ids: list[str]


def changed_document_answers(
    builds: IndexBuilds,
    documents: IndexDocuments,
    golden: GoldenSet,
    change: ChangeDocument,
    name: str,
    *,
    p: float,
    min_queries: int,
) -> DocumentResult:
    """Ask each query before and after one of its top documents is changed.

    Queries with the same changed document share an index.

    Args:
        builds: builds the indexes.
        documents: the unchanged documents.
        golden: the queries.
        change: takes a copy of a document, a query and the document's id, and returns the changed
            document.
        name: the name of the change, for messages.
        p: the patience of RBO.
        min_queries: the fewest queries for which a document must change.

    Raises:
        ConfigurationError: ``change`` fails, returns None or changes the id; or it changes
            documents of fewer than ``min_queries`` queries; or an index that was built without a
            document still ranks it.
        RankerError: no index can be built, or the ranker fails on the unchanged documents.
        RunError: every ranking is empty.
    """
    __tracebackhide__ = True
    run = builds.first_run(documents, golden)
    versions = _versions(run, documents, golden, change, name)
    found = {query_id for version in versions for query_id in version.query_ids}
    if len(found) < min_queries:
        raise ConfigurationError(
            f"change '{quoted(name)}' changes a top document for {len(found):,} of "
            f"{plural(len(golden), 'query', 'queries')} of golden set '{quoted(golden.name)}', "
            f"fewer than {min_queries:,}, which is too few to check; use another change, or lower "
            "min_queries"
        )
    builds.refuse_unused_documents(documents, golden, run)
    trials: list[ChangedDocument] = []
    for version in versions:
        what = f"the documents with another version of '{quoted(version.doc_id, 60)}'"
        changed = documents.changed(version.doc_id, version.after)
        part = golden.subset(version.query_ids)
        attempt = builds.attempt(changed, what, part)
        trials += [_trial(query, version, run[query.id], attempt, p) for query in part]
    places = {query_id: place for place, query_id in enumerate(golden.query_ids)}
    trials.sort(key=lambda trial: places[trial.query.id])
    left = tuple(query_id for query_id in golden.query_ids if query_id not in found)
    size = len(documents.keys)
    return DocumentResult(builds.ranker, name, trials, size, builds.count, builds.calls, left)


def appended_query(
    fields: Sequence[str] | None,
) -> ChangeDocument:
    """Return a change that appends the text of the query to the longest text of a document."""

    def appended(record: Any, query: Query, doc_id: str) -> Any:
        if query.text is None:
            return record
        texts = text_fields(record, fields, doc_id)
        longest = max(texts, key=lambda name: len(texts[name]))
        return with_text(record, {longest: f"{texts[longest]} {query.text}".lstrip()})

    return appended


def _versions(
    run: Run,
    documents: IndexDocuments,
    golden: GoldenSet,
    change: ChangeDocument,
    name: str,
) -> Sequence[_Version]:
    """Return the changed documents: for each query, the one nearest to rank 6 that changes."""
    versions: list[_Version] = []
    for query in golden:
        for doc_id in _nearest(run.get(query.id)):
            before = documents.record(doc_id)
            after = _changed(change, query, doc_id, before, name)
            if is_same(before, after):
                continue
            same = next((each for each in versions if _is_version(each, doc_id, after)), None)
            if same is None:
                versions.append(same := _Version(doc_id, before, after, []))
            same.query_ids.append(query.id)
            break
    return versions


def _nearest(ranking: Sequence[str]) -> Sequence[str]:
    """Return the top documents of a ranking, starting with the one at rank 6 or in the middle."""
    target = _TARGET if len(ranking) > _TARGET else (len(ranking) + 1) // 2
    places = range(min(len(ranking), _DEEPEST))
    return [ranking[place] for place in sorted(places, key=lambda at: abs(at + 1 - target))]


def _changed(change: ChangeDocument, query: Query, doc_id: str, before: Any, name: str) -> Any:
    shown = f"document '{quoted(doc_id)}'"
    try:
        after = change(deepcopy(before), query, doc_id)
    except ConfigurationError:
        raise
    except Exception as error:
        raise ConfigurationError(
            f"change '{quoted(name)}' failed on {shown}: {type(error).__name__}: "
            f"{quoted(error, 300)}"
        ) from error
    if after is None:
        raise ConfigurationError(
            f"change '{quoted(name)}' returned None for {shown}; it must return the changed "
            "document"
        )
    if ids_in(before, doc_id) != ids_in(after, doc_id):
        raise ConfigurationError(
            f"change '{quoted(name)}' returned another id for {shown}; only other fields may change"
        )
    return after


def _is_version(version: _Version, doc_id: str, after: Any) -> bool:
    return version.doc_id == doc_id and is_same(version.after, after)


def _trial(
    query: Query,
    version: _Version,
    before: Sequence[str],
    attempt: Attempt,
    p: float,
) -> ChangedDocument:
    after = attempt.run.get(query.id)
    rank_before = before.index(version.doc_id) + 1
    rank_after = after.index(version.doc_id) + 1 if version.doc_id in after else None
    bottom = max(len(before), len(after)) + 1
    return ChangedDocument(
        query=query,
        before=tuple(before),
        after=tuple(after),
        rbo=similarity_of(before, after, p),
        gain=float(rank_before - (rank_after or bottom)),
        failure=attempt.failures.get(query.id),
        doc_id=version.doc_id,
        document=version.before,
        changed=version.after,
        rank_before=rank_before,
        rank_after=rank_after,
    )
