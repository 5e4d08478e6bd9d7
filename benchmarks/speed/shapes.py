"""The shapes of data that the field has, generated from a seed and written once to a cache folder.

A shape is a run and a golden set. Of the judged documents a part is ranked, more of the relevant
ones than of the others, and relevant documents tend to rank higher. Every query has at least one
relevant document, and no two scores of a ranking are equal, so that no convention of a peer about
ties or about queries without a relevant document matters.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _numbers(codes: Codes) -> list[str]:
    return [str(code) for code in codes.tolist()]


def _newswire(codes: Codes) -> list[str]:
    """Return ids as in Robust04, such as ``FBIS3-10082`` or ``FR940104-0-00001``."""
    makers: list[Callable[[int], str]] = [
        lambda code: f"FBIS{3 + code // 4 % 2}-{code // 8}",
        lambda code: f"FT{911 + code % 34}-{code // 4}",
        lambda code: f"LA{code % 12 + 1:02}{code % 28 + 1:02}90-{code // 4:04}",
        lambda code: f"FR9404{code % 28 + 1:02}-0-{code // 4:05}",
    ]
    return [makers[code % 4](code) for code in codes.tolist()]


def _web_pages(codes: Codes) -> list[str]:
    """Return ids as in LETOR 4.0, such as ``GX029-35-5894638``."""
    return [
        f"GX{code % 273:03}-{code // 273 % 100:02}-{code % 10_000_000:07}"
        for code in codes.tolist()
    ]


def _products(codes: Codes) -> list[str]:
    """Return ids as in ESCI (ASINs), such as ``B07XJ8C8F5``."""
    spread = [code * 2_654_435_761 % 36**7 for code in codes.tolist()]
    return [
        "B0" + "0" + "".join(DIGITS[number // 36**place % 36] for place in range(6, -1, -1))
        for number in spread
    ]


@dataclass(frozen=True)
class Shape:
    """One shape: its size, its grades and its ids.

    Attributes:
        grades: the probability of each grade among the judged documents, from grade 0.
        retrieved: the probability that a relevant document, and another judged one, is ranked.
        collection: how many documents there are to choose from.
        integers: whether the ids are integers in tables (text always has words).
    """

    letter: str
    title: str
    queries: int
    documents: int
    judged: int
    grades: tuple[float, ...]
    retrieved: tuple[float, float]
    collection: int
    ids: Callable[[Codes], list[str]] = _numbers
    integers: bool = False

    def scaled(self, scale: float) -> int:
        """Return the number of queries at a scale, at least 20."""
        return max(20, round(self.queries * scale))


SHAPES = {
    shape.letter: shape
    for shape in (
        Shape("a", "MS MARCO", 6_980, 1_000, 1, (0, 1), (0.85, 0), 8_841_823),
        Shape(
            "s", "TREC Deep Learning, more queries", 2_000, 1_000, 20,
            (0.5, 0.25, 0.15, 0.1), (0.8, 0.6), 8_841_823,
        ),
        Shape(
            "b", "Robust04", 250, 1_000, 1_250,
            (0.94, 0.05, 0.01), (0.7, 0.4), 528_155, _newswire,
        ),
        Shape(
            "c", "learning to rank", 10_000, 120, 120,
            (0.52, 0.32, 0.13, 0.02, 0.01), (1, 1), 25_205_179, _web_pages,
        ),
        Shape(
            "d", "recommendations", 100_000, 100, 10,
            (0, 1), (0.3, 0), 60_000, integers=True,
        ),
        Shape(
            "e", "ESCI", 22_000, 50, 20,
            (0.17, 0.05, 0.34, 0.44), (0.8, 0.8), 1_215_851, _products,
        ),
    )
}  # fmt: skip


def _queries(
    shape: Shape, queries: int, random: np.random.Generator
) -> Iterator[tuple[Codes, npt.NDArray[np.float64], Codes, Codes]]:
    """Yield the ranked documents, their scores, the judged documents and their grades."""
    levels = np.arange(len(shape.grades))
    for _ in range(queries):
        drawn = random.choice(shape.collection, shape.judged + shape.documents, replace=False)
        grades = random.choice(levels, shape.judged, p=shape.grades)
        chance = np.where(grades > 0, *shape.retrieved)
        found = np.flatnonzero(random.random(shape.judged) < chance)[: shape.documents]
        ranked = np.concatenate([drawn[found], drawn[shape.judged :]])[: shape.documents]
        scores = random.gamma(9.0, 2.0, shape.documents)
        scores[: found.size] += np.sign(grades[found]) * random.exponential(12, found.size)
        scores[: found.size] += 3 * grades[found]
        order = np.argsort(-scores)
        order_of_judged = random.permutation(shape.judged)
        yield (
            ranked[order],
            _distinct(scores[order]),
            drawn[: shape.judged][order_of_judged],
            grades[order_of_judged],
        )


def _distinct(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return falling scores of four decimals, each below the one before (float32 tells them)."""
    places = np.arange(scores.size)
    whole = np.minimum.accumulate(np.round(scores * 1e4).astype(np.int64) + places) - places
    return np.round(whole / 1e4, 4)


def folder_of(cache: Path, shape: Shape, queries: int) -> Path:
    """Return the folder with the files of a shape, which are written if they are not there.

    A cache holds the shapes as they were when it was written: give another one if they change.
    """
    folder = cache / f"{shape.letter}-{queries}"
    if not folder.exists():
        unfinished = cache / f"{folder.name}.{os.getpid()}"
        unfinished.mkdir(parents=True)
        _write(shape, queries, unfinished)
        try:
            unfinished.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    return folder


def _write(shape: Shape, queries: int, folder: Path) -> None:
    """Write ``run`` and ``qrels`` as TREC text and Parquet; the same for the same arguments."""
    import polars as pl

    rows = _queries(shape, queries, np.random.default_rng(17))
    docs, scores, judged, grades = (np.concatenate(part) for part in zip(*rows, strict=True))
    names = np.random.default_rng(18).permutation(10 * queries) + 1_000
    used = np.unique(np.concatenate([docs, judged]))
    doc_names = pl.Series(shape.ids(used))

    def ids(codes: Codes, count: int) -> dict[str, pl.Series]:
        return {
            "query_id": pl.Series(np.repeat(names[:queries], count).astype(str)),
            "doc_id": doc_names.gather(np.searchsorted(used, codes)),
        }

    ranks = np.tile(np.arange(1, shape.documents + 1), queries)
    run = pl.DataFrame({**ids(docs, shape.documents), "rank": ranks, "score": scores})
    golden = pl.DataFrame({**ids(judged, shape.judged), "relevance": grades})
    text: dict[str, Any] = {"separator": " ", "include_header": False}
    run.select(
        "query_id", pl.lit("Q0"), "doc_id", "rank", "score", pl.lit("bm25").alias("tag")
    ).write_csv(folder / "run.trec", float_precision=4, **text)
    golden.select("query_id", pl.lit("0"), "doc_id", "relevance").write_csv(
        folder / "qrels.trec", **text
    )
    if shape.integers:
        keys = pl.col("query_id", "doc_id").cast(pl.Int64)
        run, golden = run.with_columns(keys), golden.with_columns(keys)
    run.write_parquet(folder / "run.parquet")
    golden.write_parquet(folder / "qrels.parquet")


def described(folder: Path) -> dict[str, Any]:
    """Return the share of the judged documents that are ranked, and the ids of one judgment."""
    import polars as pl

    keys = ["query_id", "doc_id"]
    golden = pl.read_parquet(folder / "qrels.parquet")
    ranked = golden.join(pl.read_parquet(folder / "run.parquet", columns=keys), keys, "semi")
    first = golden.row(0, named=True)
    return {"ranked": ranked.height / golden.height, "ids": [str(first[key]) for key in keys]}
