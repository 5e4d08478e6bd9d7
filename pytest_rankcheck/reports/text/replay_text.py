"""What a verdict on a replayed log rests on, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.gates.explanations import ReplayEvidence
from pytest_rankcheck.reports.text.wording import number_text

__all__ = ["open_reason", "replay_lines"]


def open_reason(evidence: ReplayEvidence) -> str:
    """Return why a replay decides nothing: it has ``leaves_open``."""
    reasons = []
    if evidence.has_unseen:
        is_now = evidence.unseen_now > evidence.max_unseen
        reasons.append(_unseen(evidence, "new" if is_now else "previous"))
    if evidence.flips:
        reasons.append("the verdict depends on the propensity")
    return ", and ".join(reasons)


def replay_lines(evidence: ReplayEvidence) -> Iterator[str]:
    """Yield the documents that were never shown, and the verdicts under other propensities."""
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
    if evidence.under:
        rulings = "; ".join(
            f"under {each.propensity} {number_text(each.before)} -> {number_text(each.now)}, "
            f"{each.ruling}"
            for each in evidence.under
        )
        yield f"{rulings}; under the propensity of the replay it is {evidence.ruling}"


def _unseen(evidence: ReplayEvidence, which: str) -> str:
    share = evidence.unseen_now if which == "new" else evidence.unseen_before
    return f"{share:.0%} of the {which} top {evidence.k} was never shown to anyone"
