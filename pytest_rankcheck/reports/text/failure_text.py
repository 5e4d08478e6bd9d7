"""An explanation as text: what fell, where, in which queries, with which remarks; what to do.

The numbers of metrics, slices, queries and documents are limited to keep it within 40 lines; the
evidence is added with -v and in reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.explanation import (
    MOST_CAUSES,
    Absence,
    ExplainedQuery,
    Explanation,
    RankedDocument,
)
from pytest_rankcheck.reports.ledger import place_of_documents
from pytest_rankcheck.reports.text.answers_text import answered_lines
from pytest_rankcheck.reports.text.evidence_text import fell_word
from pytest_rankcheck.reports.text.metrics_text import (
    headline,
    numbers_lines,
    slice_lines,
    values_text,
)
from pytest_rankcheck.reports.text.wording import change, named, packed

_MOST_LINES = 40
_QUERIES = 4
_LINES_OF_DOCUMENTS = 2
_CAVEATS = 2
_FACTS = 12
_REMARKS, _REMARKS_ALONE = 5, 20
_FEWEST_FALLS = 7
"""Whatever fewer queries share may be chance, at the 1% level of the tests for causes."""
_HELD = "a value that the ranker must meet"


def failure_lines(explanation: Explanation, *, in_full: bool = False) -> Sequence[str]:
    """Return the whole text; the first line is the headline.

    Args:
        explanation: what to say.
        in_full: whether to include the evidence.
    """
    most = _REMARKS if explanation.failures else _REMARKS_ALONE
    start = [
        headline(explanation),
        *_indented(
            numbers_lines(explanation, in_full=in_full),
            explanation.caveats[:_CAVEATS],
            _at_most(explanation.facts, _FACTS, in_full=in_full),
            slice_lines(explanation),
            _in_common(explanation),
        ),
        *_worst(explanation),
        *_indented(_taken_over(explanation), _unjudged(explanation)),
    ]
    remarks = _at_most(explanation.remarks, most, in_full=in_full)
    end = [*_indented(remarks, _to_do(explanation))]
    room = None if in_full else _MOST_LINES - len(start) - len(end)
    return [*start, *answered_lines(explanation, room), *end]


def _indented(*parts: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in chain.from_iterable(parts))


def _in_common(explanation: Explanation) -> Iterator[str]:
    """Yield what the queries that fell have in common."""
    common = explanation.in_common
    if common is None:
        return
    verb = fell_word(common.metric)
    those = f"the {common.fallen:,} {common.metric.kind.plural} that {verb}"
    if common.fallen < 2:
        yield from common.causes
    elif common.causes:
        yield f"what {those} in {common.metric} have in common"
        yield from (f"  {cause}" for cause in common.causes[:MOST_CAUSES])
    elif common.fallen < _FEWEST_FALLS:
        yield f"{those} are too few to tell what they have in common"
    else:
        yield f"no usual cause is common to {those}"


# --- queries and documents -----------------------------------------------------------------------


def _worst(explanation: Explanation) -> Iterator[str]:
    """Yield the queries that fell most, each with its documents."""
    most = _QUERIES - bool(explanation.taken_over)
    shown, units = explanation.worst[:most], explanation.kind.plural
    if not shown:
        return
    of = f", of {explanation.fallen:,}" if explanation.fallen > len(shown) else ""
    part = f" of {quoted(explanation.worst_of)}" if explanation.worst_of else ""
    yield f"  the {units}{part} that {_fell(explanation)} most{of}"
    documents = [_documents(query, explanation) for query in shown]
    places = {place for _, place in documents}
    are_together = len(shown) > 1 and len(places) == 1 and None not in places
    if are_together:
        yield f"    documents: see {documents[0][1]}"
    for query, (lines, place) in zip(shown, documents, strict=True):
        yield f"    {query_line(query, explanation)}"
        if place is None:
            yield from (f"      {line}" for line in lines)
        elif not are_together:
            yield f"      documents: see {place}"


def _documents(query: ExplainedQuery, explanation: Explanation) -> tuple[Sequence[str], str | None]:
    """Return the documents of a query, and where the test session has shown them already."""
    documents = (document_text(explanation, each) for each in query.documents)
    lines = [*islice(packed(documents), _LINES_OF_DOCUMENTS)]
    place = place_of_documents((explanation.golden_set, query.id, *query.top)) if lines else None
    return lines, place


def query_line(query: ExplainedQuery, explanation: Explanation) -> str:
    """Return ``q2 "rain jacket"   0.945 -> 0.640``."""
    text = f' "{quoted(query.text, 80)}"' if query.text not in ("", query.id) else ""
    return f"{quoted(query.id, 60)}{text}   {values_text(query.values, 3, of=explanation)}"


def _fell(explanation: Explanation) -> str:
    if any(failure.bound is not None for failure in explanation.failures):
        return "miss the bound"
    return fell_word(*(failure.metric for failure in explanation.failures))


def document_text(explanation: Explanation, document: RankedDocument) -> str:
    """Return a document with its ranks: ``d184 (grade 3)  1 -> 6``, or ``d184 (grade 3) at 6``."""
    name = named(document.id, document.title)
    now, before = (
        rank.value if isinstance(rank, Absence) else rank
        for rank in (document.now, document.before)
    )
    name += explanation.kind.grade_text(document.grade)
    if before is None:
        return f"{name} {now if isinstance(now, str) else f'at {now}'}"
    return f"{name}  {before} -> {now}"


def _taken_over(explanation: Explanation) -> Iterator[str]:
    """Yield the documents that are in more tops than before, and those that are in none now."""
    for document in explanation.taken_over:
        place = f"is in the top {document.k} of {explanation.kind.counted(document.now)}"
        if not document.now:
            place = f"is in no top {document.k} any more"
        yield f"{named(document.id, document.title)} {place}, {document.before:,} before"


def _unjudged(explanation: Explanation) -> Iterator[str]:
    """Yield how much unjudged documents that are new at the top could explain."""
    unjudged = explanation.unjudged
    if unjudged is None or not unjudged.documents:
        return
    new = plural(unjudged.documents, "new entry", "new entries")
    text = f"{new} in the top {unjudged.k} {'is' if unjudged.documents == 1 else 'are'} unjudged"
    if not math.isnan(unjudged.if_relevant):
        metric, moved = explanation.failures[0].metric, change(unjudged.if_relevant)
        text += f": if all had grade {unjudged.grade:g}, {metric} would differ by {moved}"
    yield text


def _at_most(texts: Sequence[str], most: int, *, in_full: bool) -> Iterator[str]:
    """Yield the remarks; without -v only the first and the last."""
    hidden = len(texts) - most
    if hidden > 0 and not in_full:
        more = f"{plural(hidden + 1, 'more line')}: -v"
        texts = (*texts[: most - 3], more, *texts[-2:])
    yield from texts


def _to_do(explanation: Explanation) -> Iterator[str]:
    bounded = [failure for failure in explanation.failures if failure.bound is not None]
    if bounded:
        yield f"to fix: improve {bounded[0].metric.kind.improved}, or change the bound to {_HELD}"
    if explanation.to_fix:
        yield f"to fix: {explanation.to_fix}"
    yield from map(str, explanation.remedies)
