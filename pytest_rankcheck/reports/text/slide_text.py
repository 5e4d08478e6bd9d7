"""The guard against the slide in words: small falls that have added up since the best."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.reports.text.wording import number_text

__all__ = ["slide_headline", "slide_lines", "slide_off_text"]


def slide_headline(check: Check) -> str:
    """Return how far a mean is from the best, such as ``0.4081 is 0.0231 below 0.4312, ...``."""
    assert check.verdict is not None
    assert check.slide is not None
    assert check.slide.slide is not None
    now, distance = check.verdict.overall.pairs.mean_after, check.slide.slide.distance
    side = "below" if check.metric.higher_is_better else "above"
    return (
        f"{number_text(now)} is {number_text(distance)} {side} {number_text(check.best)}, "
        "the best ever approved"
    )


def slide_lines(check: Check) -> Iterator[str]:
    """Yield since when a mean has slid, what noise explains, and where to look for the rest."""
    assert check.slide is not None
    assert check.slide.slide is not None
    slide, since = check.slide.slide, check.slide.since
    changes = plural(slide.steps, "change")
    if since is None:
        yield f"{changes} since then (rankcheck_slide_steps)"
    elif since.commit is None:
        yield f"{changes} since then: the best is not committed yet"
    else:
        yield f"{changes} since then: {since.commit} approved the best on {since.date}"
    fall = number_text(slide.fall)
    if slide.approved:
        approved = number_text(slide.approved)
        yield f"{approved} of this was approved with a reason, the other {fall} was not"
    yield (
        f"noise explains a fall of {number_text(slide.budget)}, which {1 - slide.level:.0%} of "
        "innocent sequences of changes never exceed"
    )
    if since is not None and since.commit is not None:
        until = quoted(since.until, 100)
        yield f"merged since then: git log --first-parent {since.commit}..{until}"


def slide_off_text(why: str) -> str:
    """Return why the guard is off, and what to do."""
    return (
        f"{why}; without history, set rankcheck_slide_steps to the number of changes that were "
        'merged since the baselines were last raised, or say rankcheck_slide = "off"'
    )
