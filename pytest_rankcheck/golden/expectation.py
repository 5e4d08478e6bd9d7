"""An expectation: what the ranking of a single query must be like, whatever the averages say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion

__all__ = ["Expectation", "Kind", "Severity", "ids_of"]

Kind = Literal["in_top", "not_in_top", "above", "before", "some_results", "no_results"]

Severity = Literal["error", "warn"]
"""What a violated expectation does: fails its test, or is shown in the summary."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of the ranking of one query.

    Make one with `in_top`, `not_in_top`, `above`, `before`, `some_results` or `no_results`.
    """

    query: str
    """The id of the query."""
    kind: Kind
    documents: tuple[str, ...] = ()
    """The documents that are meant; of `above` and `before`, those that come first."""
    others: tuple[str, ...] = ()
    """The documents that come after them."""
    k: int | None = None
    """How many documents the top has."""
    reason: str | None = None
    """Why it is expected, for whoever reads the failure."""
    known_failure: str | None = None
    """Why it does not hold yet. As a strict xfail: once it holds, the mark has to go."""
    severity: Severity = "error"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise GoldenSetError(
                f"there is no expectation '{quoted(self.kind)}'"
                f"{suggestion(str(self.kind), get_args(Kind))}; make one with Expectation.in_top, "
                "not_in_top, above, before, some_results or no_results"
            )
        _check_text(self.query, "query", "the id of a query")
        for name in ("reason", "known_failure"):
            value = getattr(self, name)
            if value is not None:
                _check_text(value, name, "a text that says why")
        if self.severity not in get_args(Severity):
            hint = suggestion(str(self.severity), get_args(Severity))
            raise GoldenSetError(
                f"severity={quoted(self.severity)} is not possible{hint}; it is error or warn"
            )
        if self.kind in ("in_top", "not_in_top"):
            _check_cutoff(self.k, self.kind)
        _check_twice((*self.documents, *self.others), self.kind)
        if self.kind == "in_top" and self.k is not None and len(self.documents) > self.k:
            raise GoldenSetError(
                f"in_top: {len(self.documents)} documents cannot all be in the top {self.k}"
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
    ) -> Expectation:
        """Expect each of ``documents`` in the top ``k``.

        Args:
            k: how many documents the top has.
            documents: the ids of documents.
            query: the id of the query.
            reason: why it is expected.
            known_failure: why it does not hold yet.
            severity: ``"error"`` fails the test, ``"warn"`` is shown in the summary.

        Raises:
            GoldenSetError: there is no document, one stands twice, or more are named than the top
                has places.
        """
        ids = ids_of(documents, "in_top")
        return cls(query, "in_top", ids, (), k, reason, known_failure, severity)

    @classmethod
    def not_in_top(
        cls,
        k: int,
        *documents: str,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
    ) -> Expectation:
        """Expect none of ``documents`` in the top ``k``. As `in_top` otherwise."""
        ids = ids_of(documents, "not_in_top")
        return cls(query, "not_in_top", ids, (), k, reason, known_failure, severity)

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
    ) -> Expectation:
        """Expect ``document`` above ``other``; it has to be ranked, ``other`` has not.

        As `in_top` otherwise.
        """
        first, second = ids_of([document], "above"), ids_of([other], "above")
        return cls(query, "above", first, second, None, reason, known_failure, severity)

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
    ) -> Expectation:
        """Expect each of ``documents`` above each of ``others``.

        The first have to be ranked, the others have not. As `in_top` otherwise.
        """
        first, second = ids_of(documents, "before"), ids_of(others, "before")
        return cls(query, "before", first, second, None, reason, known_failure, severity)

    @classmethod
    def some_results(
        cls,
        *,
        query: str,
        reason: str | None = None,
        known_failure: str | None = None,
        severity: Severity = "error",
    ) -> Expectation:
        """Expect at least one result. As `in_top` otherwise."""
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
        """Expect no result at all. As `in_top` otherwise."""
        return cls(query, "no_results", (), (), None, reason, known_failure, severity)

    @property
    def claim(self) -> tuple[object, ...]:
        """What is expected, without why and how much it matters."""
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


def ids_of(value: object, form: str) -> tuple[str, ...]:
    """Return a list of document ids: texts, or whole numbers.

    Raises:
        GoldenSetError: it is none, it is empty, or one is no id.
    """
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise GoldenSetError(
            f'{form}: {quoted(repr(value), 60)} is no list of document ids, such as ["d1"]'
        )
    ids = []
    for item in value:
        is_number = isinstance(item, Integral) and not isinstance(item, bool)
        if not is_number and not (isinstance(item, str) and item):
            raise GoldenSetError(
                f"{form}: {quoted(repr(item), 60)} is no document id; ids are text or whole numbers"
            )
        ids.append(str(item))
    if not ids:
        raise GoldenSetError(f"{form}: the list of documents is empty; name at least one")
    return tuple(ids)


def _check_text(value: object, name: str, what: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise GoldenSetError(f"{name} is {quoted(repr(value), 60)}; it is {what}")


def _check_cutoff(k: object, form: str) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise GoldenSetError(f"{form} is {quoted(k, 40)}; it is a whole number of at least 1")


def _check_twice(ids: Sequence[str], form: str) -> None:
    for doc_id in ids:
        if ids.count(doc_id) > 1:
            both = " on both sides" if form in ("above", "before") else ""
            raise GoldenSetError(f"{form}: document '{quoted(doc_id)}' stands twice{both}")
