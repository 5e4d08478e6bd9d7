"""Expectations: requirements on the ranking of a single query, independent of averages.

In the files of golden sets they are objects beside the judgments:

    {"in_top": 3, "documents": ["refund-policy"]}
    {"not_in_top": 10, "documents": ["old-policy", "draft"]}
    {"above": ["refund-policy", "faq"]}
    {"above": [["refund-policy", "refund-form"], ["faq", "contact"]]}
    {"results": "some"}
    {"results": "none"}

Each may have a ``reason``, a ``known_failure`` with its ``known_rank``, and a ``severity``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.plain_values import id_text

Kind = Literal["in_top", "not_in_top", "above", "some_results", "no_results"]

Severity = Literal["error", "warn"]
"""Whether a violated expectation fails its test or is only shown in the summary."""

_FORMS = ("in_top", "not_in_top", "above", "results")
_MARKS = ("reason", "known_failure", "known_rank", "severity")
_RESULTS: dict[str, Kind] = {"some": "some_results", "none": "no_results"}


class Marks(TypedDict, total=False):
    """The fields that every expectation can have; see `Expectation`."""

    reason: str | None
    known_failure: str | None
    severity: Severity
    known_rank: int | None


@dataclass(frozen=True, slots=True)
class Expectation:
    """A requirement on the ranking of one query.

    Create one with `in_top`, `not_in_top`, `above`, `some_results` or `no_results`.
    """

    query: str
    """The id of the query."""
    kind: Kind
    documents: tuple[str, ...] = ()
    """The documents concerned; for `above`, those that come first."""
    others: tuple[str, ...] = ()
    """For `above`, the documents that come after them."""
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
        for name, options in (("kind", get_args(Kind)), ("severity", get_args(Severity))):
            value = str(getattr(self, name))
            if value not in options:
                raise GoldenSetError(
                    f"{name}={quoted(value)} is invalid{suggestion(value, options)}; give one of "
                    f"{', '.join(options)}"
                )
        for name in ("query", "reason", "known_failure"):
            text = getattr(self, name)
            is_text = isinstance(text, str) and text.strip()
            if not (is_text or (text is None and name != "query")):
                raise GoldenSetError(f"{name} is {quoted(repr(text), 60)}; it must be a text")
        if self.kind in ("in_top", "not_in_top"):
            check_whole_number(self.kind, self.k, 1, GoldenSetError)
        if self.known_rank is not None:
            check_whole_number("known_rank", self.known_rank, 1, GoldenSetError)
            if self.known_failure is None or not self.documents:
                raise GoldenSetError(
                    "known_rank is the rank of a document that is not where it is expected; give "
                    "also known_failure, the reason"
                )
        ids = (*self.documents, *self.others)
        for doc_id in ids:
            if ids.count(doc_id) > 1:
                raise GoldenSetError(f"{self.kind}: duplicate document '{quoted(doc_id)}'")

    @classmethod
    def in_top(cls, k: int, *documents: str, query: str, **marks: Unpack[Marks]) -> Expectation:
        """Expect each of ``documents`` in the top ``k``.

        Args:
            k: the size of the top.
            documents: the ids of the documents.
            query: the id of the query.
            marks: ``reason``, ``known_failure``, ``severity`` or ``known_rank``: see the fields.

        Raises:
            GoldenSetError: no document is named, one is duplicated, or ``known_rank`` is invalid.
        """
        return cls(query, "in_top", document_ids(documents, "in_top"), k=k, **marks)

    @classmethod
    def not_in_top(cls, k: int, *documents: str, query: str, **marks: Unpack[Marks]) -> Expectation:
        """Expect none of ``documents`` in the top ``k``. Otherwise like `in_top`."""
        return cls(query, "not_in_top", document_ids(documents, "not_in_top"), k=k, **marks)

    @classmethod
    def above(
        cls,
        documents: str | Sequence[str],
        others: str | Sequence[str],
        *,
        query: str,
        **marks: Unpack[Marks],
    ) -> Expectation:
        """Expect a document, or each of several, above another, or above each of several.

        The first must be ranked, the others need not be. Otherwise like `in_top`.
        """
        sides = (
            side if isinstance(side, (list, tuple)) else [side] for side in (documents, others)
        )
        first, second = (document_ids(side, "above") for side in sides)
        return cls(query, "above", first, second, **marks)

    @classmethod
    def some_results(cls, *, query: str, **marks: Unpack[Marks]) -> Expectation:
        """Expect at least one result. Otherwise like `in_top`."""
        return cls(query, "some_results", **marks)

    @classmethod
    def no_results(cls, *, query: str, **marks: Unpack[Marks]) -> Expectation:
        """Expect no results. Otherwise like `in_top`."""
        return cls(query, "no_results", **marks)

    def __str__(self) -> str:
        documents, others = listed(self.documents, 10), listed(self.others, 10)
        match self.kind:
            case "in_top":
                return f"{documents} in the top {self.k}"
            case "not_in_top":
                return f"{documents} not in the top {self.k}"
            case "above":
                return f"{documents} above {others}"
            case "some_results":
                return "at least one result"
        return "no result"


def document_ids(value: object, form: str) -> tuple[str, ...]:
    """Return document ids, given as a list of at least one text or whole number."""
    ids = [*map(id_text, value)] if isinstance(value, (list, tuple)) else []
    if not ids or None in ids:
        raise GoldenSetError(
            f"{form}: {quoted(repr(value), 60)} is not a list of document ids, which are text or "
            'whole numbers, such as ["d1"]'
        )
    return tuple(map(str, ids))


def add_expectation(
    expectations: dict[str, list[Expectation]],
    new: Expectation,
    known: Collection[str],
    where: str,
) -> None:
    """Add an expectation to those of its query. Repeating the same one has no effect.

    Args:
        expectations: the expectations so far, by query.
        new: the expectation.
        known: the queries of the golden set.
        where: the place of the expectation, for messages.
    """
    if new.query not in known:
        raise GoldenSetError(
            f"{where}: {new} is expected of the unknown query "
            f"'{quoted(new.query)}'{suggestion(new.query, known)}"
        )
    of_query = expectations.setdefault(new.query, [])
    if new not in of_query:
        of_query.append(new)


def expectation_of(query_id: str, entry: object) -> Expectation:
    """Return the expectation that an object in a file describes, in one of the forms above."""
    if not isinstance(entry, Mapping):
        raise GoldenSetError(
            f"{quoted(entry, 60)} is not an expectation; an expectation is an object such as "
            '{"in_top": 3, "documents": ["d1"]}'
        )
    form = _form_of(entry)
    marks: dict[str, Any] = {}
    for name in _MARKS:
        if entry.get(name) is not None:
            marks[name] = entry[name]
    match form:
        case "results":
            kind = _RESULTS.get(str(entry[form]))
            if kind is None:
                value = quoted(entry[form], 40)
                raise GoldenSetError(f'"results" is {value}; it must be "some" or "none"')
            return Expectation(query_id, kind, **marks)
        case "above":
            value = entry[form]
            if not isinstance(value, list) or len(value) != 2:
                raise GoldenSetError(
                    f'"above" is {quoted(value, 60)}; it must have two items, what comes first and '
                    'what comes after, such as ["d1", "d2"] or [["d1", "d2"], ["d3"]]'
                )
            return Expectation.above(*value, query=query_id, **marks)
    documents = document_ids(entry.get("documents", ()), form)
    make = Expectation.in_top if form == "in_top" else Expectation.not_in_top
    return make(entry[form], *documents, query=query_id, **marks)


def entry_of(expectation: Expectation) -> dict[str, object]:
    """Return the object that describes an expectation in the file, in the entry of its query."""
    entry: dict[str, object]
    match expectation.kind:
        case "in_top" | "not_in_top":
            entry = {expectation.kind: expectation.k, "documents": list(expectation.documents)}
        case "above":
            sides = (expectation.documents, expectation.others)
            entry = {"above": [ids[0] if len(ids) == 1 else list(ids) for ids in sides]}
        case "some_results":
            entry = {"results": "some"}
        case "no_results":
            entry = {"results": "none"}
    for name in ("reason", "known_failure", "known_rank"):
        if getattr(expectation, name) is not None:
            entry[name] = getattr(expectation, name)
    if expectation.severity != "error":
        entry["severity"] = expectation.severity
    return entry


def _form_of(entry: Mapping[object, object]) -> str:
    """Return the key that states what is expected: one of the forms, if the other keys fit."""
    forms = [form for form in _FORMS if form in entry]
    keys: tuple[str, ...] = (*_FORMS, "documents", *_MARKS)
    if len(forms) == 1:
        documents = ["documents"] if forms[0] in ("in_top", "not_in_top") else []
        keys = (forms[0], *documents, *_MARKS)
    for key in entry:
        if key not in keys:
            raise GoldenSetError(
                f'unknown key "{quoted(key, 40)}" in an expectation'
                f"{suggestion(str(key), keys)}; its keys are {', '.join(keys)}"
            )
    if len(forms) != 1:
        raise GoldenSetError(
            f"an expectation has one of {', '.join(_FORMS)}; "
            f"this has {' and '.join(forms) or 'none'}"
        )
    return forms[0]
