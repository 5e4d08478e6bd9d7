"""Runs in tables: CSV, TSV and Parquet, read and written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate
from tests.examples import examples, run_of
from tests.libraries import forms

TABLE = "query_id,doc_id,score\nq1,a,1\nq1,b,2.5\nq2,c,1e-3\nq1,c,1\n"
RANKED = {"q1": ["b", "c", "a"], "q2": ["c"]}  # tied: by document id, descending


def rankings_of(run: Run) -> dict[str, list[str]]:
    return {query_id: list(run[query_id]) for query_id in run}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bm25.table"


@pytest.mark.parametrize(
    "header", ["query_id,doc_id,score", "qid,docno,Score", "query-id,corpus-id,similarity"]
)
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_scores_decide(file: Path, header: str, separator: str) -> None:
    file.write_text(
        TABLE.replace("query_id,doc_id,score", header).replace(",", separator), newline="\r\n"
    )
    assert rankings_of(Run.load(file)) == RANKED
    golden = GoldenSet.from_dict({"q1": {"a": 1, "x": 1}, "q2": {"c": 1}})
    evaluation = evaluate(Run.scan(file), golden)
    assert evaluation.ranks("q1")["a"] == 3
    assert evaluation.mean("RR") == (1 / 3 + 1) / 2


def test_without_scores_ranks_decide(file: Path) -> None:
    file.write_text("docno,position,qid\na,2,q1\nb,1,q1\nc,1,q2\n")
    assert rankings_of(Run.load(file)) == {"q1": ["b", "a"], "q2": ["c"]}
    file.write_text("docno,rank,qid,score\na,2,q1,9\nb,1,q1,1\n")
    assert rankings_of(Run.load(file)) == {"q1": ["a", "b"]}  # as in trec_eval


def test_a_malformed_table_is_reported(file: Path) -> None:
    for text, message in (
        ("qid,docno,score\nq,d\n", r":2: 2 columns, but the header has 3"),
        ("qid,docno,score\nq;d;1\n", r":2: 1 column, but the header has 3: .* by a comma"),
        ("qid,docno,score\nq,,1\n", ":2: doc_id is empty"),
        ("qid,docno,score\n,d,1\n", ":2: query_id is empty"),
        ("qid,docno,score\nq,d,1\nq,e,nan\n", ":3: the score of document 'e' is 'nan', not a fin"),
        ("qid,docno,score\nq,d,1_0\n", ":2: the score of document 'd' is '1_0'"),
        ("qid,docno,rank\nq,d,first\n", ":2: the rank of document 'd' is 'first'"),
        ("qid,docno,score\nq,d,1\nq,d,2\n", "document 'd' is ranked twice"),
        ("qid,docno,what\nq,d,1\n", "no column score or rank; it has qid, docno, what"),
        ("qid,docno,scor\nq,d,1\n", r"columns=\{'score': .*\}, if the highest is best"),
        (
            "qid,docno\nq,d\n",
            r"it has qid, docno. Name .* or columns=\{'rank': \.\.\.\}, if it is 1",
        ),
        (
            "qid,docnoo,postion\nq,d,1\n",
            "no column 'doc_id', 'score or rank'. Are 'docnoo' and 'po",
        ),
        ("a,b,c\nq,d,1\n", "unknown format of runs"),
        ("qid;docno;score\nq;d;1,5\n", ":2: .*'1,5', not a finite number"),
    ):
        file.write_text(text)
        with pytest.raises(RunError, match=message) as refused:
            Run.load(file)
        assert str(refused.value).startswith(str(file))
        with pytest.raises(RunError, match=message):
            evaluate(Run.scan(file), GoldenSet.from_dict({"q": {"d": 1}}))


_ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
_runs = st.dictionaries(
    _ids,
    st.dictionaries(_ids, st.floats(-1e300, 1e300), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("ending", forms("csv", "tsv", "parquet", "tsv.gz"))
@given(scored=_runs, with_scores=st.booleans())
@examples(40)
def test_a_table_survives_saving_and_loading(
    tmp_path_factory: pytest.TempPathFactory, ending: str, scored: dict, with_scores: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / f"there.and.back.{ending}"
    run = run_of(scored if with_scores else {q: list(docs) for q, docs in scored.items()})
    run.save(file)
    again = Run.load(file)
    assert rankings_of(again) == rankings_of(run)
