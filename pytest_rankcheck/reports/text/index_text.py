"""The texts about an index whose answers change with its documents when they should not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.behaviour.document_changes import ChangedDocument, DocumentResult
from pytest_rankcheck.behaviour.index_relations import IndexAnswer, IndexResult
from pytest_rankcheck.behaviour.perturbation_limits import DirectionLimits, InvarianceLimits
from pytest_rankcheck.behaviour.record_fields import changed_fields
from pytest_rankcheck.behaviour.relation_rules import RELATIONS
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.reports.text.compared_text import (
    DO,
    DO_NOT,
    answer_lines,
    changed_value,
    count_text,
    failed_lines,
    limit_lines,
    loosening,
    means_text,
    moved_text,
    worst_lines,
)
from pytest_rankcheck.reports.text.wording import number_text, query_in, ranker_on

__all__ = ["document_note", "document_text", "relation_note", "relation_text"]

_LABELS = ("before", "after")
_MOST_FIELDS = 3
"""How many changed fields of a document are shown."""


def relation_note(golden: GoldenSet, result: IndexResult) -> str:
    """Return in one line how many answers break a relation, and what the check cost."""
    parts = [f"{_broken(result)} in the top {result.k}, mean RBO {number_text(result.mean_rbo)}"]
    if result.judged:
        parts.append(means_text(result))
    if result.unranked:
        parts.append(f"no document is ranked for {listed(result.unranked)}")
    parts.append(_cost(result))
    return f"relation '{result.name}', {_subject(golden, result)}: {'; '.join(parts)}"


def relation_text(golden: GoldenSet, result: IndexResult, limits: InvarianceLimits) -> str:
    """Return how a relation is broken, with the worst queries, and why it is not a law."""
    rule = RELATIONS[result.name]  # type: ignore[index]

    def trial_lines(trial: IndexAnswer) -> Iterator[str]:
        yield f"    {query_in(golden, trial.query.id)}{moved_text(result, trial)}"
        if trial.problem:
            yield f"      {trial.problem}"
        yield from answer_lines(golden, trial, _LABELS)

    problems = [trial.query.id for trial in result.trials if trial.problem]
    lines = [
        f"relation '{result.name}' does not hold for {_subject(golden, result)}",
        f"  if {rule.change}, {rule.holds.format(k=result.k)}",
        f"  {_broken(result)}: mean RBO {number_text(result.mean_rbo)} (p={result.p:g})",
        f"  {_cost(result)}",
        *limit_lines(result, limits),
        *_problem_lines(result, problems, limits.allowed_queries),
        *failed_lines(result),
        *worst_lines(limits.beyond(result) or result.by_query, limits.severity, trial_lines),
        f"  not a law: {rule.caveat}",
    ]
    loosened = loosening(result, limits)
    if loosened:
        lines.append(f"  to allow what is harmless: {loosened}")
    return "\n".join(lines)


def document_note(
    golden: GoldenSet, result: DocumentResult, limits: DirectionLimits, kind: str
) -> str:
    """Return in one line how many changed documents moved, and what the check cost."""
    parts = [_rule(limits), f"{result.moved:,} of {plural(len(result.trials), 'document')} moved"]
    if result.failed:
        parts.append(f"the ranker fails on {listed(result.failed)}")
    elif result.trials and not result.moved:
        parts[-1] += ", so the ranker may not depend on the change"
    parts += [*_left(result), _cost(result)]
    return f"{kind} '{quoted(result.name)}', {_subject(golden, result)}: {'; '.join(parts)}"


def document_text(
    golden: GoldenSet,
    result: DocumentResult,
    limits: DirectionLimits,
    beyond: Mapping[str, Sequence[ChangedDocument]],
    kind: str,
) -> str:
    """Return which changed documents move in the wrong direction, with both rankings."""
    lines = [
        (
            f"{kind} '{quoted(result.name)}' moves documents in the wrong direction: "
            f"{_subject(golden, result)}"
        ),
        f"  {'; '.join((*_left(result), _cost(result)))}",
    ]
    rule = RELATIONS.get(result.name) if kind == "relation" else None  # type: ignore[call-overload]
    if rule is not None:
        lines.append(f"  if {rule.change}, {rule.holds}")
    count = ""
    if limits.of == "query":
        verb = DO_NOT if callable(limits.direction) else DO
        count = count_text(beyond, result.by_query, limits.allowed_queries, verb)
    else:
        count = f"{result.mean_gain:+.2f} ranks" if result.trials else ""
    lines += [f"  {_rule(limits)}: {count}", *failed_lines(result)]

    def trial_lines(trial: ChangedDocument) -> Iterator[str]:
        yield f"    {query_in(golden, trial.query.id)}   {_move(trial)}"
        if kind == "change":
            yield from _change_lines(trial)
        yield from answer_lines(golden, trial, _LABELS)

    lines += worst_lines(beyond or result.by_query, limits.severity, trial_lines)
    if rule is not None:
        lines.append(f"  not a law: {rule.caveat}")
        lines.append("  to allow what is harmless: allowed_queries=")
    return "\n".join(lines)


def _rule(limits: DirectionLimits) -> str:
    """Return what must hold for each changed document, or for their mean."""
    if callable(limits.direction):
        return f"{quoted(name_of(limits.direction))} must hold for every changed document"
    verb = "rise" if limits.direction == "not_better" else "fall"
    subject = "the mean rank" if limits.of == "mean" else "no document"
    slack = ""
    if limits.slack:
        slack = f" by more than {limits.slack:g} {'rank' if limits.slack == 1 else 'ranks'}"
    return f"{subject} {'must not' if limits.of == 'mean' else 'may'} {verb}{slack}"


def _move(trial: ChangedDocument) -> str:
    """Return ``d7: rank 2 -> 5``."""
    if trial.failure is not None:
        after = "the ranker fails"
    else:
        after = "not ranked" if trial.rank_after is None else str(trial.rank_after)
    return f"{quoted(trial.doc_id, 60)}: rank {trial.rank_before} -> {after}"


def _change_lines(trial: ChangedDocument) -> Iterator[str]:
    """Yield the changed fields of a document, or the whole document if it has no fields."""
    pairs = changed_fields(trial.document, trial.changed)
    if not pairs:
        pairs = {trial.doc_id: (trial.document, trial.changed)}
    shown = [
        f"{quoted(name, 40)}: {changed_value(old, new, 60)}"
        for name, (old, new) in list(pairs.items())[:_MOST_FIELDS]
    ]
    more = [f"{len(pairs) - _MOST_FIELDS} more"] if len(pairs) > _MOST_FIELDS else []
    yield f"      changed  {'; '.join((*shown, *more))}"


def _problem_lines(result: IndexResult, problems: Sequence[str], allowed: int) -> Iterator[str]:
    if problems and result.name == "duplicate":
        count = count_text(problems, result.by_query, allowed, DO_NOT)
        yield f"  every copy must be ranked like its original: {count}"
    elif problems:
        yield f"  the removed document is still ranked for {listed(problems)}"


def _broken(result: IndexResult) -> str:
    broken = sum(trial.is_wrong or trial.before != trial.after for trial in result.trials)
    verb = "breaks" if broken == 1 else "break"
    return f"{broken:,} of {plural(len(result.trials), 'query', 'queries')} {verb} it"


def _left(result: DocumentResult) -> Sequence[str]:
    if not result.unchanged:
        return []
    return [f"no document changed for {plural(len(result.unchanged), 'query', 'queries')}"]


def _subject(golden: GoldenSet, result: IndexResult | DocumentResult) -> str:
    """Return the ranker, the golden set, how many of its queries were asked, and the documents."""
    left = result.unranked if isinstance(result, IndexResult) else result.unchanged
    asked = len(result.by_query) + len(left)
    size = plural(len(golden), "query", "queries")
    share = size if asked == len(golden) else f"{asked:,} of {size}"
    documents = plural(result.documents, "document")
    return ranker_on(result.ranker, golden, f"{share}, {documents}")


def _cost(result: IndexResult | DocumentResult) -> str:
    return f"{plural(result.builds, 'index', 'indexes')} built, {plural(result.calls, 'call')}"
