"""Two groups of one log, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.explanations import GroupEvidence
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.reports.text.evidence_text import p_text

__all__ = ["group_headline", "group_lines"]


def group_headline(verdict: Verdict, leading: Decision, means: str, why: str) -> str:
    """Return ``SuccessRate of group=B is worse than that of group=A on session log 'week': ...``.

    Args:
        verdict: a verdict on two groups.
        leading: the decision that it rests on.
        means: the means of both groups.
        why: what the difference was held against.
    """
    groups = verdict.groups
    assert groups is not None
    other, tested = map(quoted, groups.names)
    log = f"on session log '{quoted(groups.log)}'"
    if groups.leaves_open:
        return (
            f"{verdict.metric} of {tested} cannot be compared with that of {other} {log}: the "
            f"groups do not have the planned sizes; {means}"
        )
    where = f" in {quoted(leading.label)}" if leading.label else ""
    word = "is inconclusive against" if verdict.inconclusive else "is worse than"
    return f"{verdict.metric} of {tested}{where} {word} that of {other} {log}: {means}; {why}"


def group_lines(groups: GroupEvidence) -> Iterator[str]:
    """Yield the sizes of the groups, and which units were left out."""
    (before, now), (other, tested) = groups.units, map(quoted, groups.names)
    singular, p = groups.unit.removesuffix("s"), p_text(groups.ratio_p)
    sizes = f"{plural(now, singular)} of {tested} and {before:,} of {other}"
    planned = f"{groups.ratio:g} of {tested} for each one of {other}"
    if groups.leaves_open:
        yield (
            f"{sizes}, but the plan was {planned}: chance does not explain this (chi-square "
            f"test, p {p}), so the groups were not assigned or logged as planned and may differ in "
            "more than the ranker; find out why before you compare them"
        )
    else:
        yield f"{sizes}; the plan was {planned} (chi-square test, p {p})"
    if groups.in_both:
        are = "was" if groups.in_both == 1 else "were"
        yield (
            f"{plural(groups.in_both, singular)} {are} in both groups and left out, with "
            f"{plural(groups.left_out, 'session')}"
        )
