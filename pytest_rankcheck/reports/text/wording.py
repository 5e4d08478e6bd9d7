"""How numbers, queries and documents are written in every text report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.expected_text import is_unit, text_of

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.explanation.explanation import Bound, Bounded
    from pytest_rankcheck.golden.judged_queries import JudgedQueries
    from pytest_rankcheck.metrics.kinds import MeasurementKind
    from pytest_rankcheck.reports.findings import GateFinding


_WIDTH = 96


def number_text(value: float | None, digits: int = 4) -> str:
    """Return a metric's value; ``-`` without a value.

    It is rounded as in reports, which are made of values with six decimals.
    """
    return "-" if value is None or math.isnan(value) else f"{_as_reported(value):.{digits}f}"


def change(value: float, digits: int = 4) -> str:
    """Return a signed difference; one that would round to 0 keeps enough digits to be seen."""
    value = _as_reported(value)
    if value and abs(value) < 0.5 * 10**-digits:
        return f"{value:+.6f}"
    return f"{value:+.{digits}f}"


def _as_reported(value: float) -> float:
    return round(value, 6) + 0.0  # no negative zero


def means_change(before: float, now: float) -> str:
    """Return ``0.4312 -> 0.4120, -0.0192``."""
    return f"{number_text(before)} -> {number_text(now)}, {change(now - before)}"


def set_text(kind: MeasurementKind, name: str) -> str:
    """Return ``golden set 'web'``, or ``session log 'week'``."""
    return f"{kind.set_name} '{quoted(name)}'"


def golden_name(evaluation: Evaluation) -> str:
    """Return what was measured on: ``golden set 'web'``, or ``session log 'week'``."""
    return set_text(evaluation.kind, evaluation.golden.name)


def ranker_on(ranker: str, golden: JudgedQueries) -> str:
    """Return ``ranker 'bm25' on golden set 'web' (225 queries)``."""
    size = plural(len(golden), "query", "queries")
    return f"ranker '{quoted(ranker)}' on golden set '{quoted(golden.name)}' ({size})"


def query_in(golden: JudgedQueries, query_id: str) -> str:
    """Return a query's id and text: ``q117 "heat transfer in laminar flow"``.

    If a set has texts in place of ids, the text is shown once.
    """
    text = golden.query(query_id).text
    if text and text != query_id:
        return f'{quoted(query_id, 60)} "{quoted(text, 80)}"'
    return quoted(query_id, 60)


def unanswered_text(evaluation: Evaluation) -> str:
    """Return ``2 of 80 queries have an empty answer: q1, q2``; empty without such queries.

    Those on which the ranker failed come first, and comparisons leave them out.
    """
    why = {query_id: f"{query_id} (failed: {text})" for query_id, text in evaluation.failed.items()}
    queries = [*why.values(), *(each for each in evaluation.unanswered if each not in why)]
    if not queries:
        return ""
    have = "has" if len(queries) == 1 else "have"
    size = evaluation.kind.counted(len(evaluation.query_ids))
    return f"{len(queries):,} of {size} {have} an empty answer: {listed(queries)}"


def caveats(evaluation: Evaluation) -> Sequence[str]:
    """Return what may be wrong with the run or its documents rather than with the ranker."""
    texts = [text for text, are_many in evaluation.source.document_notes.items() if are_many]
    if evaluation.of_rankings is not evaluation:
        texts.append("values are means of the replicates; documents are those of the first")
    return (unanswered_text(evaluation), *texts) if evaluation.failed else texts


def named(doc_id: str, title: str | None) -> str:
    """Return the id of a document, and its title if it has one."""
    if is_unit(doc_id):  # its title names the chunk that contains it
        return f'"{quoted(text_of(doc_id), 60)}"' + (f" in {quoted(title, 60)}" if title else "")
    if title:
        return f'{quoted(doc_id, 60)} "{quoted(title, 40)}"'
    return quoted(doc_id, 60)


def packed(items: Iterable[str], indent: int = 6, gap: str = "      ") -> Iterator[str]:
    """Yield lines with as many items each as fit after an indentation."""
    line = ""
    for item in items:
        if line and indent + len(line) + len(gap) + len(item) > _WIDTH:
            yield line
            line = ""
        line = line + gap + item if line else item
    if line:
        yield line


# --- bounds --------------------------------------------------------------------------------------


def gate_words(finding: GateFinding) -> str:
    """Return the verdict of a gate's row, in a word or two."""
    words = str(finding.said)
    if finding.bound is not None:
        bound, part = finding.bound
        words = (bound_text if part.holds else broken_text)(bound) + interval_text(part.interval)
    elif finding.approved and finding.said == "approved":
        words = "; ".join(approval.text for approval in finding.approved)
    words += "".join(f", {remark}" for remark in finding.remarks)
    if finding.failed_queries:
        words += f"; {plural(finding.failed_queries, 'query', 'queries')} failed"
    return words


def bound_text(bound: Bound) -> str:
    """Return ``at least 0.4500``."""
    confidence = f" with {bound.confidence:.0%} confidence" if bound.confidence is not None else ""
    return f"{'at least' if bound.is_floor else 'at most'} {number_text(bound.limit)}{confidence}"


def bounded_text(bound: Bound, part: Bounded) -> str:
    """Return the mean that has a bound, and the value that was compared if it is not the mean."""
    mean = number_text(part.mean)
    if bound.confidence is not None:
        side = "lower" if bound.is_floor else "upper"
        mean = f"{mean} ({side} {bound.confidence:.0%} bound {number_text(part.tested)})"
    return mean + interval_text(part.interval)


def broken_text(bound: Bound) -> str:
    """Return ``below 0.4500``; with a confidence, ``lower 95% bound below 0.4500``."""
    side, beyond = ("lower", "below") if bound.is_floor else ("upper", "above")
    tested = f"{side} {bound.confidence:.0%} bound " if bound.confidence is not None else ""
    return f"{tested}{beyond} {number_text(bound.limit)}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return in brackets how precisely a value is known that is not a mean; empty if unknown."""
    if interval is None or math.isnan(interval[0]):
        return ""
    return f" (95% interval {' to '.join(map(number_text, interval))})"
