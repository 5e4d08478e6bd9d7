"""An explanation as text: what fell and where, in which queries, what is said of it, what to do.

At most so many metrics, slices, queries and documents are named that it has 40 lines; the evidence
comes on top, with -v and in reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.explanation.explanation import (
    Absence,
    ExplainedQuery,
    ExplainedSlice,
    Explanation,
    MetricFailure,
    RankedDocument,
)
from pytest_rankcheck.explanation.gate_numbers import Decided, GateNumbers
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.reports.text.answers_text import answered_lines
from pytest_rankcheck.reports.text.evidence_text import (
    evidence_lines,
    fell_word,
    group_lines,
    mix_lines,
    p_text,
    replay_lines,
    ties_text,
    unjudged_lines,
)
from pytest_rankcheck.reports.text.verdict_headlines import (
    gap_text,
    query_drops_text,
    verdict_headline,
)
from pytest_rankcheck.reports.text.wording import (
    Documents,
    bound_text,
    bounded_text,
    change,
    common_place,
    documents_once,
    interval_text,
    means_change,
    named,
    number_text,
    packed,
    seen_in,
    set_text,
)

_MOST_LINES = 40
_METRICS = 5
_SLICES = 4
_CAUSES = 3
_QUERIES = 4
_LINES_OF_DOCUMENTS = 2
_CAVEATS = 2
_FACTS = 12
_REMARKS, _REMARKS_ALONE = 5, 20
_FEWEST_FALLS = 7
"""Of fewer, whatever they share may be chance at the level of the tests for causes, 1%."""
_HELD = "a value that the ranker must hold"


def failure_lines(explanation: Explanation, *, in_full: bool = False) -> Sequence[str]:
    """Return the whole text; the first line is the headline.

    Args:
        explanation: what to say.
        in_full: whether with the evidence.
    """
    most = _REMARKS if explanation.failures else _REMARKS_ALONE
    start = [
        headline(explanation),
        *numbers_lines(explanation, in_full=in_full),
        *(f"  {text}" for text in explanation.caveats[:_CAVEATS]),
        *_at_most(explanation.facts, _FACTS, in_full=in_full),
        *_slices(explanation),
        *_in_common(explanation),
        *_worst(explanation),
        *_taken_over(explanation),
        *_unjudged(explanation, in_full=in_full),
    ]
    end = [*_at_most(explanation.remarks, most, in_full=in_full), *_to_do(explanation)]
    room = None if in_full else _MOST_LINES - len(start) - len(end)
    return [*start, *answered_lines(explanation, room), *end]


def remark_lines(explanation: Explanation) -> Sequence[str]:
    """Return what reports show besides numbers, slices, queries and commands."""
    failures = explanation.failures
    evidence = [
        f"{each.metric}: {line.strip()}" if len(failures) > 1 else line
        for each in failures
        if each.verdict
        for line in evidence_lines(each.verdict)
    ]
    heading, *causes = [*map(str.strip, _in_common(explanation))] or [""]
    lines = [
        *evidence,
        *_besides_numbers(explanation),
        *explanation.caveats,
        f"{heading}: {'; '.join(causes)}" if causes else heading,
        *_taken_over(explanation),
        *_unjudged(explanation, in_full=True),
        *explanation.remarks,
    ]
    return [line.strip() for line in lines if line]


# --- the first line ------------------------------------------------------------------------------


def headline(explanation: Explanation) -> str:
    """Return what failed, in a line."""
    failures, where = explanation.failures, set_text(explanation.kind, explanation.golden_set)
    if explanation.headline:
        return explanation.headline
    some = f"{len(failures)} of {explanation.of} metrics"
    if len(failures) == 1:
        start = f"{some} failed: " if explanation.of > 1 else ""
        return start + _alone(failures[0], explanation, where)
    size = explanation.kind.counted(explanation.queries)
    if failures[0].bound is not None:
        return f"{some} are beyond their bounds on {where} ({size})"
    verdicts = [each.verdict for each in failures if each.verdict]
    lost = verdicts[0].lost_answers
    verdicts = [each for each in verdicts if not each.only_loses_answers]
    if lost is not None and not verdicts:
        return f"{explanation.before_headline}{lost.text} on {where}"
    some = f"{len(verdicts)} of {explanation.of} metrics"
    rulings, gates = (
        {Outcome(each.outcome).ruling for each in verdicts},
        {each.gate for each in verdicts},
    )
    words = {"regressed": "regressed", "inconclusive": "are inconclusive"}
    word = words.get(rulings.pop(), "failed") if len(rulings) == 1 else "failed"
    regressed = (each for each in explanation.slices if each.outcome is Outcome.REGRESSED)
    most = next((each for each in regressed if each.fell_most), None)
    place = f", most in {quoted(most.label)}" if most else ""
    allowed = f"; allowed: {gates.pop()}" if len(gates) == 1 else ""
    groups = verdicts[0].groups
    if groups is not None:
        other, tested = map(quoted, groups.names)
        where = f"{set_text(explanation.kind, groups.log)}, {tested} against {other}"
    return f"{explanation.before_headline}{some} {word} on {where} ({size}){place}{allowed}"


def _alone(failure: MetricFailure, explanation: Explanation, where: str) -> str:
    if failure.verdict is not None:
        return explanation.before_headline + verdict_headline(failure.verdict, where)
    leading = failure.leading
    assert failure.bound is not None
    assert leading is not None
    if leading.label:
        where = f"{quoted(leading.label)} of {where}"
    size = failure.metric.kind.counted(leading.queries)
    held = bounded_text(failure.bound, leading)
    return f"{failure.metric} is {held} on {where} ({size}); it must be {bound_text(failure.bound)}"


# --- numbers -------------------------------------------------------------------------------------


def numbers_lines(explanation: Explanation, *, in_full: bool = False) -> Iterator[str]:
    """Yield the numbers of each metric that failed."""
    failures = explanation.failures
    verdict = failures[0].verdict if failures else None
    if len(failures) > 1 or explanation.headline:
        yield from _table(explanation, in_full=in_full)
    elif verdict is not None:
        yield from _of_one(failures[0], verdict)
        if in_full:
            yield from evidence_lines(verdict)
    yield from _besides_numbers(explanation)
    if verdict is not None and verdict.ties is not None and verdict.ties.decides and not in_full:
        yield f"  {ties_text(verdict.metric, verdict.ties, has_slices=bool(verdict.slices))}"


def _besides_numbers(explanation: Explanation) -> Iterator[str]:
    """Yield what is said of the first verdict besides its numbers."""
    verdict = explanation.failures[0].verdict if explanation.failures else None
    if verdict is None:
        return
    lost = verdict.lost_answers
    if lost is not None and lost.blocks and lost.text not in headline(explanation):
        yield f"  {lost.text}"
    if verdict.groups is not None:
        yield from (f"  {line}" for line in group_lines(verdict.groups))
    yield from (f"  {line}" for line in islice(mix_lines(verdict), 2))
    if verdict.replay is not None:
        yield from (f"  {line}" for line in replay_lines(verdict.replay))


def _of_one(failure: MetricFailure, verdict: GateNumbers) -> Iterator[str]:
    """Yield the counts of the only metric that failed, whose means are in the headline."""
    if failure.metric.kind.single:
        yield f"  {failure.metric.kind.single}{interval_text(failure.interval)}"
    else:
        yield f"  {'; '.join((counts_text(verdict.leading, verdict), *_crossed(failure)))}"
    if verdict.leading.label:
        overall = verdict.overall
        everything = verdict.metric.kind.counted(overall.queries)
        mix = verdict.standardised_by
        where = "" if mix is None else f", at the baseline's mix of {quoted(mix, 60)}"
        yield f"  all {everything}{where}: {means_change(overall.before, overall.now)}"
    yield from (f"  {text}" for text in _broken_limits(verdict))


def _table(explanation: Explanation, *, in_full: bool) -> Iterator[str]:
    """Yield a line for each of several metrics that failed."""
    failures = explanation.failures
    rows = [_cells(failure) for failure in failures]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for failure, row in islice(zip(failures, rows, strict=True), _METRICS):
        cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        yield f"  {'; '.join(('   '.join(cells).rstrip(), *_besides(failure)))}"
        if in_full and failure.verdict is not None:
            yield from (f"  {line}" for line in evidence_lines(failure.verdict))
    if len(failures) > _METRICS:
        names = ", ".join(str(each.metric) for each in failures[_METRICS:])
        yield f"  and {plural(len(failures) - _METRICS, 'more metric')}: {quoted(names, 200)}"


def _cells(failure: MetricFailure) -> Sequence[str]:
    """Return the name of a metric, its means, how many queries changed, and p."""
    if failure.bound is not None and failure.leading is not None:
        where = f" in {quoted(failure.leading.label)}" if failure.leading.label else ""
        held = bounded_text(failure.bound, failure.leading)
        return [str(failure.metric), f"{held}{where}", f"must be {bound_text(failure.bound)}"]
    assert failure.verdict is not None
    overall = failure.verdict.overall
    means = f"{number_text(overall.before)} -> {number_text(overall.now)}"
    counts = f"{failure.metric.kind.single}{interval_text(failure.interval)}"
    if not failure.metric.kind.single:
        counts = counts_text(overall, failure.verdict)
    tested = "" if math.isnan(overall.p) else f"p {p_text(overall.p)}"
    return [str(failure.metric), means, change(overall.difference), counts, tested]


def _besides(failure: MetricFailure) -> Iterator[str]:
    """Yield what else is said of one of several metrics, after its numbers."""
    yield from _crossed(failure)
    if failure.verdict is not None:
        yield from _broken_limits(failure.verdict)


def _broken_limits(verdict: GateNumbers) -> Iterator[str]:
    if verdict.query_drops:
        yield query_drops_text(verdict)
    if verdict.wide_gap is not None:
        yield gap_text(verdict.wide_gap, verdict.max_gap)


def _crossed(failure: MetricFailure) -> Iterator[str]:
    crossing = failure.crossing
    if crossing is not None:
        documents = plural(crossing.left, "relevant document")
        yield f"{documents} left the top {crossing.k}, {crossing.entered:,} entered"


def counts_text(part: Decided, verdict: GateNumbers) -> str:
    """Return ``38 queries worse, 21 better, 166 equal``; for two samples, their sizes."""
    counted = verdict.metric.kind.counted
    if part.earlier is not None:
        then, now = quoted(verdict.sides.before), quoted(verdict.sides.now)
        return (
            f"{counted(part.earlier)} {then}, {part.queries:,} {now}: different sessions, so "
            "compared as two samples"
        )
    return f"{counted(part.losses or 0)} worse, {part.wins:,} better, {part.ties:,} equal"


def _slices(explanation: Explanation) -> Iterator[str]:
    """Yield a line for each slice, with all metrics that failed."""
    slices = explanation.slices
    yield from (f"  {slice_line(part, explanation)}" for part in slices[:_SLICES])
    if len(slices) > _SLICES:
        yield f"  and {plural(len(slices) - _SLICES, 'more slice')}"


def slice_line(part: ExplainedSlice, explanation: Explanation) -> str:
    """Return ``locale=de (40 queries, regressed)   RR 1.0000 -> 0.7500``."""
    is_bounded = any(before is None for before, _ in part.means.values())
    remark = {
        Outcome.REGRESSED: ", beyond the bound" if is_bounded else ", regressed",
        Outcome.INCONCLUSIVE: ", inconclusive",
        Outcome.NOT_GATED: ", too few to gate",
    }.get(part.outcome, ", untested" if part.is_untested else "")
    size = explanation.kind.counted(part.queries)
    means = "   ".join(_values(part.means, 4, of=explanation))
    return f"{quoted(part.label)} ({size}{remark})   {means}"


def _values(
    values: Mapping[str, tuple[float | None, float]], digits: int, *, of: Explanation
) -> Iterator[str]:
    """Yield ``nDCG@10, RR 1.000 -> 0.000``: metrics with the same values together."""
    together: dict[str, list[str]] = {}
    for name, (before, now) in values.items():
        text = number_text(now, digits)
        text = text if before is None else f"{number_text(before, digits)} -> {text}"
        together.setdefault(text, []).append(name)
    for text, names in together.items():
        yield text if len(of.failures) == 1 else f"{', '.join(names)} {text}"


def _in_common(explanation: Explanation) -> Iterator[str]:
    """Yield what the queries that fell have in common."""
    common = explanation.in_common
    if common is None:
        return
    verb = fell_word(common.metric)
    those = f"the {common.fallen:,} {common.metric.kind.plural} that {verb}"
    if common.fallen < 2:
        yield from (f"  {cause}" for cause in common.causes)
    elif common.causes:
        yield f"  what {those} in {common.metric} have in common"
        yield from (f"    {cause}" for cause in common.causes[:_CAUSES])
    elif common.fallen < _FEWEST_FALLS:
        yield f"  {those} are too few to tell what they have in common"
    else:
        yield f"  {those} have nothing in common that was looked for"


# --- queries and documents -----------------------------------------------------------------------


def _worst(explanation: Explanation) -> Iterator[str]:
    """Yield the queries that fell most, each with its documents."""
    most = _QUERIES - bool(explanation.taken_over)
    shown, units = explanation.worst[:most], explanation.kind.plural
    if not shown:
        return
    of = f", of {explanation.fallen:,}" if explanation.fallen > len(shown) else ""
    yield f"  the {units} that {_fell(explanation)} most{of}"
    documents = [_documents(query, explanation) for query in shown]
    everywhere = common_place(documents)
    if everywhere:
        yield f"    {seen_in(everywhere)}"
    for query, each in zip(shown, documents, strict=True):
        yield f"    {query_line(query, explanation)}"
        yield from each.beside(everywhere)


def _documents(query: ExplainedQuery, explanation: Explanation) -> Documents:
    indent = " " * 6
    documents = (document_text(explanation, each) for each in query.documents)
    lines = islice(packed(documents, indent), _LINES_OF_DOCUMENTS)
    return documents_once(explanation.golden_set, query.id, query.top, lines, indent)


def query_line(query: ExplainedQuery, explanation: Explanation) -> str:
    """Return ``q2 "rain jacket"   0.945 -> 0.640``."""
    text = f' "{quoted(query.text, 80)}"' if query.text not in ("", query.id) else ""
    values = "   ".join(_values(query.values, 3, of=explanation))
    return f"{quoted(query.id, 60)}{text}   {values}"


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
    if before is None and document.was_seen:
        return f"{name} at {now}, seen before"
    grade = explanation.kind.grade_text(document.grade)
    name += " (seen before)" if document.was_seen else grade
    if before is None:
        return f"{name} {now if isinstance(now, str) else f'at {now}'}"
    return f"{name}  {before} -> {now}"


def _taken_over(explanation: Explanation) -> Iterator[str]:
    """Yield which documents are in more tops than before, and which are in none now."""
    for document in explanation.taken_over:
        place = f"is in the top {document.k} of {explanation.kind.counted(document.now)}"
        if not document.now:
            place = f"is in no top {document.k} any more"
        yield f"  {named(document.id, document.title)} {place}, {document.before:,} before"


def _unjudged(explanation: Explanation, *, in_full: bool) -> Iterator[str]:
    """Yield what unjudged documents could explain: in full, or the bound of the new ones."""
    unjudged = explanation.unjudged
    if unjudged is None:
        return
    if in_full:
        yield from unjudged_lines(unjudged)
    elif unjudged.documents:
        new = plural(unjudged.documents, "new entry", "new entries")
        text = f"  {new} in the top {unjudged.k}"
        text += f" {'is' if unjudged.documents == 1 else 'are'} unjudged"
        if not math.isnan(unjudged.if_relevant):
            metric = explanation.failures[0].metric
            text += (
                f": if all had grade {unjudged.grade:g}, {metric} would differ by "
                f"{change(unjudged.if_relevant)}"
            )
        yield text


def _at_most(texts: Sequence[str], most: int, *, in_full: bool) -> Iterator[str]:
    """Yield what is said besides; without -v the first and the last."""
    hidden = len(texts) - most
    if hidden > 0 and not in_full:
        more = f"{plural(hidden + 1, 'more line')}: -v"
        texts = (*texts[: most - 3], more, *texts[-2:])
    yield from (f"  {text}" for text in texts)


def _to_do(explanation: Explanation) -> Iterator[str]:
    bounded = [failure for failure in explanation.failures if failure.bound is not None]
    if bounded:
        yield f"  to fix: improve {bounded[0].metric.kind.improved}, or change the bound to {_HELD}"
    if explanation.to_fix:
        yield f"  to fix: {explanation.to_fix}"
    yield from (f"  {remedy}" for remedy in explanation.remedies)
