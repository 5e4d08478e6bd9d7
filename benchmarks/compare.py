"""Time pytest-rankcheck against its peers, and write the table of the manual.

    pip install -e '.[benchmark]'
    python benchmarks/compare.py                   # the table, printed
    python benchmarks/compare.py --write           # and written into docs/speed.md
    python benchmarks/compare.py --quick           # a small set, to see that it runs

Method: every measurement runs in its own process (contestants.py), which warms the contestant up
with the same work on a small set, prepares the input of the form, and times the work once. The
contestants of a form take turns, in a different order each round, so that a disturbance of the
machine affects all of them; the median of the rounds counts. A peer that took more than three times
as long as the fastest peer in the first round does not run again. A ratio compares two medians from
the same call of this script. All contestants must compute the same mean nDCG@10 and AP@1000.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
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

from manual_parts import DOCS, write_part
from workload import write_head, write_parquet, write_shuffled, write_workload

HERE = Path(__file__).parent
PAGE = DOCS / "speed.md"
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
    """One row of the table."""

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
        measured = {contestant: Measured() for contestant in contestants}
        for turn in range(self.rounds):
            order = [name for name in contestants if not turn or self._runs_again(name, measured)]
            random.Random(turn).shuffle(order)
            for contestant in order:
                self._measure_once(form, contestant, measured[contestant])
        _require_agreement(form, measured)
        return measured

    def _runs_again(self, name: str, measured: dict[str, Measured]) -> bool:
        """Return whether a contestant was fast enough in the first round to run again."""
        if name not in self.peers:
            return True
        fastest = min(measured[peer].seconds[0] for peer in self.peers)
        return measured[name].seconds[0] <= 3 * fastest

    def _measure_once(self, form: str, contestant: str, measured: Measured) -> None:
        script = str(HERE / "contestants.py")
        command = [sys.executable, script, form, contestant, str(self.folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=_environment())
        result = json.loads(done.stdout.splitlines()[-1])
        measured.seconds.append(result["seconds"])
        measured.peak_mb.append(result["peak_mb"])
        measured.means = result["means"]
        print(f"  {form:9} {contestant:21} {result['seconds']:8.4f} s", file=sys.stderr)

    def against_peers(self, form: str, ours: Sequence[tuple[str, str, str]]) -> Iterator[Row]:
        """Yield a row for each contestant of ours (name, title, goal) and the fastest peer."""
        measured = self.measure(form, [*(us for us, _, _ in ours), *self.peers])
        fastest = min(self.peers, key=lambda name: median(measured[name].seconds))
        theirs = median(measured[fastest].seconds)
        for us, title, goal in ours:
            mine = median(measured[us].seconds)
            yield Row(
                title,
                f"{mine:.4f} s",
                f"{fastest} {theirs:.3f} s",
                theirs / mine,
                f"{median(measured[us].peak_mb):.0f} MB; "
                f"{fastest} {median(measured[fastest].peak_mb):.0f} MB",
                goal,
            )

    def against_ourselves(self, forms: tuple[str, str], us: str, title: str, goal: str) -> Row:
        """Return the row that compares our time on the second form with that on the first."""
        first, second = (self.measure(form, [us])[us] for form in forms)
        return Row(
            f"{title} ({us})",
            f"{median(second.seconds):.3f} s",
            f"{forms[0]} {median(first.seconds):.3f} s",
            median(second.seconds) / median(first.seconds),
            f"{median(second.peak_mb):.0f} MB; {forms[0]} {median(first.peak_mb):.0f} MB",
            goal,
        )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "ignore"}


def _require_agreement(form: str, measured: dict[str, Measured]) -> None:
    for name in ("nDCG@10", "AP@1000", "nDCG@20"):
        values = {who: own.means[name] for who, own in measured.items() if name in own.means}
        if values and max(values.values()) - min(values.values()) > 1e-6:
            raise SystemExit(f"{form}: the contestants disagree on {name}: {values}")


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
    """Return the row of a small set: the whole process, from its start to the printed means."""
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
    """Return how long the five metrics take on the small set, given its judged hits."""
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
    """Return how much longer a process takes that imports each contestant."""

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
    """Yield the rows of the table."""
    text = "TREC text, read and evaluate"
    yield from track.against_peers(
        "text",
        [
            (FAST, f"{text}, with `[fast]`", "8, half the memory"),
            (PLAIN, f"{text}, without `[fast]`", "1.5, a tenth of the memory"),
        ],
    )
    lists = "lists of ids, evaluate (peers: the same ranking as dicts)"
    for form, title, goal in (
        ("parquet", "Parquet, read and evaluate", "10"),
        ("dicts", "dicts of dicts, evaluate", "15"),
        ("lists", lists, "30"),
        ("memory", "in memory, one more metric", "50"),
    ):
        yield from track.against_peers(form, [(FAST, title, goal)])
    yield whole_process(small, track.rounds)
    for us in (FAST, PLAIN):
        title = "lines shuffled within each query, compared with sorted lines"
        yield track.against_ourselves(("text", "shuffled"), us, title, "at most 2")
        title = "10 million lines, compared with 1 million"
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
    """Return the versions of the packages and the number of cores."""
    packages = ("numpy", "polars", "pytrec_eval-terrier", "ranx", "ir_measures")
    installed = []
    for package in packages:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    cores = os.cpu_count()
    return f"Python {platform.python_version()}, {', '.join(installed)}; {cores} cores"


def write_inputs(size: Callable[[int], int], folder: Path, small: Path) -> None:
    """Write all files to be measured, and the smaller ones to warm up with."""
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
    """Measure and print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, one round")
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, default=PEERS, help="the peers to measure against"
    )
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    chosen = parser.parse_args()
    rounds = 1 if chosen.quick else chosen.rounds
    with tempfile.TemporaryDirectory() as temporary:
        folder, small = Path(temporary), Path(temporary) / "small"
        write_inputs(lambda count: count // 100 if chosen.quick else count, folder, small)
        rows = list(table(Track(folder, rounds, chosen.peers), small))
        notes = [
            f"The five metrics alone, on the small set: {metrics_alone(small)}.",
            f"Imports: {imports(chosen.peers)}.",
            f"Measured with {versions()}; {rounds} rounds.",
        ]
    text = as_markdown(rows, notes)
    print(text)
    if chosen.write:
        write_part(PAGE, "speed", text)


if __name__ == "__main__":
    main()
