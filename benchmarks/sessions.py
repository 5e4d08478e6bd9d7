"""Time reading and measuring session logs of every form, per event, in CPU time.

    pip install -e '.[benchmark]'
    python benchmarks/sessions.py --write     # and write the table into docs/reference/speed.md

A log has four events per session and ten results per event. Each measurement runs in its own
process, whose CPU time (of all threads) and peak memory are read at its end; the median of three
counts. Imports are not counted.
"""

from __future__ import annotations

import argparse
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
import pandas as pd
from manual_parts import DOCS, write_part

METRICS = [
    *("SessionRR(abandoned=zero)", "SuccessRate@3", "MeanEventRank(abandoned=next)"),
    *("ClickRank(abandoned=exclude)", "TimeToSelection(abandoned=exclude)", "SessionDuration"),
]
EVENTS_PER_SESSION, SHOWN, ROUNDS = 4, 10, 3
FORMS = {
    "JSON lines": "log.jsonl",
    "CSV": "log.csv",
    "Parquet": "log.parquet",
    "pandas DataFrame": "log.parquet",
}
"""The file that each form is read from; the frame is made before the clock starts."""
FLOOR = "`json.loads` for each line"


def write_logs(folder: Path, events: int) -> None:
    """Write the same log as JSON lines, CSV and Parquet."""
    random = np.random.default_rng(5)
    places = np.arange(events)
    session = places // EVENTS_PER_SESSION
    selected = pd.Series(random.integers(0, 2 * SHOWN, events), dtype="Int64")
    documents = random.integers(0, 20_000, (events, SHOWN)).tolist()
    frame = pd.DataFrame(
        {
            "session_id": [f"s{number}" for number in session],
            "event": places % EVENTS_PER_SESSION,
            "time": 1_700_000_000 + places,
            "query": [f"query {place % 5000}" for place in places],
            "results": [[f"d{document}" for document in shown] for shown in documents],
            "selected_rank": selected.where(selected < SHOWN),
            "group": np.where(session % 2, "B", "A"),
        }
    )
    frame.to_json(folder / "log.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "log.parquet")
    frame.assign(results=frame["results"].map(" ".join)).to_csv(folder / "log.csv", index=False)


def reading(form: str, folder: Path) -> Callable[[], object]:
    """Return what reads a log; what is not counted happens before."""
    if form == FLOOR:
        lines = folder / "log.jsonl"
        return lambda: [json.loads(line) is None for line in lines.open(encoding="utf-8")]
    from pytest_rankcheck import SessionLog

    path = folder / FORMS[form]
    if importlib.util.find_spec("polars"):
        importlib.import_module("polars")
    if form == "pandas DataFrame":
        frame = pd.read_parquet(path)
        frame["results"] = frame["results"].map(list)
        return lambda: SessionLog.from_frame(frame, first_rank=0)
    return lambda: SessionLog.load(path, first_rank=0)


def work(form: str, folder: Path, *, measures: bool) -> tuple[float, float]:
    """Read a log, perhaps measure it; return the CPU seconds and the peak memory in MB."""
    from pytest_rankcheck import evaluate_sessions

    read = reading(form, folder)
    start = time.process_time()
    log = read()
    if measures:
        evaluation = evaluate_sessions(log)  # type: ignore[arg-type]
        for metric in METRICS:
            evaluation.by("group", metric)
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_own_process(form: str, folder: Path, kind: str) -> str:
    """Return what one process prints; it does not inherit the memory of another one."""
    command = [sys.executable, __file__, "--work", form, str(folder), kind]
    return subprocess.check_output(command, encoding="utf-8")


def table(folder: Path, events: int) -> Iterator[str]:
    """Yield the table of the manual."""

    def measured(form: str, kind: str) -> tuple[str, str]:
        results = [json.loads(in_own_process(form, folder, kind)) for _ in range(ROUNDS)]
        seconds, memory = (median(values) for values in zip(*results, strict=True))
        return f"{seconds / events * 1e6:.1f} µs", f"{memory:.0f} MB"

    in_own_process("write", folder, str(events))
    yield "| log | events | read | read and measure, by group | peak memory |"
    yield "|---|---|---|---|---|"
    for form in FORMS:
        (read, _), (both, memory) = measured(form, "read"), measured(form, "measure")
        yield f"| {form} | {events:,} | {read} | {both} | {memory} |"
    yield f"| {FLOOR} | {events:,} | {measured(FLOOR, 'read')[0]} | | |"


def main() -> None:
    """Print the table, or do the work of one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        form, folder, kind = chosen.work
        if form == "write":
            write_logs(Path(folder), int(kind))
        else:
            print(json.dumps(work(form, Path(folder), measures=kind == "measure")))
        return
    with tempfile.TemporaryDirectory() as temporary:
        made = "\n".join(table(Path(temporary), chosen.events)) + "\n"
    print(made)
    if chosen.write:
        write_part(DOCS / "reference" / "speed.md", "speed of sessions", made)


if __name__ == "__main__":
    main()
