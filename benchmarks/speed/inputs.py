"""What each form hands over, made from the files of a shape before the clock starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
"""The forms and their titles."""


class Inputs:
    """The files of a shape, and what is made of them."""

    def __init__(self, folder: Path) -> None:
        self.qrels_text, self.run_text = folder / "qrels.trec", folder / "run.trec"
        self.qrels_parquet, self.run_parquet = folder / "qrels.parquet", folder / "run.parquet"
        """With query_id, doc_id and relevance; and with query_id, doc_id, rank and score."""

    def dicts(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        """Return ``{query_id: {doc_id: grade}}`` and ``{query_id: {doc_id: score}}``."""
        return dicts_of(self.qrels_parquet, "relevance"), dicts_of(self.run_parquet, "score")

    def run_lists(self) -> dict[str, list[str]]:
        """Return ``{query_id: [doc_id, ...]}``, best first."""
        return {query: list(docs) for query, docs in dicts_of(self.run_parquet, "score").items()}

    def frames(self) -> tuple[Any, Any]:
        """Return the golden set and the run as pandas has them from Parquet."""
        import pandas as pd

        return pd.read_parquet(self.qrels_parquet), pd.read_parquet(self.run_parquet)

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
    """Return dicts of dicts from a Parquet file or a DataFrame, in the fastest way that we know.

    The rows of a query are adjacent.
    """
    import polars as pl

    names = ["query_id", "doc_id", values]
    is_file = isinstance(table, Path)
    frame = pl.read_parquet(table, columns=names) if is_file else pl.from_pandas(table[names])
    queries, docs, numbers = frame.cast(dict.fromkeys(names[:2], pl.String)).get_columns()
    runs = queries.rle()
    ends = runs.struct.field("len").cum_sum().to_list()
    doc_ids, cells = docs.to_list(), numbers.to_list()
    result, begin = {}, 0
    for name, end in zip(runs.struct.field("value").to_list(), ends, strict=True):
        result[name] = dict(zip(doc_ids[begin:end], cells[begin:end], strict=True))
        begin = end
    return result
