"""A simulated log in several forms: a row per search, per impression or click, or per action.

The users, their searches, what they saw and what they clicked are the same in all forms, so every
session metric has the same value where a form has what the metric needs.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SHOWN = 5
START = 1_700_000_000


@dataclass(frozen=True)
class Click:
    """A click on a result."""

    rank: int
    """From 1."""
    time: float


@dataclass(frozen=True)
class Search:
    """A search of a session."""

    session: str
    number: int
    """Its number in the session, from 1."""
    time: float
    documents: tuple[str, ...]
    clicks: tuple[Click, ...]

    @property
    def id(self) -> str:
        """The id of the search, unique in the log."""
        return f"{self.session}-{self.number}"


def searches(sessions: int = 300, seed: int = 18) -> list[Search]:
    """Return the searches of some sessions: 1 to 4 in each, with no, one or two clicks."""
    rng = np.random.default_rng(seed)
    made, time = [], float(START)
    for session in range(sessions):
        time += 3600
        for number in range(1, 1 + int(rng.integers(1, 5))):
            time += float(rng.integers(20, 200))
            documents = tuple(f"d{place}" for place in rng.permutation(40)[:SHOWN].tolist())
            count = int(rng.choice(3, p=(0.6, 0.3, 0.1)))
            ranks = rng.choice(SHOWN, count, replace=False, p=np.array([40, 25, 15, 12, 8]) / 100)
            clicks = []
            for rank in ranks.tolist():
                time += float(rng.integers(2, 15))
                clicks.append(Click(rank + 1, time))
            made.append(
                Search(f"s{session}", number, _start(clicks, time), documents, tuple(clicks))
            )
    return made


def _start(clicks: list[Click], time: float) -> float:
    return clicks[0].time - 2 if clicks else time


def per_search(log: list[Search]) -> list[dict[str, Any]]:
    """Return one row per search, with a list of clicks."""
    return [
        {
            "session_id": search.session,
            "event": search.number,
            "time": search.time,
            "query": f"query {search.id}",
            "results": list(search.documents),
            "clicks": [{"rank": click.rank, "time": click.time} for click in search.clicks],
        }
        for search in log
    ]


def per_impression(log: list[Search], flag: str = "is_click") -> list[dict[str, Any]]:
    """Return one row per impression, which says whether it was clicked, and when."""
    rows = []
    for search in log:
        times = {click.rank: click.time for click in search.clicks}
        for rank, document in enumerate(search.documents, start=1):
            rows.append(
                {
                    "session_id": search.session,
                    "search_id": search.id,
                    "time": search.time,
                    "query": f"query {search.id}",
                    "doc_id": document,
                    "position": rank,
                    flag: int(rank in times),
                    "click_time": times.get(rank),
                }
            )
    return rows


def per_action(log: list[Search], search_id: str | None = "search_id") -> list[dict[str, Any]]:
    """Return one row per impression, and another per click; the id of the search may be absent."""
    rows = []
    for search in log:
        about = {"session_id": search.session, "query": f"query {search.id}"}
        if search_id:
            about[search_id] = search.id if search_id != "event" else search.number  # type: ignore[assignment]
        for rank, document in enumerate(search.documents, start=1):
            item = {"time": search.time, "doc_id": document, "position": rank}
            rows.append({**about, **item, "action_name": "impression"})
        for click in search.clicks:
            document = search.documents[click.rank - 1]
            item = {"time": click.time, "doc_id": document, "position": click.rank}
            rows.append({**about, **item, "action_name": "click"})
    return rows


def of_sessions(path: Path) -> list[dict[str, Any]]:
    """Return one row per search of a file with a session in each line."""
    sessions = map(json.loads, path.read_text("utf-8").splitlines())
    shared = ("session", "topic", "start")
    return [
        {**{name: session[name] for name in shared}, **event}
        for session in sessions
        for event in session["events"]
    ]
