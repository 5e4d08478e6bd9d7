"""Measure one contestant on one form of the data, in a process of its own.

    python benchmarks/contestants.py FORM CONTESTANT FOLDER

The contestant is warmed up with the same work on a small set (FOLDER/warm). Then the input of the
form is prepared, and the work is timed once. Prints one line of JSON: seconds, peak memory, and the
means.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Means = Mapping[str, float]
Work = Callable[[], Means]

OURS = ("nDCG@10", "RR@10", "AP@1000", "R@100", "P@10")


# --- ours ---------------------------------------------------------------------------------------


def ours(form: str, folder: Path) -> Work:
    """Prepare pytest-rankcheck, with polars if it is installed."""
    from pytest_rankcheck import GoldenSet, Run, evaluate

    with suppress(ImportError):  # before the clock starts, like the libraries of the peers
        import polars  # noqa: F401

    def means(run: Any, golden: Any) -> Means:
        evaluation = evaluate(run, golden)
        return {name: evaluation.mean(name) for name in OURS}

    if form in FILES:
        file = folder / FILES[form]
        qrels = folder / "qrels.trec"
        return lambda: means(Run.load(file), GoldenSet.load(qrels, "trec"))
    golden = GoldenSet.load(folder / "qrels.trec", "trec")
    given = dicts(folder)
    if form == "lists":
        lists = {query: list(docs) for query, docs in given.items()}
        return lambda: means(Run.from_dict(lists), golden)
    if form == "dicts":
        return lambda: means(Run.from_dict(given), golden)
    evaluation = evaluate(Run.from_dict(given), golden)
    for name in OURS:
        evaluation.mean(name)
    return lambda: {"nDCG@20": evaluation.mean("nDCG@20")}


def ours_plain(form: str, folder: Path) -> Work:
    """Prepare pytest-rankcheck as if polars were not installed."""
    sys.modules["polars"] = None  # type: ignore[assignment]
    return ours(form, folder)


# --- the peers -----------------------------------------------------------------------------------


def pytrec_eval(form: str, folder: Path) -> Work:
    """Prepare pytrec_eval."""
    import pytrec_eval as library

    measures = {"ndcg_cut.10", "recip_rank", "map_cut.1000", "recall.100", "P.10"}
    if form == "memory":
        measures = {"ndcg_cut.20"}

    def means(qrels: Any, run: Any) -> Means:
        by_query = library.RelevanceEvaluator(qrels, measures).evaluate(run)
        names = {"ndcg_cut_10": "nDCG@10", "map_cut_1000": "AP@1000", "ndcg_cut_20": "nDCG@20"}
        first = next(iter(by_query.values()))
        return {
            names.get(name, name): sum(values[name] for values in by_query.values()) / len(qrels)
            for name in first
        }

    if form == "parquet":
        return lambda: means(parsed_qrels(folder), dicts_of_parquet(folder / FILES[form]))
    if form in FILES:

        def read_and_evaluate() -> Means:
            with (folder / FILES[form]).open() as file:
                run = library.parse_run(file)
            return means(parsed_qrels(folder), run)

        return read_and_evaluate
    qrels, run = parsed_qrels(folder), dicts(folder)
    return lambda: means(qrels, run)


def ranx(form: str, folder: Path) -> Work:
    """Prepare ranx."""
    import ranx as library

    measures = ["ndcg@10", "mrr@10", "map@1000", "recall@100", "precision@10"]

    def means(qrels: Any, run: Any) -> Means:
        values = library.evaluate(qrels, run, measures, make_comparable=True)
        return {"nDCG@10": float(values["ndcg@10"]), "AP@1000": float(values["map@1000"])}

    qrels_file = str(folder / "qrels.trec")
    if form == "parquet":
        return lambda: means(
            library.Qrels.from_file(qrels_file, kind="trec"),
            library.Run.from_df(
                parquet_frame(folder / FILES[form]),
                q_id_col="query_id",
                doc_id_col="doc_id",
                score_col="score",
            ),
        )
    if form in FILES:
        file = str(folder / FILES[form])
        return lambda: means(
            library.Qrels.from_file(qrels_file, kind="trec"),
            library.Run.from_file(file, kind="trec"),
        )
    qrels, given = library.Qrels.from_file(qrels_file, kind="trec"), dicts(folder)
    if form == "memory":
        run = library.Run(given)
        return lambda: {"nDCG@20": float(library.evaluate(qrels, run, "ndcg@20"))}
    return lambda: means(qrels, library.Run(given))


def ir_measures(form: str, folder: Path) -> Work:
    """Prepare ir_measures."""
    import ir_measures as library

    measures = [library.parse_measure(name) for name in OURS]
    if form == "memory":
        measures = [library.nDCG @ 20]

    def means(qrels: Any, run: Any) -> Means:
        return {
            str(measure): float(value)
            for measure, value in library.calc_aggregate(measures, qrels, run).items()
        }

    if form == "parquet":
        return lambda: means(parsed_qrels(folder), dicts_of_parquet(folder / FILES[form]))
    if form in FILES:
        file, qrels_file = str(folder / FILES[form]), str(folder / "qrels.trec")
        return lambda: means(library.read_trec_qrels(qrels_file), library.read_trec_run(file))
    qrels, run = parsed_qrels(folder), dicts(folder)
    return lambda: means(qrels, run)


# --- the data, as each form gives it ---------------------------------------------------------


FILES = {
    "text": "run.trec",
    "shuffled": "shuffled.trec",
    "parquet": "run.parquet",
    "small": "run.trec",
    "short": "short.trec",
    "long": "long.trec",
}
"""The forms whose input is a file."""


def dicts(folder: Path) -> dict[str, dict[str, float]]:
    """Return the run as dicts of dicts."""
    run: dict[str, dict[str, float]] = {}
    with (folder / "run.trec").open() as lines:
        for line in lines:
            query_id, _, doc_id, _, score, _ = line.split()
            run.setdefault(query_id, {})[doc_id] = float(score)
    return run


def parsed_qrels(folder: Path) -> dict[str, dict[str, int]]:
    """Return the judgments as dicts of dicts."""
    qrels: dict[str, dict[str, int]] = {}
    with (folder / "qrels.trec").open() as lines:
        for line in lines:
            query_id, _, doc_id, grade = line.split()
            qrels.setdefault(query_id, {})[doc_id] = int(grade)
    return qrels


def parquet_frame(path: Path) -> Any:
    """Return the rows of a Parquet file as a pandas DataFrame."""
    import pandas as pd

    return pd.read_parquet(path).astype({"query_id": object, "doc_id": object})


def dicts_of_parquet(path: Path) -> dict[str, dict[str, float]]:
    """Return dicts of dicts from a Parquet file, in the fastest way that we know."""
    import polars as pl

    run: dict[str, dict[str, float]] = {}
    groups = pl.read_parquet(path).group_by("query_id", maintain_order=True).agg("doc_id", "score")
    for query_id, docs, scores in groups.iter_rows():
        run[query_id] = dict(zip(docs, scores, strict=True))
    return run


CONTESTANTS: dict[str, Callable[[str, Path], Work]] = {
    "rankcheck": ours,
    "rankcheck, no polars": ours_plain,
    "pytrec_eval": pytrec_eval,
    "ranx": ranx,
    "ir_measures": ir_measures,
}


def main() -> None:
    """Measure once and print the result."""
    form, contestant, folder = sys.argv[1:]
    CONTESTANTS[contestant](form, Path(folder) / "warm")()
    work = CONTESTANTS[contestant](form, Path(folder))
    begin = time.perf_counter()
    means = work()
    done = time.perf_counter()
    print(json.dumps({"seconds": done - begin, "peak_mb": peak_mb(), "means": means}))


def peak_mb() -> float:
    """Return the peak memory of this process in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage also counts the memory before exec
        line = next(line for line in status.open() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
