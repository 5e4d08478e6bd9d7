"""Tables without scores, in which the rank decides: from CSV, Parquet and frames."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate
from tests.libraries import forms

GOLDEN = GoldenSet.from_dict({"q": {"a": 1, "b": 1}, "p": {"c": 1}}, queries={"q": "q", "p": "p"})

Row = tuple[str, str, float]
Make = Callable[..., Run]


def rows_of(ranks: Sequence[float]) -> list[Row]:
    """A query whose documents a, b, c, ... have these ranks, and one that is complete."""
    docs = [("q", doc, rank) for doc, rank in zip("abcdefg", ranks, strict=False)]
    return [*docs, ("p", "c", 1)]


def in_a_frame(rows: list[Row], folder: Path, **options: Any) -> Run:
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return Run.from_frame(frame, **options)


def _file(rows: list[Row], folder: Path, ending: str) -> Path:
    file = folder / f"ranks.{ending}"
    if ending == "csv":
        lines = [f"{query},{doc},{rank}" for query, doc, rank in rows]
        file.write_text("\n".join(["query_id,doc_id,rank", *lines]) + "\n")
        return file
    import polars as pl

    pl.DataFrame(rows, schema=["query_id", "doc_id", "rank"], orient="row").write_parquet(file)
    return file


def _loaded(ending: str) -> Make:
    return lambda rows, folder, **options: Run.load(_file(rows, folder, ending), **options)


def _scanned(ending: str) -> Make:
    def make(rows: list[Row], folder: Path, **options: Any) -> Run:
        run = Run.scan(_file(rows, folder, ending), **options)
        assert not run.is_in_memory
        evaluate(run, GOLDEN)
        assert not run.is_in_memory
        return run

    return make


MAKERS: dict[str, Make] = {
    "frame": in_a_frame,
    **{f"{ending} loaded": _loaded(ending) for ending in ("csv", "parquet")},
    **{f"{ending} scanned": _scanned(ending) for ending in ("csv", "parquet")},
}


@pytest.fixture(params=forms(*MAKERS))
def make(request: pytest.FixtureRequest) -> Make:
    return MAKERS[request.param]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([1, 2, 3], "abc"), ([0, 1, 2], "abc"), ([3, 1, 2], "bca"), ([2, 0, 1], "bca"), ([1], "a")],
)
def test_complete_ranks_decide_from_0_or_from_1(
    make: Make, tmp_path: Path, ranks: list[float], expected: str
) -> None:
    run = make(rows_of(ranks), tmp_path)
    assert "".join(run["q"]) == expected
    assert evaluate(run, GOLDEN).ranks("q")["a"] == expected.index("a") + 1


def test_a_gap_or_a_repeat_is_an_error(make: Make, tmp_path: Path) -> None:
    for ranks, place in (
        ([9], 1),
        ([1, 3], 2),
        ([0, 2, 1, 4], 3),
        ([1, 2, 2, 4], 3),
        ([0, 0, 1], 1),
        ([-1, 0, 1], 1),
        ([1.0, 1.5, 2.0], 2),
    ):
        rows = [(query, doc, float(rank)) for query, doc, rank in rows_of(ranks)]
        with pytest.raises(RunError) as failure:
            make(rows, tmp_path)
        said = str(failure.value)
        assert (
            f"query 'q': its ranks have a gap or a repeat at {place}; without scores the ranks decide"
            in said
        )
        assert said.endswith("if the ranks give only the order, number them anew")
