"""Lint rules for expectations that contradict the judgments, or name unknown documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, rule

_SHOWN = 5
"""How many expectations a finding describes."""

_Grades = Mapping[str, float]
_Check = Callable[[Expectation, _Grades], str | None]


@rule("error")
def expectation_against_grades(linted: Linted) -> LintFinding | None:
    """An expectation that contradicts the grades, so that no ideal ranking meets it."""
    return _result(
        linted,
        _contradiction,
        "against the grades",
        "The metrics reward a ranker for failing the expectation, so the two tests contradict "
        "each other",
        "correct the grade or the expectation",
    )


@rule("error")
def unknown_expected_id(linted: Linted) -> LintFinding | None:
    """A document in an expectation that is not in the catalogue."""
    if linted.corpus_match is None:
        return None
    return _result(
        linted,
        partial(_naming, linted.corpus_match.unknown),
        "with an unknown document",
        "No ranker can return an id that does not exist: the expectation always fails, or, as with "
        "not_in_top, never",
        "correct the id, or remove the expectation",
    )


def _naming(unknown: Collection[str], expectation: Expectation, _: _Grades) -> str | None:
    """Return the expectation on an unknown document, and the document that may be meant."""
    for doc_id in (*expectation.documents, *expectation.others):
        if doc_id in unknown:
            return f"{expectation}, but '{quoted(doc_id)}' is not in the catalogue"
    return None


def _result(linted: Linted, check: _Check, what: str, why: str, remedy: str) -> LintFinding | None:
    """Return a result about the expectations for which a check returns a text."""
    contents = linted.contents
    found = []
    for query_id, expectations in contents.expectations.items():
        grades = contents.grades.get(query_id, {})
        texts = (check(each, grades) for each in expectations)
        found += [(query_id, text) for text in texts if text]
    if not found:
        return None
    shown = [f"query '{quoted(query_id)}' expects {text}" for query_id, text in found[:_SHOWN]]
    if len(found) > _SHOWN:
        shown.append(f"and {len(found) - _SHOWN:,} more")
    return LintFinding(
        query_ids=tuple(dict.fromkeys(query_id for query_id, _ in found)),
        what=f"{plural(len(found), 'expectation')} {what}: {'; '.join(shown)}",
        why=why,
        remedy=remedy,
    )


def _contradiction(expectation: Expectation, grades: _Grades) -> str | None:
    """Return the expectation and the contradicting grades, if no ideal ranking meets it."""
    gains = {doc_id: max(grade, 0.0) for doc_id, grade in grades.items()}
    relevant = [doc_id for doc_id, gain in gains.items() if gain > 0]
    k = expectation.k or 0
    match expectation.kind:
        case "no_results":
            if relevant:
                return f"{expectation}, but {_judged(relevant[0], grades)}"
        case "not_in_top":
            for doc_id in expectation.documents:
                if _belongs_in_top(doc_id, gains, k):
                    return f"{expectation}, but {_judged(doc_id, grades)}"
        case "in_top":
            for doc_id in expectation.documents:
                better = sum(gain > gains.get(doc_id, 0) for gain in gains.values())
                if gains.get(doc_id, 0) > 0 and better >= k:
                    others = plural(better, "document has", "documents have")
                    return f"{expectation}, but {_judged(doc_id, grades)} and {others} more"
        case "above":
            for first in expectation.documents:
                for other in expectation.others:
                    if first in gains and gains[first] < gains.get(other, 0):
                        return (
                            f"{expectation}, but {_judged(first, grades)} and "
                            f"{_judged(other, grades)}"
                        )
    return None


def _belongs_in_top(doc_id: str, gains: Mapping[str, float], k: int) -> bool:
    """Whether a document is in the top of every ideal ranking, or has the highest grade.

    With several best documents, expecting one of them not to be first is not a contradiction.
    """
    gain = gains.get(doc_id, 0.0)
    if not gain:
        return False
    is_best = gain == max(gains.values()) and k > 1
    at_least_as_good = sum(other >= gain for other in gains.values())
    return is_best or at_least_as_good <= k


def _judged(doc_id: str, grades: _Grades) -> str:
    return f"'{quoted(doc_id)}' has the grade {grades[doc_id]:g}"
