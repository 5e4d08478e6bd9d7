"""Expectations: requirements on the ranking of a single query, independent of averages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.checked_cells import id_text

__all__ = ["Expectation", "Kind", "document_ids"]

Kind = Literal["in_top", "not_in_top", "above", "before", "some_results", "no_results"]

Severity = Literal["error", "warn"]
"""Whether a violated expectation fails its test or is only shown in the summary."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A requirement on the ranking of one query.

    Create one with `in_top`, `not_in_top`, `above`, `before`, `some_results` or `no_results`.
    """

    query: str
    """The id of the query."""
    kind: Kind
    documents: tuple[str, ...] = ()
    """The documents concerned; for `above` and `before`, those that come first."""
    others: tuple[str, ...] = ()
    """For `above` and `before`, the documents that come after them."""
    k: int | None = None
    """The size of the top."""
    reason: str | None = None
    """Why it is expected, shown in the failure."""
    known_failure: str | None = None
    """Why it does not hold yet. Like a strict xfail: once it holds, the mark must be removed."""
    severity: Severity = "error"
    known_rank: int | None = None
    """The document's rank when the known failure was marked, to warn when it gets worse. With
    several documents it is the rank of the last one, with `not_in_top` of the first."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise GoldenSetError(
                f"unknown expectation '{quoted(self.kind)}'"
                f"{suggestion(str(self.kind), get_args(Kind))}; use Expectation.in_top, "
                "not_in_top, above, before, some_results or no_results"
            )
        _check_text(self.query, "query", "the id of a query")
        for name in ("reason", "known_failure"):
            value = getattr(self, name)
            if value is not None:
                _check_text(value, name, "a text that gives the reason")
        if self.severity not in get_args(Severity):
            hint = suggestion(str(self.severity), get_args(Severity))
            raise GoldenSetError(
                f"severity={quoted(self.severity)} is invalid{hint}; give error or warn"
            )
        if self.kind in ("in_top", "not_in_top"):
            _check_cutoff(self.k, self.kind)
        if self.known_rank is not None:
            self._check_known_rank(self.known_rank)
        _check_duplicates((*self.documents, *self.others), self.kind)
        if self.kind == "in_top" and self.k is not None and len(self.documents) > self.k:
            raise GoldenSetError(
                f"in_top: {len(self.documents)} documents cannot all be in the top {self.k}"
            )

    def _check_known_rank(self, rank: int) -> None:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise GoldenSetError(
                f"known_rank is {quoted(rank, 40)}; it must be a whole number of at least 1"
            )
        if self.known_failure is None:
            raise GoldenSetError(
                "known_rank is given without known_failure, the reason why the expectation does "
                "not hold yet"
            )
        if not self.documents:
            raise GoldenSetError("known_rank is the rank of a document, but none is named")
        is_in_top = self.k is not None and rank <= self.k
        if self.kind in ("in_top", "not_in_top") and is_in_top == (self.kind == "in_top"):
            place = "in" if is_in_top else "not in"
            raise GoldenSetError(
                f"known_rank {rank} is {place} the top {self.k}, so it is not a failure"
            )

    @classmethod
    def in_top(
        cls,
        k: int,
        *documents: str,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
        known_rank: int | None = None,
    ) -> Expectation:
        """Expect each of ``documents`` in the top ``k``.

        Args:
            k: the size of the top.
            documents: the ids of the documents.
            query: the id of the query.
            reason: why it is expected.
            known_failure: why it does not hold yet.
            severity: ``"error"`` fails the test, ``"warn"`` is shown in the summary.
            known_rank: the rank of the last of the documents when the expectation was marked as a
                known failure; the summary warns if that document moves further down.

        Raises:
            GoldenSetError: no document is named, one is duplicated, or there are more than ``k``;
                or ``known_rank`` is invalid.
        """
        ids = document_ids(documents, "in_top")
        return cls(query, "in_top", ids, (), k, reason, known_failure, severity, known_rank)

    @classmethod
    def not_in_top(
        cls,
        k: int,
        *documents: str,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
        known_rank: int | None = None,
    ) -> Expectation:
        """Expect none of ``documents`` in the top ``k``. Otherwise like `in_top`."""
        ids = document_ids(documents, "not_in_top")
        return cls(query, "not_in_top", ids, (), k, reason, known_failure, severity, known_rank)

    @classmethod
    def above(
        cls,
        document: str,
        other: str,
        *,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
        known_rank: int | None = None,
    ) -> Expectation:
        """Expect ``document`` above ``other``; it must be ranked, ``other`` need not be.

        Otherwise like `in_top`.
        """
        first, second = document_ids([document], "above"), document_ids([other], "above")
        return cls(query, "above", first, second, None, reason, known_failure, severity, known_rank)

    @classmethod
    def before(
        cls,
        documents: Sequence[str],
        others: Sequence[str],
        *,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
        known_rank: int | None = None,
    ) -> Expectation:
        """Expect each of ``documents`` above each of ``others``.

        The first must be ranked, the others need not be. Otherwise like `in_top`.
        """
        first, second = document_ids(documents, "before"), document_ids(others, "before")
        return cls(
            query, "before", first, second, None, reason, known_failure, severity, known_rank
        )

    @classmethod
    def some_results(
        cls,
        *,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
    ) -> Expectation:
        """Expect at least one result. Otherwise like `in_top`."""
        return cls(query, "some_results", (), (), None, reason, known_failure, severity)

    @classmethod
    def no_results(
        cls,
        *,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
    ) -> Expectation:
        """Expect no results. Otherwise like `in_top`."""
        return cls(query, "no_results", (), (), None, reason, known_failure, severity)

    @property
    def claim(self) -> tuple[object, ...]:
        """What is expected, without the reason and the severity."""
        sets = frozenset(self.documents), frozenset(self.others)
        kind = "before" if self.kind == "above" else self.kind
        return self.query, kind, *sets, self.k

    def __str__(self) -> str:
        documents, others = listed(self.documents, 10), listed(self.others, 10)
        match self.kind:
            case "in_top":
                return f"{documents} in the top {self.k}"
            case "not_in_top":
                if len(self.documents) == 1:
                    return f"{documents} not in the top {self.k}"
                return f"none of {documents} in the top {self.k}"
            case "above" | "before":
                return f"{documents} {self.kind} {others}"
        return "at least one result" if self.kind == "some_results" else "no result"


def document_ids(value: object, form: str) -> tuple[str, ...]:
    """Return document ids, given as a list of at least one text or whole number."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise GoldenSetError(
            f'{form}: {quoted(repr(value), 60)} is not a list of document ids, such as ["d1"]'
        )
    ids = []
    for item in value:
        text = id_text(item)
        if text is None:
            raise GoldenSetError(
                f"{form}: {quoted(repr(item), 60)} is not a document id; ids are text or whole "
                "numbers"
            )
        ids.append(text)
    if not ids:
        raise GoldenSetError(f"{form}: the list of documents is empty; name at least one")
    return tuple(ids)


def _check_text(value: object, name: str, expected: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise GoldenSetError(f"{name} is {quoted(repr(value), 60)}; it must be {expected}")


def _check_cutoff(k: object, form: str) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise GoldenSetError(f"{form} is {quoted(k, 40)}; it must be a whole number of at least 1")


def _check_duplicates(ids: Sequence[str], form: str) -> None:
    for doc_id in ids:
        if ids.count(doc_id) > 1:
            both = " on both sides" if form in ("above", "before") else ""
            raise GoldenSetError(f"{form}: duplicate document '{quoted(doc_id)}'{both}")
