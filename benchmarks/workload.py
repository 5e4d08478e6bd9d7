"""The data of the benchmark: always the same run, like that of a passage ranking task."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np

COLLECTION = 8_841_823
"""Document ids are numbers below this, as in MS MARCO's passages."""


def write_workload(folder: Path, queries: int, documents: int) -> None:
    """Write ``run.trec`` and ``qrels.trec``, and the same run shuffled and in Parquet.

    Each query has one relevant document, and 7% have two; most are ranked high, some not at all.
    """
    random = np.random.default_rng(20)
    with (folder / "run.trec").open("w") as run, (folder / "qrels.trec").open("w") as qrels:
        for query in range(queries):
            docs = _distinct(random, documents + 3)
            scores = np.sort(random.gamma(9.0, 2.0, size=documents))[::-1]
            run.writelines(
                f"{1000 + 7 * query} Q0 {doc} {rank} {score:.6f} bm25\n"
                for rank, (doc, score) in enumerate(zip(docs[:documents], scores, strict=True), 1)
            )
            places = {
                int(min(random.exponential(60), documents + 2))
                for _ in range(1 + (random.random() < 0.07))
            }
            qrels.writelines(f"{1000 + 7 * query} 0 {docs[place]} 1\n" for place in places)


def write_shuffled(source: Path, target: Path) -> None:
    """Write a run with the lines of each query in any order."""
    random = np.random.default_rng(21)
    with source.open() as lines, target.open("w") as shuffled:
        for _, group in groupby(lines, key=lambda line: line.split(" ", 1)[0]):
            of_query = list(group)
            shuffled.writelines(of_query[place] for place in random.permutation(len(of_query)))


def write_parquet(source: Path, target: Path) -> None:
    """Write a run of the benchmark as Parquet."""
    import polars as pl

    names = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
    table = pl.read_csv(source, has_header=False, separator=" ", new_columns=names)
    table.select(
        pl.col("query_id").cast(pl.String), pl.col("doc_id").cast(pl.String), "score"
    ).write_parquet(target)


def write_head(source: Path, target: Path, lines: int) -> None:
    """Write the first lines of a run, repeating it under other query ids if it is too short."""
    written = 0
    with target.open("w") as head:
        for copy in range(1000):
            with source.open() as run:
                for line in run:
                    if written == lines:
                        return
                    head.write(f"{copy}{line}" if copy else line)
                    written += 1


def _distinct(random: np.random.Generator, count: int) -> list[int]:
    docs = np.unique(random.integers(0, COLLECTION, size=count + 60))
    random.shuffle(docs)
    return [int(doc) for doc in docs[:count]]
