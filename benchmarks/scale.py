"""Time one machine and clusters on one large run in parts, and write the table into the manual.

    pip install -e '.[benchmark,scale]'
    python benchmarks/scale.py --write                   # 20 million rows in 50 parts
    python benchmarks/scale.py --rows 200000 --parts 5   # a quick look

A run has 1,000 documents for each query, ten of which are judged. It is there twice: as Parquet
parts of whole queries, and as parts whose rows were shuffled, so that every query is cut. Each
engine measures it in a process of its own: from the files to five means, without imports; the start
of a cluster is measured apart. CPU time is that of all its processes. Memory is the largest
resident size (VmHWM) of the processes that evaluate. Every
engine must compute the same values, bit for bit: their hash is compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from manual_parts import DOCS, write_part

from pytest_rankcheck import Evaluation, EvaluationPart, GoldenSet, Run, evaluate, evaluate_part

METRICS = ("nDCG@10", "RR@10", "AP@1000", "R@100", "ERR@20")
DEPTH, JUDGED, WORKERS = 1000, 10, 2


def write_data(folder: Path, rows: int, parts: int) -> None:
    """Write the run, twice in parts, and its golden set."""
    import polars as pl

    draw = np.random.default_rng(20)
    for name in ("whole", "shuffled"):
        (folder / name).mkdir(parents=True)
    per_part = max(1, rows // DEPTH // parts)
    judgments, group = dict[str, None](), list[pl.DataFrame]()
    for number in range(parts):
        queries = np.arange(number * per_part, (number + 1) * per_part)
        documents = draw.integers(0, 8_000_000, (per_part, DEPTH))
        documents += np.arange(DEPTH) * 8_000_000  # all of a query differ
        scores = -np.sort(-draw.normal(size=(per_part, DEPTH)).round(4), axis=1)
        for place, query in enumerate(queries.tolist()):
            ranked = draw.choice(DEPTH, JUDGED // 2, replace=False)
            missed = -1 - draw.integers(0, 10**9, JUDGED - JUDGED // 2)
            for doc in [*documents[place, ranked].tolist(), *missed.tolist()]:
                judgments[f"q{query} 0 D{doc} {draw.integers(0, 4)}\n"] = None
        query_ids = np.char.add("q", np.repeat(queries, DEPTH).astype(str))
        doc_ids = np.char.add("D", documents.ravel().astype(str))
        columns = {"query_id": query_ids, "doc_id": doc_ids, "score": scores.ravel()}
        group.append(pl.DataFrame(columns))
        group[-1].write_parquet(folder / "whole" / f"part-{number:03}.parquet")
        if len(group) == 10 or number + 1 == parts:
            order = np.array_split(draw.permutation(len(group) * per_part * DEPTH), len(group))
            together = pl.concat(group)
            for place, chosen in enumerate(order, start=number + 1 - len(group)):
                path = folder / "shuffled" / f"part-{place:03}.parquet"
                together[chosen].write_parquet(path)
            group.clear()
    (folder / "qrels.txt").write_text("".join(judgments))


def descendants(parent: int) -> Iterator[tuple[int, str]]:
    """Yield the processes below one, with their names."""
    children: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, _, tail = (entry / "stat").read_text().rpartition(")")
            except OSError:  # it has ended
                continue
            name = head.partition("(")[2]
            children.setdefault(int(tail.split()[1]), []).append((int(entry.name), name))
    waiting = list(children.get(parent, []))
    while waiting:
        pid, name = waiting.pop()
        yield pid, name
        waiting += children.get(pid, [])


def cpu_seconds() -> float:
    """Return the CPU time of this process and of all below it, those that have ended too."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    total = sum(each.ru_utime + each.ru_stime for each in own)
    for pid, _ in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


@dataclass
class Measured:
    """What an engine did."""

    evaluation: Evaluation
    parts: Sequence[EvaluationPart] = ()
    workers: Sequence[float] = ()
    """The memory of the processes that evaluated, in MB; empty: it was this one."""


@dataclass
class Bench:
    """The data, and the clock."""

    folder: Path
    golden: GoldenSet
    started: float = 0.0
    """How long the engine took to start, in seconds."""
    _since: float = field(default_factory=time.perf_counter)
    _cpu_before: float = field(default_factory=cpu_seconds)

    def is_ready(self) -> None:
        """Note that the engine has started; what follows is the work."""
        self.started = time.perf_counter() - self._since
        self._since, self._cpu_before = time.perf_counter(), cpu_seconds()

    @property
    def seconds(self) -> float:
        """Seconds of work so far."""
        return time.perf_counter() - self._since

    @property
    def cpu(self) -> float:
        """CPU seconds of work so far, of all processes and threads."""
        return cpu_seconds() - self._cpu_before

    def files(self, form: str) -> list[str]:
        """Return the files of the run in parts."""
        return sorted(map(str, (self.folder / form).iterdir()))

    def merged(self, parts: Sequence[EvaluationPart], **more: Any) -> Measured:
        """Return the evaluation of parts."""
        evaluation = Evaluation.merge(parts, self.golden, expected=self.golden.query_ids)
        return Measured(evaluation, parts, **more)


def one_folder(bench: Bench) -> Measured:
    """Evaluate a folder of parts as one run."""
    return Measured(evaluate(Run.load(bench.folder / "whole"), bench.golden))


def loop(bench: Bench) -> Measured:
    """Evaluate the parts one after the other."""
    return bench.merged([evaluate_part(file, bench.golden) for file in bench.files("whole")])


def processes(bench: Bench) -> Measured:
    """Evaluate the parts in two processes."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        list(pool.map(_imported, range(2 * WORKERS)))
        bench.is_ready()
        work = partial(evaluate_part, golden=bench.golden)
        parts = list(pool.map(work, bench.files("whole"), chunksize=5))
        return bench.merged(parts, workers=list(map(peak_of, pool._processes)))


def _imported(number: int) -> int:
    """Import what is imported on first use, so that this is not measured."""
    import polars  # noqa: F401

    return number


def duckdb(bench: Bench) -> Measured:
    """Sort shuffled rows into a file with DuckDB, and evaluate that."""
    import duckdb as engine

    found = bench.folder / "sorted.parquet"
    with engine.connect(config={"memory_limit": "200MB", "threads": WORKERS}) as database:
        database.execute(f"SET temp_directory = '{bench.folder / 'spill'}'")
        bench.is_ready()
        database.execute(
            f"COPY (SELECT query_id, doc_id, score FROM '{bench.folder}/shuffled/*.parquet' "
            f"ORDER BY query_id, score DESC, doc_id DESC) TO '{found}'"
        )
    evaluation = evaluate(Run.load(found), bench.golden)
    found.unlink()
    return Measured(evaluation)


def dask(bench: Bench) -> Measured:
    """Evaluate the parts on two workers of Dask."""
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(_imported, 0)
        bench.is_ready()
        golden = client.scatter(bench.golden, broadcast=True)
        futures = client.map(evaluate_part, bench.files("whole"), golden=golden)
        parts = client.gather(futures)
        workers = client.run(os.getpid).values()
        return bench.merged(parts, workers=list(map(peak_of, workers)))


ENGINES: Mapping[str, tuple[str, Callable[[Bench], Measured], str]] = {
    "folder": ("a folder of parts, `evaluate`", one_folder, "polars"),
    "loop": ("a loop over parts", loop, "polars"),
    "processes": ("two processes over parts", processes, "polars"),
    "duckdb": ("shuffled rows, sorted by DuckDB", duckdb, "duckdb"),
    "dask": ("two workers of Dask over parts", dask, "distributed"),
}


def peak_of(pid: int) -> float:
    """Return the largest resident size of a process so far, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if "VmHWM" in line)


def measured(engine: str, folder: Path) -> dict[str, Any]:
    """Measure one engine in this process."""
    golden = GoldenSet.load(folder / "qrels.txt", name="scale")
    _imported(0)
    bench = Bench(folder, golden)
    found = ENGINES[engine][1](bench)
    values = b"".join(found.evaluation.values(name).tobytes() for name in METRICS)
    seconds, cpu = bench.seconds, bench.cpu
    return {
        "seconds": seconds,
        "cpu": cpu,
        "start": bench.started,
        "worker": max(found.workers or [peak_of(os.getpid())]),
        "parts": sum(len(pickle.dumps(part)) for part in found.parts) / 1e6,
        "hash": hashlib.sha256(values).hexdigest()[:12],
    }


def table_of(results: Mapping[str, Mapping[str, Any]], rows: int, parts: int) -> str:
    """Return the results as Markdown."""
    least = min(each["cpu"] for each in results.values())
    lines = [
        f"{rows:,} rows, {rows // DEPTH:,} queries, {parts} parts; {os.cpu_count()} cores.",
        "",
        "| way | CPU seconds | times the least | seconds | start | MB per worker | MB of parts |",
        "|---|---|---|---|---|---|---|",
    ]
    for engine, each in results.items():
        start = f"{each['start']:.1f}" if each["start"] >= 0.05 else "-"
        sent = f"{each['parts']:.1f}" if each["parts"] else "-"
        lines.append(
            f"| {ENGINES[engine][0]} | {each['cpu']:.1f} | {each['cpu'] / least:.1f} | "
            f"{each['seconds']:.1f} | {start} | {each['worker']:,.0f} | {sent} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the data, measure every engine that is installed, print and perhaps write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000_000, help="of the run")
    parser.add_argument("--parts", type=int, default=50, help="files of the run")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--folder", type=Path, help="where the data is, or is made and kept")
    parser.add_argument("--write", action="store_true", help="write the table into the manual")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        print(json.dumps(measured(chosen.worker, chosen.folder)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary) / "data"
        if not folder.exists():
            write_data(folder, chosen.rows, chosen.parts)
        results = {}
        for name in chosen.engines:
            if find_spec(ENGINES[name][2]) is None:
                print(f"{name}: {ENGINES[name][2]} is not installed", file=sys.stderr)
                continue
            command = [sys.executable, __file__, "--worker", name, "--folder", str(folder)]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            if done.returncode:
                raise SystemExit(f"{name}:\n{done.stderr}")
            results[name] = json.loads(done.stdout.splitlines()[-1])
            print(f"{name}: {results[name]}", file=sys.stderr)
        text = table_of(results, chosen.rows, chosen.parts)
        print(text)
        hashes = {name: each["hash"] for name, each in results.items()}
        if len(set(hashes.values())) > 1:
            raise SystemExit(f"other values: {hashes}")
        if chosen.write:
            write_part(DOCS / "reference" / "speed.md", "scale", text)


if __name__ == "__main__":
    main()
