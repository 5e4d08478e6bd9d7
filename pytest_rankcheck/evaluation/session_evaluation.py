"""The evaluation of a session log: metrics whose unit is the session."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property

from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.judged_sessions import judged_trails
from pytest_rankcheck.evaluation.run_golden_join import Joined
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_registry import Unit
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.sessions.session_log import SessionLog
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["SessionEvaluation", "evaluate_sessions"]


def evaluate_sessions(
    log: SessionLog, judgments: GoldenSet | None = None, *, judged_by: str | None = None
) -> SessionEvaluation:
    """Measure a session log. Lazy: a metric is computed when it is asked for.

    Args:
        log: the sessions.
        judgments: graded judgments of what was shown, for sDCG: a query of it is a state
            (``session.event``, as of `SessionLog.to_golden_set`), or a session.
        judged_by: the attribute of sessions that says which query of ``judgments`` a session is
            about, such as its topic.

    Raises:
        GoldenSetError: no query of ``judgments`` belongs to a session of the log.
    """
    return SessionEvaluation(log, judgments, judged_by)


class SessionEvaluation(Evaluation):
    """The values of session metrics; what other evaluations call a query is a session here.

    In reports, its ranking is what was shown with the session's final selection, or last.
    """

    def __init__(
        self, log: SessionLog, judgments: GoldenSet | None = None, judged_by: str | None = None
    ) -> None:
        run = Run({}, name=log.name, depth=None)
        super().__init__(run, _Sessions(log), Conventions(), Joined({}, ()))
        self.log = log
        self._trails = log.trails
        if judgments is not None:
            self._trails = judged_trails(log, judgments, judged_by)

    @property
    def unit(self) -> Unit:
        """A session."""
        return "session"

    @property
    def missing(self) -> Sequence[str]:
        """None: a log has what it has."""
        return ()

    @property
    def can_swap(self) -> bool:
        """No: there are no rankings with judgments to swap documents in."""
        return False

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the log was read: set aside, ignored, put in order."""
        return self.log.notes

    @property
    def known_depth(self) -> int | None:
        """All the way."""
        return None

    def _computed(self, metric: Metric) -> FloatArray:
        if metric.definition.foreign:
            raise MetricError(f"{metric} is a metric of queries, and these are sessions")
        return metric.compute(self._trails)

    def _why_no_value(self, metric: Metric) -> str:
        """Return what the log lacks."""
        if self._trails.is_abandoned.all():
            return "nothing was selected; which column has selections? columns={'selected': ...}"
        return "the log has no times, perhaps; which column has them? columns={'time': ...}"

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return what was shown with the final selection of a session, or last."""
        return tuple(dict.fromkeys(self.log.final_results(query_id)))

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`."""
        return {doc_id: rank for rank, doc_id in enumerate(self.ranking(query_id), start=1)}

    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Return nothing: a log has no scores."""
        return ()

    def __repr__(self) -> str:
        return f"SessionEvaluation(of {self.log!r})"


class _Sessions(GoldenSet):
    """The sessions of a log as the queries of a golden set: slices, names and selections."""

    kind = "session log"

    def __init__(self, log: SessionLog) -> None:
        contents = Contents()
        for session_id, rank in zip(log.session_ids, log.trails.final_rank.tolist(), strict=True):
            query = Query(session_id, log.final_query(session_id), log.attributes(session_id))
            contents.queries[session_id] = query
            shown = log.final_results(session_id)
            is_known = rank <= len(shown)
            contents.grades[session_id] = {shown[int(rank) - 1]: 1.0} if is_known else {}
        super().__init__(contents, log.name)

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each session: of its id alone.

        What the user did in it is what is measured, not what it is measured on.
        """
        return {
            session_id: hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            for session_id in self.query_ids
        }
