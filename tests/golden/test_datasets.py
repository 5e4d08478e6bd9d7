"""Golden sets from ir_datasets; the test makes a dataset of its own."""

from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.golden import golden_files

pytestmark = pytest.mark.filterwarnings("ignore")  # of ir_datasets and what it imports


@pytest.fixture
def ir_datasets() -> Any:
    return pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")


@pytest.fixture
def dataset(ir_datasets: Any, tmp_path: Path) -> object:
    (tmp_path / "q.tsv").write_text("q1\tred shoes\nq2\thats\nq3\tnobody judged this\n")
    (tmp_path / "d.qrels").write_text("q1 0 d3 2\nq1 0 d7 -1\nq2 0 d1 1\n")
    return ir_datasets.create_dataset(
        queries_tsv=str(tmp_path / "q.tsv"), qrels_trec=str(tmp_path / "d.qrels")
    )


@pytest.mark.oracle
def test_the_judged_queries_of_a_dataset(dataset: object) -> None:
    golden = GoldenSet.from_ir_datasets(dataset, name="shop", grades={2: 3, 1: 1, -1: 0})
    assert golden.name == "shop"
    assert golden.query_ids == ("q1", "q2")
    assert golden.query("q1").text == "red shoes"
    assert golden.grades("q1") == {"d3": 3, "d7": 0}


@pytest.mark.oracle
def test_one_of_two_grades_is_chosen(dataset: object) -> None:
    with pytest.raises(GoldenSetError, match="such as contradictions='highest'"):
        GoldenSet.from_ir_datasets(dataset, doc_id=lambda doc_id: doc_id[0])
    golden = GoldenSet.from_ir_datasets(
        dataset, doc_id=lambda doc_id: doc_id[0], contradictions="highest"
    )
    assert golden.grades("q1") == {"d": 2}


def test_a_query_with_many_fields() -> None:
    from typing import NamedTuple

    class Topic(NamedTuple):
        query_id: str
        title: str
        description: str
        number: int

    class Qrel(NamedTuple):
        query_id: str
        doc_id: str
        relevance: int

    class Dataset:
        def queries_iter(self) -> object:
            return iter([Topic("q", "cats", "all of cats", 7)])

        def qrels_iter(self) -> object:
            return iter([Qrel("q", "d", 1)])

    golden = GoldenSet.from_ir_datasets(Dataset())
    assert golden.query("q").text == "cats"
    assert golden.query("q").attributes == {"description": "all of cats", "number": 7}


@pytest.mark.oracle
def test_a_dataset_without_judgments_is_refused(
    ir_datasets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.tsv").write_text("q1\tred shoes\n")
    unjudged = ir_datasets.create_dataset(queries_tsv=str(tmp_path / "q.tsv"))
    with pytest.raises(GoldenSetError, match="the dataset 'dataset' has no qrels"):
        GoldenSet.from_ir_datasets(unjudged)
    with pytest.raises(GoldenSetError, match="ir_datasets has no dataset 'no/such'"):
        GoldenSet.from_ir_datasets("no/such")

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(golden_files, "import_module", missing)
    with pytest.raises(GoldenSetError, match=r"pip install ir-datasets"):
        GoldenSet.from_ir_datasets("beir/scifact/test")
