"""LETOR and SVMlight files, with features."""

from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError
from tests import reference

LINES = """# a comment
2 qid:10 1:0.5 3:0.25 #docid = GX008-86 inc = 1 prob = 0.086
0 qid:10 2:1e-3 #docid = GX037-06 inc = 0.0031 prob = 0.897
1 qid:q2 1:1 # d7 red shoes

0 qid:q2 # d8 red shoes
1 qid:11 2:3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rank.test"


def test_features_documents_and_texts(file: Path) -> None:
    file.write_text(LINES)
    golden = GoldenSet.load(file)
    assert {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids} == {
        "10": {"GX008-86": 2, "GX037-06": 0}, "q2": {"d7": 1, "d8": 0}, "11": {"5": 1},
    }  # fmt: skip
    assert [query.text for query in golden] == [None, None, None]
    frame = golden.candidates
    assert list(frame.columns) == ["query_id", "doc_id", "1", "2", "3"]
    assert list(frame["1"]) == [0.5, 0, 1, 0, 0]
    assert list(frame["2"]) == [0, 0.001, 0, 0, 3]
    assert list(golden.candidates_of("q2")) == ["d7", "d8"]


def test_features_are_ordered_by_number(file: Path) -> None:
    file.write_text("1 qid:1 10:1 9:1 007:2\n")
    golden = GoldenSet.load(file)
    assert list(golden.candidates.columns)[2:] == ["7", "9", "10"]
    assert list(golden.sample(1).candidates.columns)[2:] == ["7", "9", "10"]


@pytest.mark.parametrize("ending", ["query", "group"])
def test_the_sizes_of_queries_can_be_in_a_file_beside_it(file: Path, ending: str) -> None:
    file.write_text("1 1:0.5\n0 1:0.25\n2 2:1\n")
    with pytest.raises(
        GoldenSetError, match=r"rank\.test:1: no qid:, and no file rank.test.query or .group"
    ):
        GoldenSet.load(file)
    sizes = file.with_name(f"rank.test.{ending}")
    sizes.write_text("2\n1\n")
    golden = GoldenSet.load(file)
    assert golden.grades("1") == {"1": 1, "2": 0}
    assert golden.grades("2") == {"3": 2}
    sizes.write_text("2\n")
    with pytest.raises(
        GoldenSetError, match=rf"rank.test.{ending} covers 2 rows, but there are 3; is one"
    ):
        GoldenSet.load(file)
    sizes.write_text("2\n2\n")
    with pytest.raises(
        GoldenSetError, match=rf"{ending} covers 4 rows, but there are 3; is one of the file"
    ):
        GoldenSet.load(file)
    sizes.write_text("2\nx\n")
    with pytest.raises(GoldenSetError, match=rf"rank\.test\.{ending}:2: 'x' is not a size"):
        GoldenSet.load(file)


def test_a_malformed_line_is_reported(file: Path) -> None:
    for line, message in (
        ("x qid:1 1:2", "the grade of document '2' is 'x'"),
        ("1 qid:1 1:x", "'1:x' is not feature:value"),
        ("1 qid:1 1:nan", "'1:nan' is not feature:value"),
        ("1 qid:1 1", "'1' is not feature:value"),
        ("1 qid:1 :5", "':5' is not feature:value"),
        ("1 qid:1 bm25:5", "'bm25:5' is not feature:value"),
        ("1 qid:1 2:1 02:3", "duplicate feature '2'"),
        ("0 qid:1 1:1 # d", "document 'd' of query '1' has two lines"),
    ):
        file.write_text(f"1 qid:1 1:1 # d\n{line}\n")
        with pytest.raises(GoldenSetError, match=message) as refused:
            GoldenSet.load(file)
        assert str(refused.value).startswith(f"{file}:2: ")


def test_comments_that_repeat_are_not_ids(file: Path) -> None:
    lines = "1 qid:1 1:9 # good\n1 qid:1 1:9 # good\n"
    file.write_text(lines)
    message = r"test:2: document 'good' of query '1' has two lines; .* or remove all comments"
    with pytest.raises(GoldenSetError, match=message):
        GoldenSet.load(file)
    file.write_text(lines.replace("# good", ""))
    assert GoldenSet.load(file).grades("1") == {"1": 1, "2": 1}


@pytest.mark.oracle
def test_a_real_collection_reads_like_scikit_learn_reads_it() -> None:
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    path = reference.data("lightgbm-lambdarank/rank.test")
    golden = GoldenSet.load(path)
    features, grades = datasets.load_svmlight_file(str(path))
    sizes = [int(line) for line in path.with_name("rank.test.query").read_text().split()]
    assert len(golden) == len(sizes) == 50
    assert [len(golden.grades(query_id)) for query_id in golden.query_ids] == sizes
    ours = [grade for query_id in golden.query_ids for grade in golden.grades(query_id).values()]
    assert ours == list(grades)
    frame = golden.candidates.drop(columns=["query_id", "doc_id"])
    frame = frame[sorted(frame.columns, key=int)]
    dense = features.toarray()
    used = [
        int(name) - 1 for name in frame.columns
    ]  # features without a value in any row are absent
    assert np.array_equal(frame.to_numpy(), dense[:, used])
    assert not np.delete(dense, used, axis=1).any()


JUDGMENT_LIST = """# Elasticsearch's and OpenSearch's plugins for learning to rank
# qid:1: deep sea*1
# qid:2: 2 * 3
#
4\tqid:1\t # s1\tdeep sea
0\tqid:1\t # s2\tThe Sea
3\tqid:2\t#\ts1\tthe sums
"""


def test_a_judgment_list_with_tabs(file: Path) -> None:
    file.write_text(JUDGMENT_LIST)
    golden = GoldenSet.load(file)
    assert golden.grades("1") == {"s1": 4, "s2": 0}
    assert golden.grades("2") == {"s1": 3}
    assert [query.text for query in golden] == ["deep sea", "2 * 3"]
    file.write_text("".join(JUDGMENT_LIST.splitlines(keepends=True)[4:]))
    assert [query.text for query in GoldenSet.load(file)] == [None, None]
