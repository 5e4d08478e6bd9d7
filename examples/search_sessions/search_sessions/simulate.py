"""Simulate a log: people who know which symbol they want, and type until they see it.

The user model, in full:

- A user wants one symbol, a document of grade 3 in the golden set of the symbol search, and types
  the text of its query: the first half of it, then all of it, then the symbol's own name.
- After each text, ten results of the ranker are shown. The user looks at rank r with the
  probability 1/r, whatever else is shown (the position-based model of Richardson, Dominowska and
  Ragno, WWW 2007; so the propensity of a replay is ``power(1)``), and selects the symbol if they
  look at it.
- A user who does not find it gives up with the probability 0.2, and otherwise goes on typing. After
  the last text, the user gives up.
- Typing takes 2 s plus a quarter of a second per character; looking at a rank takes half a second.
- Each session is randomly in the group A or B of an experiment; here both see the same ranker.

    python -m search_sessions.simulate logs/week.jsonl --sessions 300 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from symbol_search.ranker import search

GOLDEN = Path(__file__).parents[2] / "symbol_search" / "golden" / "symbols.jsonl"
SHOWN = 10
GIVES_UP = 0.2
START = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


def sessions(count: int, seed: int) -> Iterator[list[dict[str, object]]]:
    """Yield the events of each session."""
    chance = random.Random(seed)
    queries = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
    for number in range(count):
        query = chance.choice(queries)
        wanted = max(query["relevance"], key=query["relevance"].__getitem__)
        start = START + timedelta(minutes=7 * number)
        yield list(_events(f"s{seed}-{number:03}", query, wanted, start, chance))


def _events(
    session_id: str,
    query: Mapping[str, str],
    wanted: str,
    start: datetime,
    chance: random.Random,
) -> Iterator[dict[str, object]]:
    """Yield the events of one session."""
    group, time, typed = chance.choice("AB"), start, ""
    for place, text in enumerate(_texts(query["query"], wanted), start=1):
        time += timedelta(seconds=2 + 0.25 * abs(len(text) - len(typed)))
        typed = text
        shown = [name for name, _ in search(text, SHOWN)]
        rank = shown.index(wanted) + 1 if wanted in shown else None
        is_found = rank is not None and chance.random() < 1 / rank
        event: dict[str, object] = {
            "session_id": session_id,
            "event": place,
            "start": start.isoformat(timespec="milliseconds"),
            "time": time.isoformat(timespec="milliseconds"),
            "query": text,
            "results": shown,
            "group": group,
        }
        yield event | ({"selected": wanted} if is_found else {})
        if is_found or chance.random() < GIVES_UP:
            return
        time += timedelta(seconds=0.5 * len(shown))


def _texts(query: str, wanted: str) -> list[str]:
    """Return the texts that the user types, in order."""
    half = query[: (len(query) + 1) // 2].rstrip()
    return list(dict.fromkeys([half, query, wanted.rpartition(".")[2]]))


def main() -> None:
    """Write a log."""
    parser = argparse.ArgumentParser(description="Simulate a log of searches.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with chosen.path.open("w", encoding="utf-8", newline="\n") as file:
        for session in sessions(chosen.sessions, chosen.seed):
            file.writelines(f"{json.dumps(event)}\n" for event in session)


if __name__ == "__main__":
    main()
