"""The contents of a log: its events by session, and how each session ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.metrics.metric_inputs import Trails
from pytest_rankcheck.sessions.event_frames import Events, FrameLike
from pytest_rankcheck.sessions.log_cells import is_placeholder
from pytest_rankcheck.sessions.log_columns import USER_NAMES
from pytest_rankcheck.sessions.log_sources import SetAside

_FEWEST = 10
"""With fewer values, an attribute has kinds of users, such as web and app, not users."""


@dataclass(frozen=True)
class LogContents:
    """The contents of a log, and what was set aside while reading it."""

    events: Events
    attributes: Sequence[Mapping[str, object]]
    """The attributes of each session."""
    varying: Sequence[str]
    """The columns that change within a session and therefore are not attributes."""
    set_aside: SetAside
    notes: Sequence[str]
    """What was unusual, as sentences."""
    reading: str
    """The options that decide the outcomes of sessions; empty with the usual ones."""

    @property
    def session_ids(self) -> Sequence[str]:
        """The sessions, in the order in which they appear."""
        return self.events.session_ids

    @cached_property
    def starts(self) -> IntArray:
        """Where the events of each session begin, and where the last one's end, ``[S + 1]``."""
        return np.append(0, np.cumsum(self.events.sizes))

    @cached_property
    def places(self) -> IntArray:
        """The place of each event in its session, from 1, ``[N]``."""
        places: IntArray = np.arange(len(self.events)) - np.repeat(
            self.starts[:-1], np.diff(self.starts)
        )
        return places + 1

    def units_by(self, attribute: str) -> Sequence[str]:
        """Return the independent unit of each session: the value of an attribute.

        A session without a value, or with a placeholder such as "unknown", is a unit of its own.
        """
        values = [each.get(attribute) for each in self.attributes]
        named = [None if value is None else label_of(value) for value in values]
        labels = [None if each is None or is_placeholder(each) else each for each in named]
        pairs = zip(labels, self.session_ids, strict=True)
        return [f"(session {own})" if label is None else label for label, own in pairs]

    @cached_property
    def repeated_users(self) -> tuple[str, Counter[object]] | None:
        """The attribute that names users with several sessions, and how many each has.

        Of several such attributes, the one with the fewest users.
        """
        counts: dict[str, Counter[object]] = {}
        for session in self.attributes:
            for name, value in session.items():
                if normalised_name(name) in USER_NAMES:
                    counts.setdefault(name, Counter())[value] += 1
        found = [(name, of) for name, of in counts.items() if _FEWEST <= len(of) < of.total()]
        return min(found, key=lambda each: len(each[1]), default=None)

    @cached_property
    def queries(self) -> Sequence[str | None]:
        """The query text of each event; None without one."""
        queries: Sequence[str | None] = self.events.frame["query"].array
        return queries

    @cached_property
    def results(self) -> Sequence[Sequence[str] | None]:
        """The documents that each event showed; None where unknown."""
        results: Sequence[Sequence[str] | None] = self.events.frame["results"].array
        return results


def trails_of(log: LogContents) -> Trails:
    """Return the trails of all sessions as one block."""
    events, count = log.events, len(log.session_ids)
    session, time = events.column("session"), events.column("time")
    chosen = ordered_selections(log)
    event, rank = chosen["event"].to_numpy(), chosen["rank"].to_numpy(dtype=np.float64)
    owner = session[event]
    selected_at = np.where(chosen["time"].isna(), time[event], chosen["time"])
    starts = _by_session(events.column("start"), session, count, "min")
    begin = np.where(np.isnan(starts), time[log.starts[:-1]], starts)
    last = _by_session(events.column("end"), session, count, "max")
    latest = np.fmax(last, _by_session(selected_at, owner, count, "max"))
    final, final_rank = np.full(count, np.nan), np.full(count, np.nan)
    final[owner], final_rank[owner] = log.places[event], rank  # the last assignment wins
    once = ~chosen.duplicated(["event", "rank"]).to_numpy()
    shown = events.column("count")[log.starts[1:] - 1].astype(np.float64)
    return Trails(
        events=np.diff(log.starts).astype(np.float64),
        final_rank=final_rank,
        final_event=final,
        shown_last=np.where(shown < 0, np.nan, shown),
        click_rank=_by_session(rank[once], owner[once], count, "mean"),
        duration=latest - begin,
        first_selection=_by_session(selected_at, owner, count, "min") - begin,
        selected_in=owner.astype(np.intp),
        selected_rank=rank,
        selected_grade=chosen["grade"].to_numpy(),
    )


def ordered_selections(log: LogContents) -> FrameLike:
    """Return the selections by event, and those of each event with the final one last.

    The final selection is the last in time; among simultaneous ones, or if not all times are known,
    the one highest in the list.
    """
    chosen = log.events.selections
    if chosen["event"].is_unique:
        return chosen
    is_untimed = chosen["time"].isna().groupby(chosen["event"]).transform("any")
    order = np.lexsort((-chosen["rank"], chosen["time"].where(~is_untimed, 0.0), chosen["event"]))
    return chosen.iloc[order].reset_index(drop=True)


def final_events(log: LogContents) -> IntArray:
    """Return the last event with a selection in each session, -1 without one, ``[S]``."""
    final = np.full(len(log.session_ids), -1, dtype=np.int64)
    event = log.events.selections["event"].to_numpy()
    final[log.events.column("session")[event]] = event  # the last assignment wins
    return final


def _by_session(
    values: IntArray | FloatArray, session: IntArray, count: int, how: str
) -> FloatArray:
    """Return the least, largest or mean value of each session, NaN without one, ``[S]``."""
    found = pd.Series(values).groupby(session).agg(how).reindex(range(count))
    return found.to_numpy(dtype=np.float64)
