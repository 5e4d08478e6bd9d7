"""The judged hits in the trails of a session log: found with a golden set, or merged from parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.evaluation.run_golden_join import hits_of_lists
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["judged_trails", "with_states"]


def judged_trails(log: SessionLog, judgments: GoldenSet, judged_by: str | None) -> Trails:
    """Return the trails of a log with the judged hits among the documents of each event.

    Args:
        log: the log.
        judgments: a golden set whose queries are the states, the sessions or the topics of the log.
        judged_by: the attribute of sessions whose values are its queries; None: the ids of states,
            or else of sessions, are.

    Raises:
        GoldenSetError: no state is judged.
    """
    rows, grades, sessions, places = [], [], [], []
    for state in log.states():
        judged = _judgments(judgments, state.id, state.session_id, log, judged_by)
        if judged is None:
            continue
        rows.append(tuple(dict.fromkeys(state.results)))
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
    hits = hits_of_lists(rows, grades, judgments.scale)
    return log.trails.judged(
        hits, np.array(sessions, dtype=np.intp), np.array(places, dtype=np.float64)
    )


def _judgments(
    judgments: GoldenSet, state_id: str, session_id: str, log: SessionLog, judged_by: str | None
) -> Mapping[str, float] | None:
    """Return the grades that apply to a state; None if it is not judged."""
    if judged_by is not None:
        topic = label_of(log.attributes(session_id).get(judged_by))
        return judgments.grades(topic) if topic in judgments else None
    for query_id in (state_id, session_id):
        if query_id in judgments:
            return judgments.grades(query_id)
    return None


def with_states(whole: Trails, parts: Sequence[Trails], kept: Sequence[IntArray]) -> Trails:
    """Return the trails of a whole log, with the judged hits from its parts.

    Args:
        whole: the trails of all sessions.
        parts: the trails of each part, with their judged hits.
        kept: for each part, the places of its sessions that the whole log keeps, in its order.
    """
    states, sessions, places, before = list[JudgedHits](), [], [], 0
    for trails, own in zip(parts, kept, strict=True):
        assert trails.states is not None
        assert trails.session_of is not None
        assert trails.place_of is not None
        number = np.full(len(trails.events), -1, np.int64)
        number[own] = np.arange(before, before + len(own))
        before += len(own)
        chosen = np.flatnonzero(number[trails.session_of] >= 0)
        states.append(_rows(trails.states, chosen))
        sessions.append(number[trails.session_of[chosen]].astype(np.intp))
        places.append(trails.place_of[chosen])
    return whole.judged(_stacked(states), np.concatenate(sessions), np.concatenate(places))


def _rows(hits: JudgedHits, rows: IntArray) -> JudgedHits:
    return JudgedHits(
        hits.ranks[rows], hits.grades[rows], hits.retrieved[rows], hits.ideal[rows], hits.max_grade
    )


def _stacked(blocks: Sequence[JudgedHits]) -> JudgedHits:
    return JudgedHits(
        _padded([block.ranks for block in blocks]),
        _padded([block.grades for block in blocks]),
        np.concatenate([block.retrieved for block in blocks]),
        _padded([block.ideal for block in blocks]),
        blocks[0].max_grade,
    )


def _padded(matrices: Sequence[FloatArray]) -> FloatArray:
    """Stack matrices on top of each other, padding narrower ones with NaN."""
    width = max(matrix.shape[1] for matrix in matrices)
    return np.concatenate(
        [
            np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])), constant_values=np.nan)
            for matrix in matrices
        ]
    )
