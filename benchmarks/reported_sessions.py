"""Time pytest sessions with a baseline and with reports, beside the same test written by hand.

    pip install -e '.[benchmark,report]' ranx
    python benchmarks/reported_sessions.py --write          # also into docs/reference/speed.md
    python benchmarks/reported_sessions.py --queries 200    # a quick look

A golden set of ten judged documents a query, and a run of 100 documents a query in one TREC file;
a third of the queries are worse in the run that fails. Every session is a process of its own,
whose CPU time (user and system, of all threads, imports included) and peak memory count. All
sessions take turns, and medians count.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from manual_parts import DOCS, write_part

DEPTH, JUDGED = 100, 10
REPORTS = tuple(f"--rankcheck-{name}={name}.out" for name in ("html", "markdown", "json"))
OURS = """
from pytest_rankcheck import assert_not_regressed

def test_ranking(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["nDCG@10", "RR", "R@20"], abs=0.01)
"""
BY_HAND = """
import json
from pathlib import Path
from scipy.stats import ttest_rel

def hold(values):
    approved = Path("approved.json")
    if not approved.exists():
        approved.write_text(json.dumps(values))
    before = json.loads(approved.read_text())
    for metric, now in values.items():
        then = [before[metric][query] for query in now]
        mean, was = sum(now.values()) / len(now), sum(then) / len(then)
        p = ttest_rel(list(now.values()), then).pvalue
        assert mean >= was - 0.01, f"{metric} fell from {was:.4f} to {mean:.4f}, p = {p:.4f}"
"""
PYTREC_EVAL = """
import os
import pytrec_eval

def test_ranking():
    with open("golden.qrels") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(file), {"ndcg_cut.10", "recip_rank", "recall.20"}
        )
    with open(os.environ["RUN"]) as file:
        found = evaluator.evaluate(pytrec_eval.parse_run(file))
    names = next(iter(found.values()))
    hold({name: {query: values[name] for query, values in found.items()} for name in names})
"""
RANX = """
import os
from ranx import Qrels, Run, evaluate

def test_ranking():
    qrels = Qrels.from_file("golden.qrels", kind="trec")
    run = Run.from_file(os.environ["RUN"], kind="trec")
    evaluate(qrels, run, ["ndcg@10", "mrr", "recall@20"], make_comparable=True)
    hold({name: dict(values) for name, values in run.scores.items()})
"""
PEERS = {"pytrec_eval": PYTREC_EVAL, "ranx": RANX}
SESSIONS: dict[str, tuple[str, str, Sequence[str]]] = {
    "plain": ("ours", "good", ()),
    "failing": ("ours", "bad", ()),
    "plain, with three reports": ("ours", "good", REPORTS),
    "failing, with three reports": ("ours", "bad", REPORTS),
    "failing, with Markdown alone": ("ours", "bad", REPORTS[1:2]),
    "by hand with pytrec_eval": ("pytrec_eval", "good", ()),
    "by hand with ranx": ("ranx", "good", ()),
}
"""The folder of each session, its run and further arguments of pytest."""


def write_project(folder: Path, queries: int) -> None:
    """Write the golden set, the two runs and a folder for each way to test them."""
    draw = random.Random(40)
    with (
        (folder / "golden.qrels").open("w") as golden,
        (folder / "good.run").open("w") as good,
        (folder / "bad.run").open("w") as bad,
    ):
        for query in range(queries):
            ids = [f"doc{number}" for number in draw.sample(range(10**7), DEPTH + 10)]
            judged = {ids[0]: 3, **{doc: draw.randrange(4) for doc in draw.sample(ids, JUDGED)}}
            golden.writelines(f"q{query} 0 {doc} {grade}\n" for doc, grade in judged.items())
            worse = [*ids[5:15], *ids[:5], *ids[15:DEPTH]] if query % 3 == 0 else ids[:DEPTH]
            for file, ranking in ((good, ids[:DEPTH]), (bad, worse)):
                file.writelines(
                    f"q{query} Q0 {doc} {rank} {DEPTH - rank + 0.5} run\n"
                    for rank, doc in enumerate(ranking, start=1)
                )
    tests = {"ours": OURS, **{name: BY_HAND + text for name, text in PEERS.items()}}
    for name, text in tests.items():
        (folder / name).mkdir()
        (folder / name / "test_ranking.py").write_text(text)
        (folder / name / "pytest.ini").write_text("[pytest]\n")
        for file in ("golden.qrels", "good.run", "bad.run"):
            (folder / name / file).symlink_to(folder / file)
    (folder / "ours" / "pytest.ini").write_text("[pytest]\nrankcheck_golden = golden.qrels\n")


def cost(folder: Path, run: str, *arguments: str) -> tuple[float, float]:
    """Run pytest in a folder; return the CPU seconds of its process and its peak memory in MB."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    if folder.name == "ours":
        command.append(f"--rankcheck-run={run}.run")
    environment = {**os.environ, "RUN": f"{run}.run"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != (run == "bad"):
        raise SystemExit(f"{folder.name}, {run}: exit status {process.returncode}\n{printed}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measured(queries: int, rounds: int, peers: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the CPU seconds and the memory of every session that can be run here."""
    ways = ["ours", *filter(find_spec, peers)]
    chosen = {name: session for name, session in SESSIONS.items() if session[0] in ways}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        write_project(folder, queries)
        cost(folder / "ours", "good", "--snapshot-update")
        for way in ways[1:]:
            cost(folder / way, "good")  # approves
        for _ in range(rounds):
            for name, (way, run, arguments) in chosen.items():
                found[name].append(cost(folder / way, run, *arguments))
    return {
        name: (median(seconds for seconds, _ in costs), max(memory for _, memory in costs))
        for name, costs in found.items()
    }


def table_of(results: dict[int, dict[str, tuple[float, float]]]) -> Iterator[str]:
    """Yield the table: the plain session in seconds, others in its multiples, the last memory."""
    sizes = " | ".join(f"{queries:,} queries" for queries in results)
    yield f"| session | {sizes} | peak memory |"
    yield f"|---|{'---|' * len(results)}---|"
    *_, last = results.values()
    for name in last:
        cells = [f"{found[name][0] / found['plain'][0]:.1f}" for found in results.values()]
        if name == "plain":
            cells = [f"{found[name][0]:.1f} s" for found in results.values()]
        yield f"| {name} | {' | '.join(cells)} | {last[name][1]:,.0f} MB |"


def main() -> None:
    """Print the table, and perhaps write it into the manual."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[200, 2_000, 20_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--write", action="store_true", help="write the table into the manual")
    chosen = parser.parse_args()
    results = {
        queries: measured(queries, chosen.rounds, chosen.peers) for queries in chosen.queries
    }
    text = "\n".join(table_of(results)) + "\n"
    print(text)
    if chosen.write:
        write_part(DOCS / "reference" / "speed.md", "speed of test sessions", text)


if __name__ == "__main__":
    main()
