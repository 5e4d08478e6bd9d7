"""What a form costs at the very least, for the cells where a peer is faster.

A floor is the plainest code that gets from the form to the grades of the ranked documents, without
metrics, checks, ties or messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from speed.inputs import Inputs

Work = Callable[[], Mapping[str, float]]


def floor(form: str, inputs: Inputs) -> Work:
    """Prepare the floor of a form."""
    return FLOORS[form][0](inputs)


def _polars_join(run: Any, qrels: Any) -> Mapping[str, float]:
    """Sort by score and find the judged documents, as polars does it."""
    joined = run.join(qrels, ["query_id", "doc_id"], "inner", maintain_order="left")
    return {"judged and ranked": float(joined.height)}


def _text(inputs: Inputs) -> Work:
    """Prepare reading the columns and joining them with polars."""
    import polars as pl

    def read(path: Any, names: str, to: Any) -> Any:
        rows = pl.scan_csv(
            path, has_header=False, separator=" ", infer_schema=False, new_columns=names.split()
        )
        return rows.select("query_id", "doc_id", pl.col("value").cast(to)).collect()

    return lambda: _polars_join(
        read(inputs.run_text, "query_id q0 doc_id rank value tag", pl.Float64),
        read(inputs.qrels_text, "query_id q0 doc_id value", pl.Int64),
    )


def _plain_text(inputs: Inputs) -> Work:
    """Prepare cutting the lines into fields and looking up the judged documents."""

    def read() -> Mapping[str, float]:
        judged = set()
        with inputs.qrels_text.open("rb") as lines:
            for line in lines:
                query, _, doc, _ = line.split()
                judged.add((query, doc))
        found = 0
        with inputs.run_text.open("rb") as lines:
            for line in lines:
                query, _, doc, _ = line.split(None, 3)
                found += (query, doc) in judged
        return {"judged and ranked": float(found)}

    return read


def _parquet(inputs: Inputs) -> Work:
    """Prepare reading the columns and joining them with polars."""
    import polars as pl

    return lambda: _polars_join(
        pl.read_parquet(inputs.run_parquet, columns=["query_id", "doc_id", "score"]),
        pl.read_parquet(inputs.qrels_parquet),
    )


def _frames(inputs: Inputs) -> Work:
    """Prepare handing the columns to polars and joining them there."""
    import polars as pl

    qrels, run = inputs.qrels_frame(), inputs.run_frame()[["query_id", "doc_id", "score"]]
    return lambda: _polars_join(pl.from_pandas(run), pl.from_pandas(qrels))


def _built(run: Mapping[str, Any], qrels: Mapping[str, Mapping[str, float]]) -> float:
    """Look up every judged document in its ranking, or the reverse."""
    return float(sum(len(qrels[query].keys() & docs) for query, docs in run.items()))


def _dicts(inputs: Inputs) -> Work:
    """Prepare the intersection of keys, and the scores in an array."""
    import numpy as np

    qrels, run = inputs.qrels_dicts(), inputs.run_dicts()

    def found() -> Mapping[str, float]:
        for docs in run.values():
            np.fromiter(docs.values(), dtype=float, count=len(docs))
        keys = {query: docs.keys() for query, docs in run.items()}
        return {"judged and ranked": _built(keys, qrels)}

    return found


def _lists(inputs: Inputs) -> Work:
    """Prepare the intersection of keys with lists."""
    qrels, run = inputs.qrels_dicts(), inputs.run_lists()
    return lambda: {"judged and ranked": _built(run, qrels)}


def _arrays(inputs: Inputs) -> Work:
    """Prepare sorting the scores within their groups."""
    import numpy as np

    scores, _, groups = inputs.arrays()
    queries = np.repeat(np.arange(groups.size), groups)
    return lambda: {"judged and ranked": float(np.lexsort((-scores, queries)).size)}


FLOORS: dict[str, tuple[Callable[[Inputs], Work], str]] = {
    "trec": (_text, "polars reads three columns of each file and joins them"),
    "plain": (_plain_text, "Python splits the lines and looks up each pair in a set"),
    "parquet": (_parquet, "polars reads three columns of each file and joins them"),
    "dicts": (_dicts, "the scores to arrays, and the intersection of the keys of each query"),
    "prebuilt": (_dicts, "the scores to arrays, and the intersection of the keys of each query"),
    "lists": (_lists, "the intersection of each list with the keys of its query"),
    "frames": (_frames, "polars takes three columns of each frame and joins them"),
    "arrays": (_arrays, "numpy sorts the scores within their groups"),
}
"""The floor of each form, and what it does."""
