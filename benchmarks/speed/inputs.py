"""What each form hands over, made from the files of a shape before the clock starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

FORMS = {
    "trec": "TREC text, with polars",
    "plain": "TREC text, without polars",
    "parquet": "Parquet",
    "dicts": "dicts, everything built",
    "prebuilt": "dicts, golden set prebuilt",
    "lists": "lists of ids",
    "frames": "pandas DataFrame",
    "arrays": "arrays and groups",
}
"""The forms with falling scores, and their titles."""
SCORES = {
    "whole": "whole scores",
    "tied": "scores of a few values",
    "equal": "all scores of a query equal",
    "empty": "one empty ranking",
}
"""Other scores, and their titles."""
OTHERS = {
    "pairs": "lists of pairs",
    **{
        f"{form}+{scores}": f"{title}, {what}"
        for form, title in (
            ("prebuilt", "dicts"),
            ("pairs", "pairs"),
            ("frames", "DataFrame"),
            ("trec", "TREC text"),
        )
        for scores, what in SCORES.items()
    },
}
"""The forms with other scores, or in pairs, and their titles."""


class Inputs:
    """The files of a shape, and what is made of them.

    Args:
        folder: the files.
        scores: one of `SCORES`; empty for those of the shape, which fall.
    """

    def __init__(self, folder: Path, scores: str = "") -> None:
        self._scores = scores
        self.qrels_text = folder / "qrels.trec"
        self.run_text = folder / (f"run-{scores}.trec" if scores else "run.trec")
        self.qrels_parquet, self.run_parquet = folder / "qrels.parquet", folder / "run.parquet"
        """With query_id, doc_id and relevance; and with query_id, doc_id, rank and score."""

    def run_table(self) -> pl.DataFrame:
        """Return the rows of the run with its scores; an empty ranking has none."""
        import polars as pl

        run, score = pl.read_parquet(self.run_parquet), pl.col("score")
        others = {
            "whole": -pl.col("rank").cast(pl.Int64),
            "tied": (score / 4).round() * 4,
            "equal": score * 0 + 1,
        }
        if self._scores == "empty":
            return run.filter(pl.col("query_id") != self._emptied())
        return run.with_columns(others.get(self._scores, score).alias("score"))

    def _emptied(self) -> Any:
        """Return the query that has an empty ranking."""
        import polars as pl

        queries = pl.read_parquet(self.run_parquet, columns=["query_id"])["query_id"]
        return queries[len(queries) // 2]

    def write_text(self) -> None:
        """Write the run with other scores as text, if it is not there."""
        import polars as pl

        if not self.run_text.exists():
            columns = [
                "query_id",
                pl.lit("Q0"),
                "doc_id",
                "rank",
                "score",
                pl.lit("t").alias("tag"),
            ]
            table = self.run_table().select(*columns)
            table.write_csv(self.run_text, separator=" ", include_header=False)

    def dicts(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        """Return ``{query_id: {doc_id: grade}}`` and ``{query_id: {doc_id: score}}``."""
        run = dicts_of(self.run_table(), "score")
        if self._scores == "empty":
            run[str(self._emptied())] = {}
        return dicts_of(self.qrels_parquet, "relevance"), run

    def run_lists(self) -> dict[str, list[str]]:
        """Return ``{query_id: [doc_id, ...]}``, best first."""
        return {query: list(docs) for query, docs in self.dicts()[1].items()}

    def run_pairs(self) -> dict[str, list[tuple[str, float]]]:
        """Return ``{query_id: [(doc_id, score), ...]}``, best first, ties as in trec_eval."""
        return {
            query: sorted(docs.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            for query, docs in self.dicts()[1].items()
        }

    def frames(self) -> tuple[Any, Any]:
        """Return the golden set and the run as pandas has them from Parquet."""
        import pandas as pd

        return pd.read_parquet(self.qrels_parquet), self.run_table().to_pandas()

    def arrays(self) -> tuple[Any, Any, Any]:
        """Return scores, labels and the sizes of the groups, as LightGBM takes them.

        The documents of a query are in an order that has nothing to do with the scores.
        """
        import numpy as np
        import polars as pl

        run, qrels = (pl.read_parquet(path) for path in (self.run_parquet, self.qrels_parquet))
        rows = qrels.join(run, ["query_id", "doc_id"], "inner", maintain_order="left")
        groups = rows.group_by("query_id", maintain_order=True).len()["len"].to_numpy()
        labels = rows["relevance"].to_numpy().astype(np.float64)
        return rows["score"].to_numpy(), labels, groups.astype(np.int64)


def dicts_of(table: Any, values: str) -> dict[str, dict[str, Any]]:
    """Return dicts of dicts from a Parquet file or a frame, in the fastest way that we know.

    The rows of a query are adjacent.
    """
    import polars as pl

    names = ["query_id", "doc_id", values]
    if isinstance(table, Path):
        table = pl.read_parquet(table, columns=names)
    frame = table if isinstance(table, pl.DataFrame) else pl.from_pandas(table[names])
    frame = frame.select(names)
    queries, docs, numbers = frame.cast(dict.fromkeys(names[:2], pl.String)).get_columns()
    runs = queries.rle()
    ends = runs.struct.field("len").cum_sum().to_list()
    doc_ids, cells = docs.to_list(), numbers.to_list()
    result, begin = {}, 0
    for name, end in zip(runs.struct.field("value").to_list(), ends, strict=True):
        result[name] = dict(zip(doc_ids[begin:end], cells[begin:end], strict=True))
        begin = end
    return result
