"""The sessions of a log: what users did, how it ended, and its replay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import (
    SessionLogError,
    listed,
    plural,
    quoted,
    suggestion,
    unknown_id,
)
from pytest_rankcheck.golden.log_replay import MAX_UNSEEN
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.sessions.log_notes import notes_of
from pytest_rankcheck.sessions.log_problems import SetAside
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import event_places, final_events, trails_of
from pytest_rankcheck.sessions.repeated_users import RepeatedUsers, repeated_users
from pytest_rankcheck.sessions.replays.propensity import Propensity
from pytest_rankcheck.sessions.replays.replay import queries_of_log, state_ids
from pytest_rankcheck.sessions.replays.replay_options import RelevanceModel, ReplayOptions, States

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.sessions.replays.estimated_propensity import EstimatedPropensity

__all__ = ["LoggedSessions", "SessionState"]


@dataclass(frozen=True, slots=True)
class SessionState:
    """An event of a session, as a query of a replay."""

    id: str
    session: int
    """The index of its session in the log, from 0."""
    session_id: str
    place: int
    """Its place in the session, from 1."""
    results: Sequence[str]
    """What was shown, best first."""


class LoggedSessions:
    """Sessions that were read: their events, what was shown, what was selected.

    Args:
        contents: what was read.
        name: what messages and records call the log.
        cluster_by: the attribute whose values are the independent units; None: each session is one.
    """

    def __init__(
        self, contents: LogContents, name: str = "session log", cluster_by: str | None = None
    ) -> None:
        self.name = name
        self._contents = contents
        self.cluster_by = cluster_by
        """The attribute whose values are the independent units; None: each session is one."""

    @checked_arguments
    def clustered(self, by: str) -> Self:
        """Return the log with its sessions grouped into independent units, such as users.

        Sessions of one user are not independent. Intervals, tests and replays of the result keep
        them together. A session without the attribute is a unit of its own.

        Args:
            by: the attribute whose values are the units, such as ``"user"``.

        Raises:
            SessionLogError: no session has this attribute.
        """
        if by not in self.attribute_names:
            varying = self._contents.varying
            why = "; it changes within a session" if by in varying else ""
            raise SessionLogError(
                f"session log '{quoted(self.name)}' has no attribute '{quoted(by)}'"
                f"{suggestion(by, self.attribute_names)}{why}; its attributes: "
                f"{listed(self.attribute_names, 12) or 'none'}"
            )
        return type(self)(self._contents, self.name, by)

    @classmethod
    def joined(
        cls, logs: Sequence[LoggedSessions], name: str
    ) -> tuple[Self, Sequence[IntArray], int]:
        """Return the sessions of several parts of a log together, each once.

        Also returns the places of the sessions that were taken from each part, and how many
        sessions were repeated.

        Raises:
            SessionLogError: a session has different events in two parts.
        """
        from pytest_rankcheck.sessions.merged_logs import merged_log

        merged = merged_log([log.name for log in logs], [log._contents for log in logs])
        return cls(merged.contents, name, logs[0].cluster_by), merged.kept, merged.copies

    def part(self, places: Sequence[int], name: str) -> Self:
        """Return some sessions as a log, by their places in `session_ids`, in the same order."""
        return type(self)(self._contents.part(places), name, self.cluster_by)

    @cached_property
    def attribute_names(self) -> Sequence[str]:
        """The attributes that some session has."""
        return tuple(dict.fromkeys(name for each in self._contents.attributes for name in each))

    @cached_property
    def repeated_users(self) -> Sequence[RepeatedUsers]:
        """The attributes that name users, some of whom have several sessions."""
        return repeated_users(self._contents.attributes)

    @cached_property
    def cluster_names(self) -> Sequence[str] | None:
        """The independent unit of each session, ``[S]``; None: each session is one."""
        by = self.cluster_by
        return None if by is None else self._contents.units_by(by)

    @property
    def session_ids(self) -> Sequence[str]:
        """The sessions, in the order in which they appear."""
        return self._contents.session_ids

    def __len__(self) -> int:
        return len(self.session_ids)

    @property
    def event_count(self) -> int:
        """The number of events in all sessions."""
        return len(self._contents.events)

    @property
    def set_aside(self) -> SetAside:
        """What a lenient reading skipped; empty for a strict one."""
        return self._contents.set_aside

    @property
    def reading(self) -> str:
        """The options that decide what the sessions came to, as text; empty with the usual ones."""
        return self._contents.reading

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the log was read, as sentences: skipped, ignored, put in order."""
        return notes_of(self._contents)

    def attributes(self, session_id: str) -> Mapping[str, object]:
        """Return the attributes of a session.

        Raises:
            UnknownIdError: the log has no such session; a KeyError.
        """
        return self._contents.attributes[self._place_of(session_id)]

    @cached_property
    def trails(self) -> Trails:
        """How each session ended, in the order of `session_ids`."""
        contents = self._contents
        return trails_of(contents.events, len(self))

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per event, in order.

        Columns: ``session_id``; ``event``, the place from 1 in the session; ``time``, seconds;
        ``query``; ``results``; ``selected``, 1-based ranks.
        """
        return self._contents.frame()

    def states(self) -> Iterator[SessionState]:
        """Yield the events in order, with the ids that they have as queries."""
        contents = self._contents
        places = event_places(contents.events, len(self)).tolist()
        for number, state_id in enumerate(state_ids(contents)):
            session = int(contents.events.session[number])
            yield SessionState(
                state_id,
                session,
                self.session_ids[session],
                places[number],
                contents.results_at(number),
            )

    def final_query(self, session_id: str) -> str | None:
        """Return the last query text of a session, or None without a text.

        Raises:
            UnknownIdError: the log has no such session.
        """
        return self._contents.query_at(self._last[self._place_of(session_id)])

    def final_results(self, session_id: str) -> Sequence[str]:
        """Return what was shown with the final selection, or last; empty if that is unknown.

        Raises:
            UnknownIdError: the log has no such session.
        """
        return self._contents.results_at(self._last[self._place_of(session_id)])

    @checked_arguments
    def to_golden_set(
        self,
        states: States = "last",
        *,
        propensity: Propensity | None = None,
        clip: float | None = None,
        unselected: bool = False,
        uncorrected: bool = False,
        sensitivity: Sequence[Propensity] = (),
        relevance: RelevanceModel | None = None,
        max_unseen: float = MAX_UNSEEN,
        name: str | None = None,
    ) -> GoldenSet:
        """Return the states of the search as queries, with the selections as judgments.

        The id of a query is ``session.event``, and its candidates are the results that were shown.
        A selected result has the grade of its selection, 1 where the log does not say;
        ``Run.from_candidates`` is the order in which users saw them. Intervals and tests on the set
        keep each session together, or each unit that `clustered` names.

        Args:
            states: ``"last"``: the state of each session with its final selection; ``"all"``: all
                states with a selection; ``"prefixes"``: all states up to the one with the final
                selection, each judged by that.
            propensity: the probability that a user looks at a rank, ``"power(1)"`` or a table;
                selections, and all means, are weighted by its inverse. None: all count the same,
                which favours what the old ranker put on top. In a table, ``(alpha, beta)`` is for
                users who also select what is not good: they select a document of relevance r with
                the probability alpha r + beta.
            clip: a propensity below this counts as this (0.05).
            unselected: whether states without a selection are queries too, without a judgment
                (not with ``"prefixes"``); every metric of relevance is 0 there.
            uncorrected: whether gates may compare with the order of the log without a propensity.
            sensitivity: other propensities; a gate whose verdict is not the same under all of them
                is inconclusive.
            relevance: a model of relevance: given the text of a query and the ids of documents, how
                likely each is relevant, in [0, 1]. Estimates are then doubly robust.
            max_unseen: if a larger share of a new top k was never shown, gates are inconclusive.
            name: what messages and records call the set; without it, the name of the log.

        Raises:
            SessionLogError: it is unknown what was shown, or nothing was selected.
            ConfigurationError: an argument is invalid.
        """
        from pytest_rankcheck.golden.golden_set import GoldenSet

        choice = ReplayOptions(
            states=states,
            propensity=propensity,
            clip=clip,
            unselected=unselected,
            uncorrected=uncorrected,
            sensitivity=sensitivity,
            relevance=relevance,
            max_unseen=max_unseen,
        )
        contents = queries_of_log(self._contents, choice, self.name, self.cluster_by)
        return GoldenSet(contents, name or self.name)

    @checked_arguments
    def estimate_propensity(
        self, by: str, *, irrelevant: Mapping[str, Collection[str]] | None = None
    ) -> EstimatedPropensity:
        """Return how likely users look at each rank, from the sessions of two or more rankers.

        If two rankers show a document at different ranks for the same query, it is as good at
        both, so its selections differ by how often users look there (intervention harvesting:
        Agarwal, Zaitsev, Wang, Li, Najork and Joachims, Estimating position bias without intrusive
        interventions, WSDM 2019). It is assumed that chance decided which ranker a session saw,
        and that users only select what is good, unless ``irrelevant`` shows how often they do not.

        Args:
            by: the attribute of the sessions that says which ranker they saw.
            irrelevant: by query text, documents that are known not to be good. How often they are
                selected is beta, and the result has (alpha, beta) of each rank where they were
                shown: the affine correction of Vardasbi, Oosterhuis and de Rijke, CIKM 2020.

        Raises:
            ConfigurationError: no session has the attribute, or all have the same value.
            SessionLogError: it is unknown what was shown, no document that was selected was shown
                at different ranks, or no irrelevant document was shown.
        """
        from pytest_rankcheck.sessions.replays.estimated_propensity import estimated_propensity

        return estimated_propensity(self._contents, by, self.name, irrelevant)

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {session_id: place for place, session_id in enumerate(self.session_ids)}

    def _place_of(self, session_id: str) -> int:
        try:
            return self._place[session_id]
        except KeyError:
            owner = f"session log '{quoted(self.name)}'"
            raise unknown_id(owner, "session", session_id, self._place) from None

    @cached_property
    def _last(self) -> Sequence[int]:
        """The event with the final selection of each session, or its last event."""
        contents = self._contents
        final = final_events(contents.events, len(self))
        return [
            last if chosen < 0 else chosen
            for chosen, last in zip(final.tolist(), contents.last_events.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'session')}, {plural(self.event_count, 'event')}"
        aside = f", {self.set_aside}" if self.set_aside else ""
        return f"SessionLog({self.name!r}, {size}{aside})"
