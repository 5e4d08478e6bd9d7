"""The evaluation of a session log, whose unit is the session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import (
    GoldenSetError,
    MetricError,
    listed,
    plural,
    quoted,
)
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.run_golden_join import hits_of_lists
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.metrics.metric_definition import KINDS
from pytest_rankcheck.metrics.metric_inputs import Trails
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.sessions.session_log import SessionLog, SessionState


@checked_arguments
def evaluate_sessions(
    log: SessionLog,
    judgments: GoldenSet | None = None,
    *,
    judged_by: str | None = None,
    clustered: str | None = None,
) -> Evaluation:
    """Measure a session log. Metrics are computed when they are first needed.

    Args:
        log: the sessions.
        judgments: graded judgments of what was shown, for sDCG. Each of its queries is a state
            (``session.event``, as in `SessionLog.to_golden_set`), or a session.
        judged_by: the attribute of sessions that names the query of ``judgments`` that a session
            is about, such as its topic.
        clustered: the attribute of sessions whose values are the independent units, such as
            ``"user"``; without it, that of `SessionLog.clustered`, else each session is one.

    Raises:
        GoldenSetError: no query of ``judgments`` belongs to a session of the log.
        SessionLogError: no session has the attribute ``clustered``.
    """
    if clustered is not None:
        log = log.clustered(clustered)
    trails = log.trails if judgments is None else _judged_trails(log, judgments, judged_by)
    return Evaluation(MeasuredLog(log, trails))


def _judged_trails(log: SessionLog, judgments: GoldenSet, judged_by: str | None) -> Trails:
    """Return the trails of a log with the judged hits among the documents of each event.

    Args:
        log: the log.
        judgments: a golden set whose queries are the states, the sessions or the topics of the log.
        judged_by: the attribute of sessions whose values are its queries; None: the ids of states,
            or else of sessions, are.

    Raises:
        GoldenSetError: no state is judged.
    """
    judged = [
        (state, grades)
        for state in log.states()
        if (grades := _judgments(judgments, state, log, judged_by)) is not None
    ]
    if not judged:
        raise GoldenSetError(
            f"golden set '{quoted(judgments.name)}' judges no state of session log "
            f"'{quoted(log.name)}': it has the queries {listed(judgments.query_ids, 3)}, the log "
            f"the sessions {listed(log.session_ids, 3)}; is judged_by= the attribute that links "
            "them?"
        )
    rankings = [tuple(dict.fromkeys(state.results)) for state, _ in judged]
    hits = hits_of_lists(rankings, [grades for _, grades in judged], judgments.scale)
    sessions = np.array([state.session for state, _ in judged], dtype=np.intp)
    places = np.array([state.place for state, _ in judged], dtype=np.float64)
    return replace(log.trails, states=hits, session_of=sessions, place_of=places)


def _judgments(
    judgments: GoldenSet, state: SessionState, log: SessionLog, judged_by: str | None
) -> Mapping[str, float] | None:
    """Return the grades that apply to a state; None if it is not judged."""
    names = [state.id, state.session_id]
    if judged_by is not None:
        names = [label_of(log.attributes(state.session_id).get(judged_by))]
    return next((judgments.grades(name) for name in names if name in judgments), None)


class MeasuredLog(Source):
    """A session log, in which a session is what a query is in other sources.

    The ranking of a session in reports is what was shown with its final selection; without a
    selection, what was shown last.
    """

    kind = KINDS["session"]

    def __init__(self, log: SessionLog, trails: Trails) -> None:
        super().__init__(log.name, None, _SessionsAsQueries(log), Conventions(reading=log.reading))
        self.log, self._trails = log, trails

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the log was read, and users who have several sessions."""
        found = self.log.repeated_users
        if self.log.cluster_by is not None or found is None:
            return self.log.notes
        name, sessions = quoted(found[0]), found[1]
        dependent = (
            f"the attribute '{name}' repeats: {len(sessions):,} of its values have "
            f"{plural(sessions.total(), 'session')}, up to {max(sessions.values()):,} each, so "
            "sessions are not independent, but gates and intervals assume that they are; set "
            f'rankcheck_session_clusters = "{name}", or evaluate_sessions(log, '
            f'clustered="{name}")'
        )
        return [*self.log.notes, dependent]

    def inputs(self, metric: Metric) -> Iterator[tuple[Trails, Sequence[str]]]:
        """Yield the trails of all sessions."""
        yield self._trails, self.query_ids

    def returned(self, metric: Metric) -> FloatArray:
        """Return the value of each session."""
        if metric.definition.ir_measures:
            raise MetricError(f"{metric} is a metric of queries, and these are sessions")
        return super().returned(metric)

    def hint_for_no_value(self, metric: Metric) -> str:
        """Return what the log may lack, and what to do."""
        if self._trails.is_abandoned.all():
            return "nothing was selected; which column has selections? columns={'selected': ...}"
        return "the log may have no times; which column has them? columns={'time': ...}"

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return what was shown with the final selection of a session, or last."""
        return tuple(dict.fromkeys(self.log.final_results(query_id)))

    def __repr__(self) -> str:
        return repr(self.log)


class _SessionsAsQueries(JudgedQueries):
    """The sessions of a log in the form of queries: names, attributes and final selections."""

    kind = "session log"

    def __init__(self, log: SessionLog) -> None:
        builder = ContentsBuilder()
        for session_id, rank in zip(log.session_ids, log.trails.final_rank.tolist(), strict=True):
            query = Query(session_id, log.final_query(session_id), log.attributes(session_id))
            builder.queries[session_id] = query
            results = log.final_results(session_id)
            is_known = rank <= len(results)
            selected = {results[int(rank) - 1]: 1.0} if is_known else {}
            builder.collected.add_all(session_id, selected)
        super().__init__(builder.built(cluster_by=log.cluster_by), log.name)
        self.clusters = log.cluster_names
        # the highest grade of a selection
        self.max_grade = float(log.trails.selected_grade.max(initial=1.0))

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each session's id.

        What the user did in a session is the measurement, not part of the golden set.
        """
        return {
            session_id: hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            for session_id in self.query_ids
        }
