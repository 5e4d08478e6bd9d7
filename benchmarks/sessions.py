"""Time reading and measuring session logs of every form, per event, in CPU time.

    pip install -e '.[benchmark]'
    python benchmarks/sessions.py --write     # and write the table into docs/sessions.md

A log has four events per session and ten results per event. Each measurement runs in its own
process, whose CPU time (of all threads) and peak memory are read at its end; the median of three
counts. Imports are not counted.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from manual_parts import DOCS, write_part

PAGE = DOCS / "sessions.md"
SIZES = (100_000, 400_000)
METRICS = [
    *("SessionRR(abandoned=zero)", "SuccessRate@3", "MeanEventRank(abandoned=next)"),
    *("ClickRank(abandoned=exclude)", "TimeToSelection(abandoned=exclude)", "SessionDuration"),
]
EVENTS, SHOWN, ROUNDS = 4, 10, 3
FORMS = {
    "jsonl": "JSON lines",
    "python": "JSON lines, without polars",
    "csv": "CSV",
    "parquet": "Parquet",
    "frame": "pandas DataFrame",
}


def events_of(count: int) -> Iterator[dict[str, object]]:
    """Yield the events of a log."""
    random = np.random.default_rng(5)
    selected = random.integers(0, 2 * SHOWN, count)
    documents = random.integers(0, 20_000, (count, SHOWN))
    for place in range(count):
        yield {
            "session_id": f"s{place // EVENTS}",
            "event": place % EVENTS,
            "time": 1_700_000_000 + place,
            "query": f"query {place % 5000}",
            "results": [f"d{document}" for document in documents[place].tolist()],
            "selected_rank": int(selected[place]) if selected[place] < SHOWN else None,
            "group": "AB"[place // EVENTS % 2],
        }


def write_log(path: Path, events: int) -> None:
    """Write a log in the form that its name ends with."""
    rows = events_of(events)
    if path.suffix == ".parquet":
        import polars as pl

        pl.DataFrame(list(rows), infer_schema_length=None).write_parquet(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(next(events_of(1)))
            for row in rows:
                row["results"] = " ".join(row["results"])  # type: ignore[arg-type]
                writer.writerow(row.values())


def reading(form: str, path: Path) -> Callable[[], object]:
    """Return what reads a log; what is not counted happens before."""
    if form == "parse":
        return lambda: [json.loads(line) is None for line in path.open(encoding="utf-8")]
    import pandas as pd

    from pytest_rankcheck import SessionLog

    if form == "python":
        from pytest_rankcheck.files import large_files

        large_files.LARGE_FILE = 1 << 60
    elif importlib.util.find_spec("polars"):
        importlib.import_module("polars")
    if form == "frame":
        frame = pd.read_parquet(path)
        frame["results"] = frame["results"].map(list)
        return lambda: SessionLog.from_frame(frame, first_rank=0)
    return lambda: SessionLog.load(path, first_rank=0)


def work(form: str, path: Path, *, measures: bool) -> dict[str, float]:
    """Read a log, perhaps measure it; return the CPU seconds and the peak memory in MB."""
    from pytest_rankcheck import evaluate_sessions

    read = reading(form, path)
    start = time.process_time()
    log = read()
    if measures:
        evaluation = evaluate_sessions(log)  # type: ignore[arg-type]
        for metric in METRICS:
            evaluation.by("group", metric)
    seconds = time.process_time() - start
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def measured(form: str, path: Path, kind: str) -> dict[str, float]:
    """Return the medians of several processes that do the same work."""
    command = [sys.executable, __file__, "--work", form, str(path), kind]
    results = [json.loads(subprocess.check_output(command)) for _ in range(ROUNDS)]
    return {name: median(result[name] for result in results) for name in ("seconds", "memory")}


def table(folder: Path) -> str:
    """Return the table of the manual."""
    rows = [
        "| log | events | read | read and measure, by group | peak memory |",
        "|---|---|---|---|---|",
    ]
    for events in SIZES:
        floor = 0.0
        for form, words in FORMS.items():
            ending = {"python": "jsonl", "frame": "parquet"}.get(form, form)
            path = folder / f"{events}.{ending}"
            if not path.exists():  # in a process of its own, whose memory children do not inherit
                command = [sys.executable, __file__, "--work", "write", str(path), str(events)]
                subprocess.run(command, check=True)
            if not floor:
                floor = measured("parse", path, "read")["seconds"] / events * 1e6
            load, evaluate = (measured(form, path, kind) for kind in ("read", "measure"))
            times = " | ".join(
                f"{result['seconds'] / events * 1e6:.1f} µs" for result in (load, evaluate)
            )
            rows.append(f"| {words} | {events:,} | {times} | {evaluate['memory']:.0f} MB |")
        rows.append(f"| `json.loads` for each line | {events:,} | {floor:.1f} µs | | |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print the table, or do the work of one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--work", nargs=3)
    chosen = parser.parse_args()
    if chosen.work:
        form, path, kind = chosen.work
        if form == "write":
            write_log(Path(path), int(kind))
            return
        print(json.dumps(work(form, Path(path), measures=kind == "measure")))
        return
    with tempfile.TemporaryDirectory() as folder:
        made = table(Path(folder))
    print(made)
    if chosen.write:
        write_part(PAGE, "speed of sessions", made)


if __name__ == "__main__":
    main()
