"""Joining a session log with graded judgments of what it showed, for metrics of gain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.evaluation.run_golden_join import hits_of
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query_slices import label_of
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.rankers.query_hits import found_in_order
from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["judged_trails"]


def judged_trails(log: SessionLog, judgments: GoldenSet, judged_by: str | None) -> Trails:
    """Return the trails of a log with the judged hits of what each event showed.

    Args:
        log: the sessions.
        judgments: queries that are states (``session.event``), sessions, or what an attribute of
            sessions says.
        judged_by: that attribute.

    Raises:
        GoldenSetError: none of the queries belongs to a state or session of the log.
    """
    rows, grades, sessions, places = [], [], [], []
    for state in log.states():
        judged = _judgments(judgments, state.id, state.session_id, log, judged_by)
        if judged is None:
            continue
        found = found_in_order(tuple(dict.fromkeys(state.results)), judged)
        rows.append(found)
        grades.append(judged)
        sessions.append(state.session)
        places.append(state.place)
    if not rows:
        raise GoldenSetError(
            f"golden set '{quoted(judgments.name)}' judges no state of session log "
            f"'{quoted(log.name)}': it has the queries {listed(judgments.query_ids, 3)}, the log "
            f"the sessions {listed(log.session_ids, 3)}; is judged_by= the attribute that links "
            "them?"
        )
    hits = hits_of(rows, grades, judgments.max_grade)
    return log.trails.judged(
        hits, np.array(sessions, dtype=np.intp), np.array(places, dtype=np.float64)
    )


def _judgments(
    judgments: GoldenSet, state_id: str, session_id: str, log: SessionLog, judged_by: str | None
) -> Mapping[str, float] | None:
    """Return the grades that hold for a state; None if nobody judged it."""
    if judged_by is not None:
        about = label_of(log.attributes(session_id).get(judged_by))
        return judgments.grades(about) if about in judgments else None
    for query_id in (state_id, session_id):
        if query_id in judgments:
            return judgments.grades(query_id)
    return None
