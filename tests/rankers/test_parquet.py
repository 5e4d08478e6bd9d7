"""Runs in Parquet give the same values as the same rows in a dict."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate
from pytest_rankcheck.files import parquet_files
from tests.examples import examples, run_of

pl = pytest.importorskip("polars", reason="polars is not installed")

from pytest_rankcheck.rankers import run_tables  # noqa: E402

ranked_rows = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3", "extra"]),
        st.sampled_from([f"d{i}" for i in range(15)]),
        st.integers(0, 9).map(float),
    ),
    unique_by=lambda row: row[:2],
    min_size=1,
    max_size=50,
)
GOLDEN = GoldenSet.from_dict(
    {"q1": {"d1": 1, "d2": 2, "d14": 1}, "q2": {"d3": 1, "d4": 0}, "q3": {"d9": 3}}
)


def write(path: Path, **columns: list) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


@examples(60)
@given(rows=ranked_rows, by_query=st.booleans(), batch=st.sampled_from([3, 20, 1000]))
def test_the_values_are_those_of_the_same_rows_in_a_dict(
    rows: list, by_query: bool, batch: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if by_query:
        rows.sort(key=lambda row: row[0])
    queries, docs, scores = zip(*rows, strict=True)
    path = tmp_path_factory.getbasetemp() / "random.parquet"
    write(path, query_id=list(queries), doc_id=list(docs), score=list(scores), other=list(docs))
    given: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score in rows:
        given.setdefault(query_id, {})[doc_id] = score
    if not set(given) & set(GOLDEN.query_ids):
        return
    expected = evaluate(run_of(given), GOLDEN)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(run_tables, "_BATCH_ROWS", batch)
        scan_parquet, loaded = Run.scan(path), Run.load(path)
        for run in (scan_parquet, loaded):
            evaluation = evaluate(run, GOLDEN)
            for name in ("nDCG", "AP@5", "NumRet"):
                assert evaluation.values(name).tobytes() == expected.values(name).tobytes()
            assert evaluation.missing == expected.missing
            for query_id in GOLDEN.query_ids:
                assert evaluation.ranking(query_id)[:20] == expected.ranking(query_id)[:20]
    assert loaded.is_in_memory
    assert not scan_parquet.is_in_memory


def test_without_polars_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "r.parquet", query_id=["q"], doc_id=["d"], score=[1.0])
    monkeypatch.setattr(parquet_files, "find_spec", lambda name: None)
    with pytest.raises(RunError, match=r"pip install polars"):
        Run.load(path)
