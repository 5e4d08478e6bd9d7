"""What is measured beside the cells: twice the work, one large golden set, the whole process."""

from __future__ import annotations

import random
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from speed.cells import Plan, figures, ours
from speed.pairs import Machine, environment
from speed.shapes import SHAPES, Shape, folder_of

GROWTH_FORMS = ("trec", "plain", "parquet", "dicts", "frames", "arrays")
LARGE = Shape("g", "a large golden set", 100_000, 1, 100, (0.5, 0.5), (0, 0), 8_841_823)
SMALL = Shape("w", "a small set", 200, 100, 10, (0.5, 0.5), (0.8, 0.5), 8_841_823)


def growth(plan: Plan, letter: str, form: str) -> dict[str, Any] | None:
    """Return how much longer twice the queries take; None if this version has no such form."""
    once, twice = (plan.entry(ours(form), form, SHAPES[letter], size) for size in (1, 2))
    rehearsed = plan.machine.rehearsed(once)
    if rehearsed is None:
        return None
    sizes = {"1": rehearsed, "2": replace(rehearsed, folder=twice.folder)}
    series = plan.machine.in_turns(sizes, min(plan.runs, 3))
    return {size: figures(own) for size, own in series.items()}


def golden_set(plan: Plan) -> dict[str, Any]:
    """Return what loading 10 million judgments from Parquet takes."""
    judgments = LARGE.scaled(plan.scale) * LARGE.judged
    return {**_alone(plan, "golden set", LARGE), "judgments": judgments}


def hundred_metrics(plan: Plan) -> dict[str, Any]:
    """Return what a hundred metrics take on learning to rank, after the join."""
    return _alone(plan, "hundred metrics", SHAPES["c"])


def _alone(plan: Plan, work: str, shape: Shape) -> dict[str, float]:
    """Return the figures of a work that has no peer."""
    entry = plan.machine.rehearsed(plan.entry(work, "parquet", shape))
    if entry is None:
        raise SystemExit(f"{work}: this version cannot do it")
    return figures(plan.machine.in_turns({work: entry}, min(plan.runs, 3))[work])


FLOOR = "floor (import numpy, split the lines, look up each document)"

WHOLE_PROCESS = {
    "rankcheck": (
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
    FLOOR: (
        "import numpy\n"
        "from collections import defaultdict\n"
        "judged = defaultdict(set)\n"
        "for query, _, doc, _ in map(bytes.split, open('qrels.trec', 'rb')):\n"
        "    judged[query].add(doc)\n"
        "run = map(bytes.split, open('run.trec', 'rb'))\n"
        "print(sum(doc in judged[query] for query, _, doc, *_ in run))"
    ),
}


def whole_process(plan: Plan) -> dict[str, Any]:
    """Return what a small set takes from the start of a process to the printed means."""
    folder = folder_of(plan.cache, SMALL, SMALL.queries)
    codes = {
        name: code
        for name, code in WHOLE_PROCESS.items()
        if name in ("rankcheck", FLOOR, *plan.peers)
    }
    return _processes(plan.machine, codes, 3 * plan.runs, folder)


IMPORTS = {
    "rankcheck": "from pytest_rankcheck import GoldenSet, Run, evaluate",
    "pytrec_eval": "import pytrec_eval",
    "ranx": "import ranx",
    "ir_measures": "import ir_measures",
    "RecTools": "import rectools.metrics",
}


def imports(plan: Plan) -> dict[str, Any]:
    """Return what a process takes that only imports a contestant; "nothing" imports nothing."""
    codes = {name: code for name, code in IMPORTS.items() if name in ("rankcheck", *plan.peers)}
    return _processes(plan.machine, {"nothing": "pass", **codes}, plan.runs, Path.cwd())


def _processes(
    machine: Machine, codes: Mapping[str, str], rounds: int, folder: Path
) -> dict[str, dict[str, float]]:
    """Run pieces of code in turns, each in a process; return the medians of both clocks."""
    clocks: dict[str, list[tuple[float, float]]] = {name: [] for name in codes}
    for turn in range(rounds):
        order = list(codes)
        random.Random(turn).shuffle(order)
        for name in order:
            command = [machine.python(name), "-c", codes[name]]
            clocks[name].append(_timed(command, folder))
    return {
        name: {"cpu": median(cpu for cpu, _ in own), "wall": median(wall for _, wall in own)}
        for name, own in clocks.items()
    }


def _timed(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return the CPU and wall seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True, env=environment())
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


ROWS = {
    "golden set": golden_set,
    "hundred metrics": hundred_metrics,
    "whole process": whole_process,
    "imports": imports,
}
"""The rows that do not belong to a shape."""
