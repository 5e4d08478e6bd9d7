"""Time pytest-rankcheck against its peers, and write the table of the manual.

    pip install -e '.[benchmark]'
    python benchmarks/compare.py                   # the table, printed
    python benchmarks/compare.py --write           # and written into docs/speed.md
    python benchmarks/compare.py --quick           # a small set, to see that it runs

Method: every measurement is a process of its own (contestants.py), that warms the contestant up
with the same work on a small set, prepares what the form gives, and times the work once. The
contestants of a form take turns, in another order each round, so that what disturbs the machine
disturbs all; of the rounds the median counts. A peer that took three times as long as the fastest
peer in the first round is not asked again. A ratio is that of two medians of the same call of this
script. All have to find the same mean nDCG@10 and AP@1000.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from workload import write_head, write_parquet, write_shuffled, write_workload

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "speed.md"
PEERS = [name for name in ("pytrec_eval", "ranx", "ir_measures") if find_spec(name)]
FAST, PLAIN = "rankcheck", "rankcheck, no polars"


@dataclass
class Measured:
    """The measurements of one contestant on one form."""

    seconds: list[float] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)
    means: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    form: str
    ours: str
    peer: str
    ratio: float
    memory: str
    goal: str


@dataclass(frozen=True)
class Track:
    """Where the data is, how often each contestant runs, and who the peers are."""

    folder: Path
    rounds: int
    peers: Sequence[str]

    def measure(self, form: str, contestants: Sequence[str]) -> dict[str, Measured]:
        """Let contestants take turns on one form."""
        found = {contestant: Measured() for contestant in contestants}
        for turn in range(self.rounds):
            order = [name for name in contestants if not turn or self._in_the_running(name, found)]
            random.Random(turn).shuffle(order)
            for contestant in order:
                self._measure_once(form, contestant, found[contestant])
        _require_agreement(form, found)
        return found

    def _in_the_running(self, name: str, found: dict[str, Measured]) -> bool:
        """Whether a contestant was fast enough in the first round to be asked again."""
        if name not in self.peers:
            return True
        fastest = min(found[peer].seconds[0] for peer in self.peers)
        return found[name].seconds[0] <= 3 * fastest

    def _measure_once(self, form: str, contestant: str, found: Measured) -> None:
        script = str(HERE / "contestants.py")
        command = [sys.executable, script, form, contestant, str(self.folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=_environment())
        result = json.loads(done.stdout.splitlines()[-1])
        found.seconds.append(result["seconds"])
        found.peak_mb.append(result["peak_mb"])
        found.means = result["means"]
        print(f"  {form:9} {contestant:21} {result['seconds']:8.4f} s", file=sys.stderr)

    def against_peers(self, form: str, ours: Sequence[tuple[str, str, str]]) -> Iterator[Row]:
        """Yield a line for each of ours (contestant, title, goal): it and the fastest peer."""
        found = self.measure(form, [*(us for us, _, _ in ours), *self.peers])
        fastest = min(self.peers, key=lambda name: median(found[name].seconds))
        theirs = median(found[fastest].seconds)
        for us, title, goal in ours:
            mine = median(found[us].seconds)
            yield Row(
                title,
                f"{mine:.4f} s",
                f"{fastest} {theirs:.3f} s",
                theirs / mine,
                f"{median(found[us].peak_mb):.0f} of {median(found[fastest].peak_mb):.0f} MB",
                goal,
            )

    def against_ourselves(self, forms: tuple[str, str], us: str, title: str, goal: str) -> Row:
        """Return the line of two forms: how many times the first's time the second takes."""
        first, second = (self.measure(form, [us])[us] for form in forms)
        return Row(
            f"{title} ({us})",
            f"{median(second.seconds):.3f} s",
            f"{forms[0]} {median(first.seconds):.3f} s",
            median(second.seconds) / median(first.seconds),
            f"{median(second.peak_mb):.0f} and {median(first.peak_mb):.0f} MB",
            goal,
        )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "ignore"}


def _require_agreement(form: str, found: dict[str, Measured]) -> None:
    for name in ("nDCG@10", "AP@1000", "nDCG@20"):
        values = {who: one.means[name] for who, one in found.items() if name in one.means}
        if values and max(values.values()) - min(values.values()) > 1e-6:
            raise SystemExit(f"{form}: the contestants do not agree on {name}: {values}")


WHOLE_PROCESS = {
    FAST: (
        "from pytest_rankcheck import GoldenSet, Run, evaluate\n"
        "e = evaluate(Run.load('run.trec'), GoldenSet.load('qrels.trec'))\n"
        "print([e.mean(m) for m in ('nDCG@10', 'RR@10', 'AP@1000', 'R@100', 'P@10')])"
    ),
    "pytrec_eval": (
        "import pytrec_eval\n"
        "with open('qrels.trec') as f: qrels = pytrec_eval.parse_qrel(f)\n"
        "with open('run.trec') as f: run = pytrec_eval.parse_run(f)\n"
        "m = {'ndcg_cut.10', 'recip_rank', 'map_cut.1000', 'recall.100', 'P.10'}\n"
        "r = pytrec_eval.RelevanceEvaluator(qrels, m).evaluate(run)\n"
        "print([sum(v[k] for v in r.values()) / len(r) for k in next(iter(r.values()))])"
    ),
}


def whole_process(folder: Path, rounds: int) -> Row:
    """Return the line of a small set: the whole process, from its start to the printed means."""
    seconds: dict[str, list[float]] = {name: [] for name in WHOLE_PROCESS}
    for turn in range(3 * rounds):
        order = list(WHOLE_PROCESS)
        random.Random(turn).shuffle(order)
        for name in order:
            begin = time.perf_counter()
            command = [sys.executable, "-c", WHOLE_PROCESS[name]]
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - begin)
    mine, theirs = median(seconds[FAST]), median(seconds["pytrec_eval"])
    title = "small set from text, the whole process with its imports"
    return Row(title, f"{mine:.3f} s", f"pytrec_eval {theirs:.3f} s", theirs / mine, "", "1")


def metrics_alone(folder: Path) -> str:
    """Return how long the five metrics take on the small set, once its judged hits are there."""
    code = (
        "import time\n"
        "from pytest_rankcheck import GoldenSet, Run, evaluate\n"
        "times = []\n"
        "for _ in range(20):\n"
        "    e = evaluate(Run.load('run.trec'), GoldenSet.load('qrels.trec'))\n"
        "    e.mean('NumRet')\n"
        "    t = time.perf_counter()\n"
        "    [e.mean(m) for m in ('nDCG@10', 'RR@10', 'AP@1000', 'R@100', 'P@10')]\n"
        "    times.append(time.perf_counter() - t)\n"
        "print(sorted(times)[10])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
    return f"{float(done.stdout) * 1000:.2f} ms"


def imports(peers: Sequence[str]) -> str:
    """Return what importing each contestant takes, beyond an empty process."""

    def seconds(code: str) -> float:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env=_environment())
            times.append(time.perf_counter() - begin)
        return median(times)

    empty = seconds("pass")
    ours = "from pytest_rankcheck import GoldenSet, Run, evaluate"
    codes = {"rankcheck": ours, **{name: f"import {name}" for name in peers}}
    return ", ".join(
        f"{name} {1000 * (seconds(code) - empty):.0f} ms" for name, code in codes.items()
    )


def table(track: Track, small: Path) -> Iterator[Row]:
    """Yield the lines of the table."""
    text = "TREC text, read and evaluate"
    yield from track.against_peers(
        "text",
        [
            (FAST, f"{text}, with `[fast]`", "8, half the memory"),
            (PLAIN, f"{text}, without `[fast]`", "1.5, a tenth of the memory"),
        ],
    )
    lists = "lists of ids, evaluate (the peers: the same as dicts)"
    for form, title, goal in (
        ("parquet", "Parquet, read and evaluate", "10"),
        ("dicts", "dicts of dicts, evaluate", "15"),
        ("lists", lists, "30"),
        ("memory", "in memory, one more metric", "50"),
    ):
        yield from track.against_peers(form, [(FAST, title, goal)])
    yield whole_process(small, track.rounds)
    for us in (FAST, PLAIN):
        title = "lines shuffled within each query, of the time of sorted ones"
        yield track.against_ourselves(("text", "shuffled"), us, title, "at most 2")
        title = "10 million lines, of the time of 1 million"
        yield track.against_ourselves(("short", "long"), us, title, "8 to 12")


def as_markdown(rows: Sequence[Row], notes: Sequence[str]) -> str:
    """Return the table and its notes."""
    lines = [
        "| form | rankcheck | fastest peer | ratio | goal | peak memory |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.form} | {row.ours} | {row.peer} | {row.ratio:.1f} | {row.goal} | {row.memory} |"
        for row in rows
    ]
    return "\n".join([*lines, "", *notes, ""])


def versions() -> str:
    """Return what was measured on what."""
    packages = ("numpy", "polars", "pytrec_eval-terrier", "ranx", "ir_measures")
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    cores = os.cpu_count()
    return f"Python {platform.python_version()}, {', '.join(found)}; {cores} cores"


def prepared(size: Callable[[int], int], folder: Path, small: Path) -> None:
    """Write all files that are measured, and those to warm up with."""
    small.mkdir()
    write_workload(small, 200, 100)
    warm = folder / "warm"
    warm.mkdir()
    for place, queries, lines in ((folder, size(6980), size(1_000_000)), (warm, 20, 1000)):
        write_workload(place, queries, 1000)
        write_shuffled(place / "run.trec", place / "shuffled.trec")
        write_parquet(place / "run.trec", place / "run.parquet")
        write_head(place / "run.trec", place / "short.trec", lines)
        write_head(place / "run.trec", place / "long.trec", 10 * lines)


def main() -> None:
    """Measure and print; write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, one round")
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=PEERS, help="those to measure against"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    chosen = parser.parse_args()
    rounds = 1 if chosen.quick else chosen.rounds
    with tempfile.TemporaryDirectory() as temporary:
        folder, small = Path(temporary), Path(temporary) / "small"
        prepared(lambda count: count // 100 if chosen.quick else count, folder, small)
        rows = list(table(Track(folder, rounds, chosen.peers), small))
        notes = [
            f"The five metrics alone, on the small set: {metrics_alone(small)}.",
            f"Imports: {imports(chosen.peers)}.",
            f"Measured with {versions()}; {rounds} rounds.",
        ]
    text = as_markdown(rows, notes)
    print(text)
    if chosen.write:
        page = PAGE.read_text("utf-8")
        pattern = r"(<!-- table of speed[^\n]*-->\n).*?(<!-- end of table -->)"
        page = re.sub(pattern, lambda found: f"{found[1]}{text}{found[2]}", page, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
