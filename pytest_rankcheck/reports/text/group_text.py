"""Two groups of one log, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.explanations import GroupEvidence
from pytest_rankcheck.gates.verdict import Decision, Outcome, Verdict

__all__ = ["group_headline", "group_lines"]

_WORDS = {
    Outcome.REGRESSED: "is worse than",
    Outcome.INCONCLUSIVE: "cannot be compared with",
}


def group_headline(verdict: Verdict, leading: Decision, means: str, why: str) -> str:
    """Return ``SuccessRate of group=B is worse than that of group=A: 0.62 -> 0.55, ...``."""
    groups = verdict.groups
    assert groups is not None
    other, tested = map(quoted, groups.names)
    where = f" in {quoted(leading.label)}" if leading.label else ""
    if groups.leaves_open:
        return (
            f"{verdict.metric} of {tested} cannot be compared with that of {other}: the groups do "
            f"not have the planned sizes; {means}"
        )
    word = "is inconclusive against" if verdict.inconclusive else "is worse than"
    return f"{verdict.metric} of {tested}{where} {word} that of {other}: {means}; {why}"


def group_lines(groups: GroupEvidence) -> Iterator[str]:
    """Yield the sizes of the groups, and which units were left out."""
    (before, now), (other, tested) = groups.units, map(quoted, groups.names)
    singular = groups.unit.removesuffix("s")
    sizes = f"{plural(now, singular)} of {tested}, {before:,} of {other}"
    planned = f"{groups.ratio:g} planned for each one"
    if groups.leaves_open:
        yield (
            f"{sizes}, but {planned}: chance explains such sizes with p = {groups.ratio_p:.2g}, so "
            "the groups were not assigned or logged as planned, and may differ in more than the "
            "ranker; find out why before you compare them"
        )
    else:
        yield f"{sizes}; {planned} (chi-square p = {groups.ratio_p:.2g})"
    if groups.in_both:
        are = "was" if groups.in_both == 1 else "were"
        yield (
            f"{plural(groups.in_both, singular)} {are} in both groups and left out, with "
            f"{plural(groups.left_out, 'session')}"
        )
