"""What a form costs at the very least.

A floor is the plainest code that gets from the form to the grades of the ranked documents, without
metrics, checks, ties or messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from speed.inputs import Inputs

Work = Callable[[], Mapping[str, float]]


def floor(form: str, inputs: Inputs) -> Work:
    """Prepare the floor of a form."""
    return FLOORS[form][0](inputs)


def _polars_join(run: Any, qrels: Any) -> Mapping[str, float]:
    """Find the ranked documents that are judged, as polars does it."""
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
    """Prepare cutting the lines into words and looking up each document among its query's."""

    def read() -> Mapping[str, float]:
        judged = defaultdict[bytes, set[bytes]](set)
        with inputs.qrels_text.open("rb") as lines:
            for query, _, doc, _ in map(bytes.split, lines):
                judged[query].add(doc)
        with inputs.run_text.open("rb") as lines:
            found = sum(doc in judged[query] for query, _, doc, *_ in map(bytes.split, lines))
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


def _looked_up(run: Mapping[str, Any], qrels: Mapping[str, Mapping[str, float]]) -> int:
    """Look up the documents of each query in a dict: the judged ones or the ranked, the fewer."""
    count = 0
    for query, docs in run.items():
        judged = qrels[query]
        if isinstance(docs, dict) and len(judged) < len(docs):
            count += len(list(map(docs.get, judged)))
        else:
            count += len(list(map(judged.get, docs)))
    return count


def _dicts(inputs: Inputs) -> Work:
    """Prepare the scores in an array, and looking up documents."""
    import numpy as np

    qrels, run = inputs.qrels_dicts(), inputs.run_dicts()

    def found() -> Mapping[str, float]:
        for docs in run.values():
            np.fromiter(docs.values(), dtype=float, count=len(docs))
        return {"looked up": float(_looked_up(run, qrels))}

    return found


def _lists(inputs: Inputs) -> Work:
    """Prepare looking up documents."""
    qrels, run = inputs.qrels_dicts(), inputs.run_lists()
    return lambda: {"looked up": float(_looked_up(run, qrels))}


def _arrays(inputs: Inputs) -> Work:
    """Prepare sorting the scores of each query; the groups are equally large here."""
    import numpy as np

    scores, _, groups = inputs.arrays()
    rows = scores.reshape(groups.size, -1)
    return lambda: {"sorted": float(np.argsort(-rows, axis=1).size)}


FLOORS: dict[str, tuple[Callable[[Inputs], Work], str]] = {
    "trec": (_text, "polars reads three columns of each file and joins them"),
    "plain": (_plain_text, "Python splits the lines and looks up each document in a set"),
    "parquet": (_parquet, "polars reads three columns of each file and joins them"),
    "dicts": (_dicts, "the scores to arrays, and one lookup in a dict for each document"),
    "prebuilt": (_dicts, "the scores to arrays, and one lookup in a dict for each document"),
    "lists": (_lists, "one lookup in a dict for each document"),
    "frames": (_frames, "polars takes three columns of each frame and joins them"),
    "arrays": (_arrays, "numpy sorts the scores of each query"),
}
"""The floor of each form, and what it does."""
