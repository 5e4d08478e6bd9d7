"""Simulate a log: people who know which symbol they want, and type until they see it.

The user model, in full:

- A user wants one symbol, a document of the highest grade of a query in the golden set, and types
  the text of that query: the first half of it, then all of it, then the symbol's own name.
- After each text, ten results of the ranker are shown. The user looks at rank r with the
  probability 1/r, whatever else is shown (the position-based model of Richardson, Dominowska and
  Ragno, WWW 2007; so the propensity of a replay is ``power(1)``), and selects the symbol if they
  look at it.
- A user who does not find it gives up, or goes on typing. After the last text, the user gives up.
- Typing takes 2 s plus a quarter of a second per character; looking at a rank takes half a second.
- Users have uneven numbers of sessions, and more or less patience: the probability to give up is
  drawn for each user. So the sessions of a user are not independent of each other.
- Each user is randomly in the group A or B of an experiment; here both see the same ranker.
- After half of the selections, the user inserts the symbol into their code.

The log has the form of User Behavior Insights: ``queries.jsonl`` and ``events.jsonl``. The ranker
and the golden set are yours; those of the example ``symbol_search`` made ``logs``, and
``next_week`` with the seed 2, a week later:

    python -m search_sessions.simulate logs --ranker symbol_search.ranker:search --golden
    ../symbol_search/golden/symbols.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pkgutil import resolve_name

SHOWN = 10
USERS = 80
BETWEEN_SESSIONS = timedelta(minutes=40)
START = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
WEEK = timedelta(days=7)

Row = dict[str, object]
Search = Callable[[str, int], list[tuple[str, float]]]
"""A ranker: takes a query and a number, and returns so many names with their scores."""


@dataclass(frozen=True)
class User:
    """Somebody who searches."""

    id: str
    group: str
    gives_up: float
    """The probability to give up after a text that did not show the symbol."""


def sessions(count: int, seed: int, search: Search, golden: Path) -> tuple[list[Row], list[Row]]:
    """Return the queries and the events of this number of sessions; each seed is another week."""
    chance = random.Random(seed)
    wishes = [json.loads(line) for line in golden.read_text("utf-8").splitlines()]
    users = [
        User(f"user-{number}", chance.choice("AB"), chance.betavariate(0.8, 3.2))
        for number in range(USERS)
    ]
    activity = [chance.lognormvariate(0, 1) for _ in users]
    queries: list[Row] = []
    events: list[Row] = []
    start = START + (seed - 1) * WEEK
    for number in range(count):
        wish = chance.choice(wishes)
        wanted = max(wish["relevance"], key=wish["relevance"].__getitem__)
        (user,) = chance.choices(users, activity)
        time = start + number * BETWEEN_SESSIONS
        search_for = Session(f"q{seed}-{number:03}", user, time, search)
        search_for.run(_texts(wish["query"], wanted), wanted, chance, queries, events)
    return queries, events


@dataclass(frozen=True)
class Session:
    """One user's search for one symbol."""

    id: str
    user: User
    start: datetime
    search: Search

    def run(
        self,
        texts: list[str],
        wanted: str,
        chance: random.Random,
        queries: list[Row],
        events: list[Row],
    ) -> None:
        """Add the queries and the events of the session."""
        time, typed = self.start, ""
        for place, text in enumerate(texts, start=1):
            time += timedelta(seconds=2 + 0.25 * abs(len(text) - len(typed)))
            typed = text
            shown = [name for name, _ in self.search(text, SHOWN)]
            query_id = f"{self.id}-{place}"
            queries.append(
                {
                    "query_id": query_id,
                    "client_id": self.user.id,
                    "timestamp": time.isoformat(timespec="milliseconds"),
                    "user_query": text,
                    "query_response_hit_ids": shown,
                    "query_attributes": {"group": self.user.group},
                }
            )
            rank = shown.index(wanted) + 1 if wanted in shown else None
            if rank is not None and chance.random() < 1 / rank:
                time += timedelta(seconds=0.5 * rank)
                for action in ("click", "insert")[: chance.randint(1, 2)]:
                    events.append(self._event(action, query_id, wanted, rank, time))
                    time += timedelta(seconds=3)
                return
            if chance.random() < self.user.gives_up:
                return
            time += timedelta(seconds=0.5 * len(shown))

    def _event(self, action: str, query_id: str, wanted: str, rank: int, time: datetime) -> Row:
        return {
            "action_name": action,
            "query_id": query_id,
            "client_id": self.user.id,
            "timestamp": time.isoformat(timespec="milliseconds"),
            "event_attributes": {
                "object": {"object_id": wanted},
                "position": {"ordinal": rank},
            },
        }


def _texts(query: str, wanted: str) -> list[str]:
    """Return the texts that the user types, in order."""
    half = query[: (len(query) + 1) // 2].rstrip()
    return list(dict.fromkeys([half, query, wanted.rpartition(".")[2]]))


def main() -> None:
    """Write a log."""
    parser = argparse.ArgumentParser(description="Simulate a log of searches.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranker", type=resolve_name, required=True, help="MODULE:FUNCTION")
    parser.add_argument("--golden", type=Path, required=True, help="what people want: JSON Lines")
    chosen = parser.parse_args()
    chosen.folder.mkdir(exist_ok=True)
    queries, events = sessions(chosen.sessions, chosen.seed, chosen.ranker, chosen.golden)
    for name, rows in (("queries", queries), ("events", events)):
        path = chosen.folder / f"{name}.jsonl"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)


if __name__ == "__main__":
    main()
