"""A part of a golden set to be sent elsewhere: what a ranker sees of its queries, and no more."""

import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet
from pytest_rankcheck.golden.judged_queries import candidates_frame
from tests.libraries import NEEDS_POLARS

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": n % 4, f"d{n + 1}": 1} for n in range(9)},
    {f"q{n}": f"text {n}" for n in range(8)},
    attributes={"q1": {"locale": "en", "weight": 2}},
    scale=5,
)
TABLE = (
    "query_id,query,doc_id,relevance,clicks,brand\n"
    "q1,red,d1,1,3,a\n"
    "q1,red,d2,0,1,b\n"
    "q2,blue,d3,1,2,\n"
    "q2,blue,d4,0,7,c\n"
)


@given(st.lists(st.sampled_from(list(GOLDEN.query_ids)), min_size=1, unique=True))
def test_a_chunk_has_what_a_ranker_sees(query_ids: list[str]) -> None:
    part = GOLDEN.for_ranker(query_ids)
    for golden in (part, pickle.loads(pickle.dumps(part))):
        assert list(golden.query_ids) == query_ids
        assert list(golden) == [GOLDEN.query(query_id) for query_id in query_ids]
        for query_id in query_ids:
            assert golden.grades(query_id) == GOLDEN.grades(query_id)
            assert golden.candidates_of(query_id) == GOLDEN.candidates_of(query_id)
        assert golden.attributes == GOLDEN.attributes  # though no query of it may have them
        assert (golden.scale, golden.name) == (GOLDEN.scale, GOLDEN.name)


@pytest.mark.parametrize("query_ids", [["q1"], ["q2"], ["q2", "q1"]])
def test_candidates_keep_the_columns_of_the_whole_set(tmp_path: Path, query_ids: list[str]) -> None:
    (tmp_path / "shop.csv").write_text(TABLE)
    golden = GoldenSet.load(tmp_path / "shop.csv")
    part = pickle.loads(pickle.dumps(golden.for_ranker(query_ids)))
    assert part.contents.candidates
    now, whole = candidates_frame(part, query_ids), candidates_frame(golden, query_ids)
    assert now.to_dict() == whole.to_dict()
    assert list(now.columns) == list(whole.columns)


def test_a_chunk_does_not_carry_the_rest() -> None:
    large = GoldenSet.from_dict({f"q{n}": {"d": 1} for n in range(20_000)})
    _ = large.query_ids, large.grades("q1")
    small = len(pickle.dumps(large.for_ranker(["q1"])))
    assert small < 5000


@NEEDS_POLARS
def test_a_chunk_of_a_file_needs_no_columnar_library(tmp_path: Path) -> None:
    lines = "".join(f"q{n} 0 doc{n % 7}x 1\n" for n in range(60_000))
    (tmp_path / "web.qrels").write_text(lines)
    golden = GoldenSet.load(tmp_path / "web.qrels")
    assert b"polars" not in pickle.dumps(golden.for_ranker(["q1", "q2"]))


def test_a_query_without_candidates_has_none_in_a_part_either() -> None:
    """Otherwise its judged documents, the answers, would be what a model reranks."""
    frame = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["x", "y"], "relevance": [1, 0], "f": [1, 2.5]}
    )
    whole = GoldenSet.from_frame(frame).merge(GoldenSet.from_dict({"q2": {"good": 1}}))
    assert whole.candidates_of("q2") == []
    part = whole.subset(["q2"])
    for golden in (part, whole.for_ranker(["q2"]), part.merge(GoldenSet.from_dict({"q3": {}}))):
        assert golden.candidates_of("q2") == []
        assert golden.candidates.empty
