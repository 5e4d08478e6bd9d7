"""How a file of a golden set says what is expected: an object beside the judgments.

    {"in_top": 3, "documents": ["refund-policy"]}
    {"not_in_top": 10, "documents": ["old-policy", "draft"]}
    {"above": ["refund-policy", "faq"]}
    {"before": [["refund-policy", "refund-form"], ["faq", "contact"]]}
    {"results": "some"}
    {"results": "none"}

Each may have a ``reason``, a ``known_failure`` and a ``severity``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.golden.expectation import Expectation, Kind, ids_of

__all__ = ["entry_of", "expectation_of"]

_FORMS = ("in_top", "not_in_top", "above", "before", "results")
_MARKS = ("reason", "known_failure", "severity")
_KEYS = (*_FORMS, "documents", *_MARKS)
_RESULTS: dict[object, Kind] = {"some": "some_results", "none": "no_results"}


def expectation_of(query_id: str, entry: object) -> Expectation:
    """Return the expectation that an object of a file means.

    Raises:
        GoldenSetError: it is no such object; a key is unknown or missing, a list empty, or a value
            is none that the key takes.
    """
    if not isinstance(entry, Mapping):
        raise GoldenSetError(
            f"{quoted(entry, 60)} is no expectation; one is an object such as "
            '{"in_top": 3, "documents": ["d1"]}'
        )
    form = _form_of(entry)
    marks: dict[str, Any] = {name: entry[name] for name in _MARKS if name in entry}
    for name, value in marks.items():
        if value is None:
            raise GoldenSetError(f'"{name}" is null; leave it out, or say what it is')
    match form:
        case "results":
            return Expectation(query_id, _results(entry[form]), **marks)
        case "above":
            documents, others = _two_sides(entry[form], form, '["d1", "d2"]')
            return Expectation.above(documents, others, query=query_id, **marks)
        case "before":
            documents, others = _two_sides(entry[form], form, '[["d1", "d2"], ["d3"]]')
            return Expectation.before(documents, others, query=query_id, **marks)
    documents = ids_of(entry["documents"], form)
    make = Expectation.in_top if form == "in_top" else Expectation.not_in_top
    return make(entry[form], *documents, query=query_id, **marks)


def entry_of(expectation: Expectation) -> dict[str, object]:
    """Return the object that a file has for an expectation; the query is where it stands."""
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
    for name in ("reason", "known_failure"):
        if getattr(expectation, name) is not None:
            entry[name] = getattr(expectation, name)
    if expectation.severity != "error":
        entry["severity"] = expectation.severity
    return entry


def _form_of(entry: Mapping[object, object]) -> str:
    """Return the key that says what is expected.

    Raises:
        GoldenSetError: there is none or more than one, or a key is unknown or not of that form.
    """
    for key in entry:
        if key not in _KEYS:
            raise GoldenSetError(
                f'an expectation has no key "{quoted(key, 40)}"{suggestion(str(key), _KEYS)}; '
                f"its keys are {', '.join(_KEYS)}"
            )
    forms = [key for key in _FORMS if key in entry]
    if len(forms) != 1:
        said = f"says {' and '.join(forms)}" if forms else "does not say what is expected"
        raise GoldenSetError(f"an expectation {said}; give one of {', '.join(_FORMS)}")
    takes_documents = forms[0] in ("in_top", "not_in_top")
    if takes_documents and "documents" not in entry:
        raise GoldenSetError(f'"{forms[0]}" needs "documents", a list of their ids')
    if not takes_documents and "documents" in entry:
        raise GoldenSetError(f'"{forms[0]}" has no "documents"')
    return forms[0]


def _results(value: object) -> Kind:
    if not isinstance(value, str) or value not in _RESULTS:
        raise GoldenSetError(f'"results" is {quoted(value, 40)}; it is "some" or "none"')
    return _RESULTS[value]


def _two_sides(value: object, form: str, example: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise GoldenSetError(
            f'"{form}" is {quoted(value, 60)}; it is what comes first and what comes after, such '
            f"as {example}"
        )
    return value[0], value[1]
