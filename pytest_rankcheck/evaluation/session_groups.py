"""Two groups of sessions in one log, such as those of an experiment."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.errors import SessionLogError, listed, quoted, suggestion
from pytest_rankcheck.evaluation.session_evaluation import SessionEvaluation

__all__ = ["SessionGroups", "session_groups"]


@dataclass(frozen=True, slots=True)
class SessionGroups:
    """Two groups that have no independent unit in common."""

    tested: SessionEvaluation
    other: SessionEvaluation
    units: tuple[int, int]
    """How many independent units the other and the tested group have."""
    in_both: int
    """How many units were found in both groups, and left out of both."""
    left_out: int
    """How many sessions they had."""


def session_groups(evaluation: SessionEvaluation, by: str, group: str, than: str) -> SessionGroups:
    """Return two groups of the sessions of a log, as evaluations of their own.

    A unit that is in both groups, such as a user who was in both arms of an experiment, is left out
    of both: what it does in one group is not independent of the other.

    Args:
        evaluation: the sessions.
        by: the attribute that tells the groups apart.
        group: its value in the group that is tested.
        than: its value in the group that it is compared with.

    Raises:
        GoldenSetError: no session has the attribute.
        SessionLogError: a group has no sessions, none that is in one group only, or both groups
            are the same.
    """
    slices = evaluation.slices(by)
    for name in (group, than):
        if name not in slices:
            raise SessionLogError(
                f"session log '{quoted(evaluation.name)}' has no session with {quoted(by)}="
                f"{quoted(name)}{suggestion(name, slices)}; its values are {listed(list(slices))}"
            )
    if group == than:
        raise SessionLogError(
            f"a group cannot be compared with itself: {quoted(by)}={quoted(group)}"
        )
    names = evaluation.cluster_names or evaluation.query_ids
    places = [evaluation.places(slices[name]) for name in (than, group)]
    other, tested = ({names[place] for place in of_group} for of_group in places)
    shared = other & tested
    kept = [[place for place in of_group if names[place] not in shared] for of_group in places]
    left_out = sum(map(len, places)) - sum(map(len, kept))
    for name, of_group in zip((than, group), kept, strict=True):
        if not of_group:
            raise SessionLogError(
                f"session log '{quoted(evaluation.name)}': all sessions with {quoted(by)}="
                f"{quoted(name)} belong to units that are in both groups ({len(shared):,} of them)"
            )
    parts = [
        evaluation.part(of_group, f"{by}={name}, {evaluation.name}")
        for name, of_group in zip((than, group), kept, strict=True)
    ]
    return SessionGroups(
        parts[1], parts[0], (len(other - shared), len(tested - shared)), len(shared), left_out
    )
