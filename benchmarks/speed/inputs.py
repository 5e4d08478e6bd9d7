"""What each form hands over, made from the files of a shape before the clock starts."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Inputs:
    """The files of a shape, and what is made of them."""

    folder: Path

    @property
    def run_text(self) -> Path:
        """The run as TREC text."""
        return self.folder / "run.trec"

    @property
    def qrels_text(self) -> Path:
        """The golden set as TREC text."""
        return self.folder / "qrels.trec"

    @property
    def run_parquet(self) -> Path:
        """The run as Parquet: query_id, doc_id, rank, score."""
        return self.folder / "run.parquet"

    @property
    def qrels_parquet(self) -> Path:
        """The golden set as Parquet: query_id, doc_id, relevance."""
        return self.folder / "qrels.parquet"

    def run_dicts(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: score}}``."""
        return dicts_of_parquet(self.run_parquet, "score")

    def qrels_dicts(self) -> dict[str, dict[str, int]]:
        """Return ``{query_id: {doc_id: grade}}``."""
        return dicts_of_parquet(self.qrels_parquet, "relevance")

    def run_lists(self) -> dict[str, list[str]]:
        """Return ``{query_id: [doc_id, ...]}``, best first."""
        return {query: list(docs) for query, docs in self.run_dicts().items()}

    def run_frame(self) -> Any:
        """Return the run as pandas has it from Parquet."""
        import pandas as pd

        return pd.read_parquet(self.run_parquet)

    def qrels_frame(self) -> Any:
        """Return the golden set as pandas has it from Parquet."""
        import pandas as pd

        return pd.read_parquet(self.qrels_parquet)

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


def dicts_of_parquet(path: Path, values: str) -> dict[str, dict[str, Any]]:
    """Return dicts of dicts from a Parquet file with adjacent queries."""
    import polars as pl

    return dicts_of_columns(
        *(pl.read_parquet(path, columns=["query_id", "doc_id", values]).cast(
            {"query_id": pl.String, "doc_id": pl.String}
        ).get_columns())
    )  # fmt: skip


def dicts_of_columns(queries: Any, docs: Any, values: Any) -> dict[str, dict[str, Any]]:
    """Return dicts of dicts from three columns of polars, in the fastest way that we know."""
    runs = queries.rle()
    ends = runs.struct.field("len").cum_sum().to_list()
    names = runs.struct.field("value").to_list()
    doc_ids, numbers = docs.to_list(), values.to_list()
    result, begin = {}, 0
    for name, end in zip(names, ends, strict=True):
        result[name] = dict(zip(doc_ids[begin:end], numbers[begin:end], strict=True))
        begin = end
    return result


def dicts_of_frame(frame: Any, values: str) -> dict[str, dict[str, Any]]:
    """Return dicts of dicts from a DataFrame with adjacent queries."""
    import polars as pl

    columns = pl.from_pandas(frame[["query_id", "doc_id", values]])
    strings = columns.cast({"query_id": pl.String, "doc_id": pl.String})
    return dicts_of_columns(*strings.get_columns())
