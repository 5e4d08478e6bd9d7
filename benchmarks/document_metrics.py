"""Time the metrics that know documents and users, beside nDCG@10 alone and beside RecTools.

    pip install -e '.[benchmark]'
    python benchmarks/document_metrics.py
    python benchmarks/document_metrics.py --python RecTools=/path/to/bin/python

100,000 users get 10 of 50,000 items each; a million interactions are known, and a brand and a
seller of every item. The work is measured from the rankings to the means: nDCG@10 alone; nDCG@10
and all metrics of documents; and the five metrics that RecTools has too. The golden set is there
already, or it is made anew with its documents and interactions, which is called *all new*.

Each contestant runs in a process of its own. It does all work on 200 users first, and once in
full, and then takes turns between the works; medians count. All contestants must compute the same
means within 1e-6. RecTools needs another numpy, and so a Python of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

USERS, ITEMS, SHOWN = 100_000, 50_000, 10
SHARED = {
    "nDCG@10": "NDCG",
    "CatalogCoverage@10": "CatalogCoverage",
    "Novelty@10": "MeanInvUserFreq",
    "AvgPopularity@10": "AvgRecPopularity",
    "ILD(by=brand)@10": "IntraListDiversity",
}
"""The metrics that RecTools has too, by our names."""
OURS = ("Gini@10", "SeenItems@10", "Exposure(by=seller,of=1)@10", "GAUC")
WORKS = {"nDCG@10": ["nDCG@10"], "five metrics": [*SHARED], "all metrics": [*SHARED, *OURS]}

Works = Mapping[str, Callable[[], Mapping[str, float]]]
"""By what is done, the function that does it and returns the means."""


@dataclass(frozen=True)
class Data:
    """What is ranked, judged and known."""

    ranked: pd.DataFrame
    judged: pd.DataFrame
    interactions: pd.DataFrame
    documents: pd.DataFrame

    @classmethod
    def drawn(cls, users: int) -> Data:
        """Return the data of some users; popular items are shown more often."""
        draw = np.random.default_rng(33)
        weights = np.cumsum(draw.pareto(1.0, ITEMS) + 1)

        def popular(*shape: int) -> Any:
            return np.searchsorted(weights, draw.random(shape) * weights[-1], side="right")

        drawn = popular(users, 2 * SHOWN).tolist()
        tops = [list(dict.fromkeys(items))[:SHOWN] for items in drawn]
        ranked = pd.DataFrame(
            [
                (user, item, rank)
                for user, top in enumerate(tops)
                for rank, item in enumerate(top, 1)
            ],
            columns=["query_id", "doc_id", "rank"],
        )
        judgments = [
            (user, item, grade)
            for user, top in enumerate(tops)
            for item, grade in ((top[-1], 1), (int(draw.integers(ITEMS)), 1), (top[0], 0))
        ]
        judged = pd.DataFrame(judgments, columns=["query_id", "doc_id", "relevance"])
        item = np.arange(ITEMS)
        count = 10 * users
        seen = pd.DataFrame({"user": draw.integers(0, users, count), "item": popular(count)})
        return cls(
            ranked,
            judged.drop_duplicates(["query_id", "doc_id"]),
            seen.drop_duplicates(),  # RecTools counts a pair that repeats twice
            pd.DataFrame({"doc_id": item, "brand": item % 500, "seller": item % 50}),
        )


def ours(form: str, data: Data) -> Works:
    """Prepare pytest-rankcheck with rankings of a form: lists of ids, or a DataFrame."""
    from pytest_rankcheck import GoldenSet, Run, evaluate

    def golden(**known: Any) -> GoldenSet:
        return GoldenSet.from_frame(data.judged, **known)

    known = {"documents": data.documents, "interactions": data.interactions}
    if form == "lists":
        text = data.ranked[["query_id", "doc_id"]].astype(str)
        lists = text.groupby("query_id", sort=False)["doc_id"].agg(list).to_dict()
    ready = golden(**known)

    def means(metrics: list[str]) -> Mapping[str, float]:
        run = Run.from_dict(lists) if form == "lists" else Run.from_frame(data.ranked)
        is_known = known if len(metrics) > 1 else {}
        measured = evaluate(run, golden(**is_known) if form == "frame, all new" else ready)
        return {name: measured.mean(name) for name in metrics}

    return {name: lambda metrics=metrics: means(metrics) for name, metrics in WORKS.items()}


def rectools(data: Data) -> Works:
    """Prepare RecTools, which takes DataFrames."""
    from rectools import Columns, metrics

    columns = {"query_id": Columns.User, "user": Columns.User, "rank": Columns.Rank}
    columns |= {"doc_id": Columns.Item, "item": Columns.Item}
    reco, judged, seen = (
        frame.rename(columns=columns) for frame in (data.ranked, data.judged, data.interactions)
    )
    relevant = judged[judged["relevance"] > 0]
    brands = data.documents.set_index("doc_id")[["brand"]].astype(float)
    options: dict[str, dict[str, Any]] = {
        "NDCG": {"divide_by_achievable": True},
        "CatalogCoverage": {"normalize": True},
        "IntraListDiversity": {
            "distance_calculator": metrics.PairwiseHammingDistanceCalculator(brands)
        },
    }

    def means(names: list[str]) -> Mapping[str, float]:
        made = {
            name: getattr(metrics, SHARED[name])(k=SHOWN, **options.get(SHARED[name], {}))
            for name in names
        }
        catalogue = data.documents["doc_id"]
        values: dict[str, float] = metrics.calc_metrics(made, reco, relevant, seen, catalogue)
        return {name: float(value) for name, value in values.items()}

    return {name: lambda names=WORKS[name]: means(names) for name in ("nDCG@10", "five metrics")}


def works_of(contestant: str, data: Data) -> Works:
    """Return what a contestant does with some data."""
    return rectools(data) if contestant == "RecTools" else ours(contestant, data)


def measured(contestant: str, users: int, runs: int) -> dict[str, Any]:
    """Measure a contestant in this process: the medians of each work, and the means."""
    for work in works_of(contestant, Data.drawn(200)).values():
        work()
    works = works_of(contestant, Data.drawn(users))
    means = {name: value for work in works.values() for name, value in work().items()}
    taken: dict[str, dict[str, list[float]]] = {name: {"cpu": [], "wall": []} for name in works}
    for _ in range(runs):
        for name, work in works.items():
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            taken[name]["cpu"].append(time.process_time() - cpu)
            taken[name]["wall"].append(time.perf_counter() - wall)
    middle = {name: {clock: median(of[clock]) for clock in of} for name, of in taken.items()}
    return {"means": means, "taken": middle}


def in_a_process(contestant: str, python: str, users: int, runs: int) -> dict[str, Any]:
    """Measure a contestant in a process of its own."""
    options = ["--worker", contestant, "--users", str(users), "--runs", str(runs)]
    command = [python, "-W", "ignore", __file__, *options]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{contestant}:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def check_means(results: Mapping[str, Mapping[str, Any]]) -> None:
    """Exit if two contestants computed different means: then no time counts."""
    for name in WORKS["all metrics"]:
        values = {each: of["means"][name] for each, of in results.items() if name in of["means"]}
        if max(values.values()) - min(values.values()) > 1e-6:
            raise SystemExit(f"{name}: the contestants disagree: {values}")


def table_of(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the seconds of each work, and how many times those of nDCG@10 alone that is."""
    lines = [
        "| rankings | metrics | CPU seconds | seconds | times nDCG@10, CPU / wall |",
        "|---|---|---|---|---|",
    ]
    for contestant, result in results.items():
        alone = result["taken"]["nDCG@10"]
        for name, of in result["taken"].items():
            ratio = " / ".join(f"{of[clock] / alone[clock]:.1f}" for clock in ("cpu", "wall"))
            lines.append(
                f"| {contestant} | {name} | {of['cpu']:.2f} | {of['wall']:.2f} | {ratio} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure every contestant that is there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    text = "the Python that has RecTools, which is left out otherwise"
    parser.add_argument("--python", metavar="RecTools=PATH", help=text)
    parser.add_argument("--users", type=int, default=USERS)
    parser.add_argument("--runs", type=int, default=5, help="how often each work is measured")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        print(json.dumps(measured(chosen.worker, chosen.users, chosen.runs)))
        return
    pythons = dict.fromkeys(("lists", "frame", "frame, all new"), sys.executable)
    if chosen.python:
        pythons["RecTools"] = chosen.python.removeprefix("RecTools=")
    results = {
        contestant: in_a_process(contestant, python, chosen.users, chosen.runs)
        for contestant, python in pythons.items()
    }
    check_means(results)
    print(table_of(results))


if __name__ == "__main__":
    main()
