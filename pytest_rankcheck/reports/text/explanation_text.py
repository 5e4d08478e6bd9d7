"""What may explain a difference, in words: mixes, replays, groups, unjudged documents."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rankcheck.comparison.unjudged_documents import Unjudged
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import (
    Decision,
    GroupEvidence,
    ReplayEvidence,
    Verdict,
)
from pytest_rankcheck.reports.text.evidence_text import p_text
from pytest_rankcheck.reports.text.wording import change


def mix_lines(verdict: Verdict) -> Iterator[str]:
    """Yield ``+0.0210 at the baseline's mix of device; -0.0510 is mix``, by attribute."""
    for effect in verdict.mixes:
        name, gone, decided = quoted(effect.attribute, 60), "", ""
        if effect.missing_share:
            gone = f" (without slices that had {effect.missing_share:.1%} of it and are gone)"
        if effect.attribute == verdict.standardised_by:
            decided = f", which decides; as it is, {change(effect.at_mix + effect.mix)}"
        yield (
            f"{change(effect.at_mix)} at {quoted(effect.of)}'s mix of {name}{gone}{decided}; "
            f"{change(effect.mix)} is mix"
        )


def open_reason(evidence: ReplayEvidence) -> str:
    """Return why a replay decides nothing: it has ``leaves_open``."""
    is_now = evidence.unseen_now > evidence.max_unseen
    return _unseen(evidence, "new" if is_now else "previous")


def replay_lines(evidence: ReplayEvidence) -> Iterator[str]:
    """Yield how many documents at the top were never shown."""
    for which, share in (("new", evidence.unseen_now), ("previous", evidence.unseen_before)):
        if share:
            remark = "counts as not relevant"
            if which == "new" and evidence.without_unseen == "regressed":
                remark += ", but without these documents it is regressed as well"
            elif share > evidence.max_unseen:
                remark += (
                    f", which is more than max_unseen={evidence.max_unseen:g}: judge these "
                    "documents, or replay a log that shows them"
                )
            yield f"{_unseen(evidence, which)} and {remark}"


def _unseen(evidence: ReplayEvidence, which: str) -> str:
    share = evidence.unseen_now if which == "new" else evidence.unseen_before
    return f"{share:.0%} of the {which} top {evidence.k} was never shown to anyone"


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


def unjudged_lines(unjudged: Unjudged) -> Iterator[str]:
    """Yield how many unjudged documents there are, and the bounds if known; nothing without any."""
    if not unjudged.documents and not unjudged.left:
        return
    yield f"  {_counts(unjudged)}"
    if math.isnan(unjudged.if_irrelevant):
        return
    irrelevant, grade = change(unjudged.if_irrelevant), f"grade {unjudged.grade:g}"
    bounds = [f"if all were irrelevant, the difference would be {irrelevant}"]
    if unjudged.documents:
        bounds.append(f"if the new had {grade}, {change(unjudged.if_relevant)}")
        grade = "it"
    if unjudged.left and not math.isnan(unjudged.if_left_relevant):
        bounds.append(f"if those that left had {grade}, {change(unjudged.if_left_relevant)}")
    yield f"    {'; '.join(bounds)}"


def _counts(unjudged: Unjudged) -> str:
    left = f" and {unjudged.left:,} that left it" if unjudged.left else ""
    start = f"unjudged: {plural(unjudged.documents, 'document')} new in the top {unjudged.k}{left}"
    judged = f"Judged@{unjudged.k} {unjudged.judged_before:.3f} -> {unjudged.judged_after:.3f}"
    return f"{start}, counted as not relevant; {judged}"
