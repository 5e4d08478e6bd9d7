"""Expectations in the files of golden sets: objects beside the judgments.

    {"in_top": 3, "documents": ["refund-policy"]}
    {"not_in_top": 10, "documents": ["old-policy", "draft"]}
    {"above": ["refund-policy", "faq"]}
    {"before": [["refund-policy", "refund-form"], ["faq", "contact"]]}
    {"results": "some"}
    {"results": "none"}

Each may have a ``reason``, a ``known_failure`` with its ``known_rank``, and a ``severity``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.golden.expectation import Expectation, Kind, document_ids

_FORMS = ("in_top", "not_in_top", "above", "before", "results")
_MARKS = ("reason", "known_failure", "known_rank", "severity")
_RESULTS: dict[str, Kind] = {"some": "some_results", "none": "no_results"}


def expectation_of(query_id: str, entry: object) -> Expectation:
    """Return the expectation that an object in a file describes, by the forms above."""
    if not isinstance(entry, Mapping):
        raise GoldenSetError(
            f"{quoted(entry, 60)} is not an expectation; an expectation is an object such as "
            '{"in_top": 3, "documents": ["d1"]}'
        )
    form = _form_of(entry)
    marks: dict[str, Any] = {name: entry[name] for name in _MARKS if entry.get(name) is not None}
    match form:
        case "results":
            kind = _RESULTS.get(str(entry[form]))
            if kind is None:
                value = quoted(entry[form], 40)
                raise GoldenSetError(f'"results" is {value}; it must be "some" or "none"')
            return Expectation(query_id, kind, **marks)
        case "above":
            documents, others = _two_sides(entry[form], form, '["d1", "d2"]')
            return Expectation.above(documents, others, query=query_id, **marks)
        case "before":
            documents, others = _two_sides(entry[form], form, '[["d1", "d2"], ["d3"]]')
            return Expectation.before(documents, others, query=query_id, **marks)
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
            entry = {"above": [*expectation.documents, *expectation.others]}
        case "before":
            entry = {"before": [list(expectation.documents), list(expectation.others)]}
        case "some_results" | "no_results":
            entry = {"results": "some" if expectation.kind == "some_results" else "none"}
    for name in ("reason", "known_failure", "known_rank"):
        if getattr(expectation, name) is not None:
            entry[name] = getattr(expectation, name)
    if expectation.severity != "error":
        entry["severity"] = expectation.severity
    return entry


def _form_of(entry: Mapping[object, object]) -> str:
    """Return the key that states what is expected: one of the forms, if the other keys fit it."""
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
        problem = f"has {' and '.join(forms)}" if forms else "does not say what is expected"
        raise GoldenSetError(f"an expectation {problem}; give one of {', '.join(_FORMS)}")
    return forms[0]


def _two_sides(value: object, form: str, example: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise GoldenSetError(
            f'"{form}" is {quoted(value, 60)}; it must have two items, what comes first and what '
            f"comes after, such as {example}"
        )
    return value[0], value[1]
