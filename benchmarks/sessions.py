"""Time reading and measuring a session log, per event, against only parsing its lines.

    pip install -e '.[benchmark]'
    python benchmarks/sessions.py --write     # and write the table into docs/sessions.md

A log has four events per session and ten results per event. Each measurement runs in its own
process, whose peak memory is read at its end; the median of three counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from manual_parts import DOCS, write_part

PAGE = DOCS / "sessions.md"
SIZES = (100_000, 1_000_000)
METRICS = [
    *("SessionRR(abandoned=zero)", "SuccessRate@3", "MeanEventRank(abandoned=next)"),
    *("ClickRank(abandoned=exclude)", "TimeToSelection(abandoned=exclude)", "SessionDuration"),
]
EVENTS, SHOWN, ROUNDS = 4, 10, 3


def write_log(path: Path, events: int) -> None:
    """Write a log as JSON lines."""
    random = np.random.default_rng(5)
    selected = random.integers(0, 2 * SHOWN, events)
    documents = random.integers(0, 20_000, (events, SHOWN))
    with path.open("w", encoding="utf-8") as file:
        for place in range(events):
            event = {
                "session_id": f"s{place // EVENTS}",
                "event": place % EVENTS,
                "time": 1_700_000_000 + place,
                "query": f"query {place % 5000}",
                "results": [f"d{document}" for document in documents[place].tolist()],
                "selected_rank": int(selected[place]) if selected[place] < SHOWN else None,
                "group": "AB"[place // EVENTS % 2],
            }
            file.write(json.dumps(event) + "\n")


def work(kind: str, path: Path) -> dict[str, float]:
    """Parse, load or evaluate a log; return the seconds and the peak memory in MB."""
    start = time.perf_counter()
    if kind == "parse":
        with path.open(encoding="utf-8") as file:
            for line in file:
                json.loads(line)
    else:
        from pytest_rankcheck import SessionLog, evaluate_sessions

        log = SessionLog.load(path, first_rank=0)
        if kind == "evaluate":
            evaluation = evaluate_sessions(log)
            for metric in METRICS:
                evaluation.by("group", metric)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def measured(kind: str, path: Path) -> dict[str, float]:
    """Return the medians of several processes that do the same work."""
    results = [
        json.loads(subprocess.check_output([sys.executable, __file__, "--work", kind, str(path)]))
        for _ in range(ROUNDS)
    ]
    return {name: median(result[name] for result in results) for name in ("seconds", "memory")}


def table(folder: Path) -> str:
    """Return the table of the manual."""
    rows = [
        "| events | parse JSON only | read | read and measure, by group | ratio | peak memory |",
        "|---|---|---|---|---|---|",
    ]
    for events in SIZES:
        path = folder / f"{events}.jsonl"
        write_log(path, events)
        parse, load, evaluate = (measured(kind, path) for kind in ("parse", "load", "evaluate"))
        times = " | ".join(
            f"{result['seconds'] / events * 1e6:.1f} µs per event"
            for result in (parse, load, evaluate)
        )
        ratio = evaluate["seconds"] / parse["seconds"]
        rows.append(f"| {events:,} | {times} | {ratio:.1f} | {evaluate['memory']:.0f} MB |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, or do the work of one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--work", nargs=2)
    chosen = parser.parse_args()
    if chosen.work:
        print(json.dumps(work(chosen.work[0], Path(chosen.work[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        made = table(Path(folder))
    print(made)
    if chosen.write:
        write_part(PAGE, "speed of sessions", made)


if __name__ == "__main__":
    main()
