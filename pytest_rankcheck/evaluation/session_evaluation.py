"""The evaluation of a session log: metrics whose unit is the session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    MetricError,
    SessionLogError,
    listed,
    plural,
    quoted,
)
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.judged_trails import judged_trails, with_states
from pytest_rankcheck.evaluation.value_checks import computed_values
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.sampled_queries import SampledQueries
from pytest_rankcheck.metrics.metric_definition import Unit
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["SessionEvaluation", "evaluate_sessions"]


@checked_arguments
def evaluate_sessions(
    log: SessionLog,
    judgments: GoldenSet | None = None,
    *,
    judged_by: str | None = None,
    clustered: str | None = None,
) -> SessionEvaluation:
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
    trails = log.trails if judgments is None else judged_trails(log, judgments, judged_by)
    return SessionEvaluation(log, trails, "" if judgments is None else judgments.fingerprint)


class SessionEvaluation(Evaluation):
    """The values of session metrics: what other evaluations call a query is a session here.

    The ranking of a session in reports is what was shown with its final selection; without a
    selection, what was shown last. Make one with `evaluate_sessions`.
    """

    _makes_parts = "evaluate_sessions(log)"

    def __init__(self, log: SessionLog, trails: Trails, judged_on: str = "") -> None:
        super().__init__(log.name, None, _SessionsAsQueries(log), Conventions(reading=log.reading))
        self.log = log
        self._trails = trails
        self.judged_on = judged_on
        """The fingerprint of the judgments of what was shown; empty without judgments."""
        self._version = package_version()
        self._copies = 0

    @classmethod
    def merged(
        cls,
        parts: Sequence[SessionEvaluation],
        golden: GoldenSet | None,
        expected: int | Sequence[str] | None,
        name: str | None,
    ) -> SessionEvaluation:
        """Return the evaluation of all parts of a log together. See `Evaluation.merge`."""
        if golden is not None:
            raise ConfigurationError(
                "golden is for parts of a run; give judgments of what sessions showed to "
                "evaluate_sessions(log, judgments)"
            )
        _check_parts(parts)
        shown = name or (parts[0].name if len(parts) == 1 else f"log of {len(parts):,} parts")
        log, kept, copies = SessionLog.joined([part.log for part in parts], shown)
        _check_expected(parts, kept, log, expected)
        trails = log.trails
        if parts[0]._trails.states is not None:
            trails = with_states(trails, [part._trails for part in parts], kept)
        whole = SessionEvaluation(log, trails, parts[0].judged_on)
        whole._copies = copies
        return whole

    @property
    def unit(self) -> Unit:
        """What has a value: each session."""
        return "session"

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the log was read, and users who have several sessions."""
        copied = []
        if self._copies:
            count = plural(self._copies, "session")
            copied = [f"{count} repeated in another part, with the same events; each counts once"]
        return [*self.log.notes, *copied, *self._user_notes()]

    def _user_notes(self) -> Iterator[str]:
        """Yield that sessions are not independent, if an attribute says so and no cluster does."""
        repeated = self.log.repeated_users
        if self.log.cluster_by is not None or not repeated:
            return
        found = repeated[0]
        metrics = [metric for metric in self.computed if metric.definition.is_mean_of_values]
        metric = metrics[0] if metrics else Metric.parse("SuccessRate")
        effect = self.design_effect(metric, found.attribute)
        of_metric = ""
        if effect > 1:
            of_metric = f"; the variance of {metric} is {effect:.1f} times that of independent ones"
        name = quoted(found.attribute)
        yield (
            f"the attribute '{name}' repeats: {found.users:,} of its values have "
            f"{plural(found.sessions, 'session')}, up to {found.most:,} each, so sessions are not "
            f"independent, but gates and intervals take them to be{of_metric}; set "
            f'rankcheck_session_clusters = "{name}", or evaluate_sessions(log, '
            f'clustered="{name}")'
        )

    @property
    def known_depth(self) -> int | None:
        """None: the whole list that was shown is known."""
        return None

    def _computed(self, metric: Metric) -> FloatArray:
        if metric.definition.ir_measures:
            raise MetricError(f"{metric} is a metric of queries, and these are sessions")
        return computed_values(metric, self._trails, self.query_ids)

    def _hint_for_no_value(self) -> str:
        if self._trails.is_abandoned.all():
            return "nothing was selected; which column has selections? columns={'selected': ...}"
        return "the log has no times, perhaps; which column has them? columns={'time': ...}"

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return what was shown with the final selection of a session, or last."""
        return tuple(dict.fromkeys(self.log.final_results(query_id)))

    def part(self, places: Sequence[int], name: str) -> SessionEvaluation:
        """Return some of the sessions, by their places in `query_ids`, with the same values."""
        return _PartOfSessions(self, places, name)

    def __repr__(self) -> str:
        return f"SessionEvaluation(of {self.log!r})"


def _check_parts(parts: Sequence[SessionEvaluation]) -> None:
    """Refuse anything but evaluations of log parts, and parts that were read differently."""
    first = parts[0]
    for part in parts:
        if not isinstance(part, SessionEvaluation) or isinstance(part, _PartOfSessions):
            raise ConfigurationError(
                f"parts: {quoted(repr(part), 60)} is not the evaluation of a part of a log; make "
                "each with evaluate_sessions(SessionLog.load(path))"
            )
        for words, own, other in (
            ("reading options", part.log.reading, first.log.reading),
            ("clusters", part.log.cluster_by, first.log.cluster_by),
            ("judgments", part.judged_on, first.judged_on),
            ("versions of pytest-rankcheck", part._version, first._version),
        ):
            if own != other:
                raise SessionLogError(
                    f"parts '{quoted(first.name)}' and '{quoted(part.name)}' have different "
                    f"{words}: '{quoted(other)}' and '{quoted(own)}'; evaluate all parts in the "
                    "same way"
                )
    if first._version != package_version():
        raise SessionLogError(
            f"part '{quoted(first.name)}' was made by pytest-rankcheck {quoted(first._version)}, "
            f"but this is {package_version()}; install the same version everywhere"
        )


def _check_expected(
    parts: Sequence[SessionEvaluation],
    kept: Sequence[IntArray],
    log: SessionLog,
    expected: int | Sequence[str] | None,
) -> None:
    """Refuse the parts if some expected ones are missing, or if there are too many."""
    if isinstance(expected, int):
        count = sum(len(places) > 0 for places in kept)
        if count != expected:
            raise SessionLogError(
                f"{plural(expected, 'different part was', 'different parts were')} expected, but "
                f"there are {count:,}: {listed([part.name for part in parts])}"
            )
    elif expected is not None:
        known = set(log.session_ids)
        lacking = [each for each in expected if each not in known]
        if lacking:
            raise SessionLogError(
                f"{plural(len(lacking), 'expected session is', 'expected sessions are')} in no "
                f"part: {listed(lacking)}; evaluate the parts that are missing"
            )


class _PartOfSessions(SessionEvaluation):
    """Some sessions of an evaluation; values are those of the whole."""

    def __init__(self, whole: SessionEvaluation, places: Sequence[int], name: str) -> None:
        log = whole.log.part(places, name)
        super().__init__(log, log.trails, whole.judged_on)
        self._whole, self._at = whole, np.asarray(places, dtype=np.intp)

    @property
    def notes(self) -> Sequence[str]:
        """Those of the whole log."""
        return self._whole.notes

    def _computed(self, metric: Metric) -> FloatArray:
        return self._whole.values(metric)[self._at].copy()


class _SessionsAsQueries(SampledQueries):
    """The sessions of a log in the form of queries: names, attributes and final selections."""

    kind = "session log"

    def __init__(self, log: SessionLog) -> None:
        contents = Contents()
        for session_id, rank in zip(log.session_ids, log.trails.final_rank.tolist(), strict=True):
            query = Query(session_id, log.final_query(session_id), log.attributes(session_id))
            contents.queries[session_id] = query
            results = log.final_results(session_id)
            is_known = rank <= len(results)
            selected = {results[int(rank) - 1]: 1.0} if is_known else {}
            contents.collected.add_all(session_id, selected)
        contents.cluster_by = log.cluster_by
        self._units = log.cluster_names
        super().__init__(contents, log.name)
        self._max_grade = float(log.trails.selected_grade.max(initial=1.0))

    @property
    def max_grade(self) -> float:
        """The highest grade of a selection, at least 1."""
        return self._max_grade

    @property
    def clusters(self) -> Sequence[str] | None:
        """The independent unit of each session; None if each session is one."""
        return self._units

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each session's id.

        What the user did in a session is what is measured, not what it is measured on.
        """
        return {
            session_id: hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            for session_id in self.query_ids
        }
