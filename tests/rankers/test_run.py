"""Runs: construction, files, ties, depths, and invalid input."""

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_rankcheck
from pytest_rankcheck import ConfigurationError, GoldenSet, RankcheckError, Run, RunError, evaluate
from tests.examples import examples, run_of

# --- making ------------------------------------------------------------------------------------


def test_a_run_from_a_dict() -> None:
    run = Run.from_dict({"q1": ["d7", "d3"], 2: {"a": 1.0, "b": 2.0}, "q3": []}, name="bm25")
    assert run.query_ids == ("q1", "2", "q3")
    assert run["2"] == ("b", "a")
    assert "q3" in run
    assert "absent" not in run
    assert len(run) == 3
    assert list(run) == ["q1", "2", "q3"]
    assert repr(run) == "Run('bm25', 3 queries, 4 documents)"


@pytest.mark.parametrize("ask", [Run.__getitem__, Run.ranking, Run.scores, Run.has_ties])
def test_every_access_to_an_unknown_query_raises_the_same_error(ask: Callable[..., object]) -> None:
    run = Run.from_dict({"q117": ["a"], "q2": ["b"]}, name="bm25")
    with pytest.raises(KeyError) as caught:
        ask(run, "q118")
    assert isinstance(caught.value, RankcheckError)
    assert str(caught.value) == "run 'bm25' has no query 'q118'; did you mean 'q117'?"
    assert run.get("q118") == ()
    assert run.get("q117") == run.ranking("q117") == run["q117"] == ("a",)


@pytest.mark.parametrize("bad", [None, 1.5, "", True])
def test_an_invalid_query_id_is_refused(bad: object) -> None:
    with pytest.raises(RunError):
        Run.from_dict({bad: ["d"]})  # type: ignore[dict-item]


def test_the_top_of_a_run() -> None:
    run = Run.from_dict({"q": [("a", 3), ("b", 2), ("c", 1)], "p": []}, ties="input")
    top = run.top(2)
    assert top["q"] == ("a", "b")
    assert top["p"] == ()
    assert top.depth == 2
    assert top.ties == "input"
    assert top.to_frame()["score"].tolist() == [3, 2]
    assert run["q"] == ("a", "b", "c")
    assert run.top(10)["q"] == ("a", "b", "c")


def test_answers_of_several_forms_keep_their_order() -> None:
    answers = {
        "listed": ["b", "a"],
        "scored": {"a": 1.0, "b": 2.0},
        "pairs": [("b", 0.5), ("a", 0.25)],
        "empty": [],
        "scored too": {"b": 3.0, "a": 1.0},
    }
    run = Run.from_dict(answers)
    assert list(run) == list(answers) == list(run.top(1))
    assert [run[query_id] for query_id in run] == [("b", "a")] * 3 + [(), ("b", "a")]
    scores = [None, (2.0, 1.0), (0.5, 0.25), None, (3.0, 1.0)]
    assert [run.scores(query_id) for query_id in run] == scores


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_one_is_refused(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 1.0 t\n")
    for make in (
        lambda: Run.from_dict({"q": ["a", "b"]}, depth=depth),
        lambda: Run.from_dict({"q": ["a", "b"]}).top(depth),
        lambda: Run.load(path).top(depth),
        lambda: Run.scan(path).top(depth),
        lambda: Run({}, depth=depth),
    ):
        with pytest.raises(RunError, match=f"^depth={depth} is invalid; give a whole number from"):
            make()


# --- TREC files ------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bm25.run"


def test_the_score_decides_and_ties_are_by_document_id(file: Path) -> None:
    file.write_text("q Q0 a 1 1.0 t\nq Q0 c 2 2e0 t\nq Q0 b 3 1 t\n# a comment\nq Q0 d 4 -0.5 t\n")
    run = Run.load(file)
    assert run.name == "bm25.run"
    assert run["q"] == ("c", "b", "a", "d")
    assert Run.load(file, ties="input")["q"] == ("c", "a", "b", "d")
    with pytest.raises(RunError, match=r"bm25.run: query 'q': documents 'a' and 'b' have the same"):
        Run.load(file, ties="error")


# --- our own files -------------------------------------------------------------------------------


def test_a_malformed_line_of_our_own_format_is_reported(file: Path) -> None:
    for line, message in (
        ("{", "not JSON"),
        ("[1]", "not an object but"),
        ("{}", "not of the form"),
        ('{"query_id": 5, "ranking": []}', "not of the form"),
        ('{"query_id": "q"}', "not of the form"),
        ('{"query_id": "q", "ranking": "ab"}', "not of the form"),
        ('{"query_id": "q", "ranking": [1.5]}', "query 'q': a document id is 1.5"),
        ('{"query_id": "q", "ranking": [null]}', "a document id is None"),
        (
            '{"query_id": "q", "ranking": ["a"], "scores": [1, 2]}',
            "must have one number per document",
        ),
        ('{"query_id": "q", "ranking": ["a"], "scores": 5}', "must have one number per document"),
        (
            '{"query_id": "q", "ranking": ["a"], "scores": ["x"]}',
            "the score of document 'a' is 'x'",
        ),
        ('{"query_id": "q", "ranking": ["a"], "scores": [NaN]}', "NaN is not a finite number"),
        ('{"query_id": "q0", "ranking": ["a"]}', "duplicate query 'q0'"),
        ('{"query_id": "q", "ranking": [' + "[" * 100_000, "nested more than 100 deep"),
    ):
        file.write_text('{"query_id": "q0", "ranking": ["a"]}\n\n' + line)
        with pytest.raises(RunError, match=message) as failure:
            Run.load(file)
        assert str(failure.value).startswith(f"{file}:3: ")
        assert len(str(failure.value)) < 1000


# --- files in general ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [None, "trec", "jsonl"])
@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n"])
def test_an_empty_run_file_is_refused(file: Path, text: str, format: str | None) -> None:
    file.write_text(text)
    with pytest.raises(RunError, match=r"bm25.run is empty|bm25.run' .* the run has no query"):
        evaluate(Run.load(file, format), GoldenSet.from_dict({"q": {"d": 1}}))


def test_a_run_file_that_cannot_be_read_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"bm25.run: no such file"):
        Run.load(file)
    with pytest.raises(RunError, match="no parts match"):
        Run.load(tmp_path)
    file.write_bytes(b"q Q0 caf\xe9 1 1 t\n")
    with pytest.raises(RunError, match=r"bm25.run:1: byte 9 is not UTF-8"):
        Run.load(file)
    file.write_text("q,a,1\n")
    with pytest.raises(RunError, match=r"bm25.run:1: unknown format of runs"):
        Run.load(file)
    with pytest.raises(RunError, match=r"unknown format 'tec' of runs; did you mean 'trec'\?"):
        Run.load(file, "tec")
    with pytest.raises(ConfigurationError, match="ties=best is invalid"):
        Run.load(file, ties="best")  # type: ignore[arg-type]


# --- round trips -----------------------------------------------------------------------------------

NASTY = st.sampled_from(
    ["\u2028", "\x85", "\xa0", "\ufeff", "\ud800", '"', "\t", "\x00", "\r", "\n", "#", "\x1c", "é"]
)
any_text = st.lists(st.one_of(NASTY, st.text(max_size=2)), min_size=1, max_size=4).map("".join)
any_id = any_text.filter(bool)
SPACE = set(" \t\n\r\x0b\x0c")
trec_id = any_id.filter(
    lambda text: (
        not SPACE & set(text)
        and text[0] not in "#\ufeff"
        and not text.lstrip().startswith("{")  # after white space of Unicode, too
        and not any(0xD800 <= ord(char) < 0xE000 for char in text)
    )
)
scores = st.floats(-1e9, 1e9)


def runs(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Run]:
    rankings = st.one_of(
        st.lists(ids, unique=True, max_size=6),
        st.lists(st.tuples(ids, scores), unique_by=lambda pair: pair[0], max_size=6),
        st.dictionaries(ids, st.integers(0, 2).map(float), max_size=6),
    )
    return st.dictionaries(ids, rankings, min_size=1, max_size=3).map(run_of)


@examples(200)
@given(runs(any_id))
def test_a_run_survives_saving_and_loading_as_jsonl(run: Run) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        run.save(file)
        again = Run.load(file)
        assert {query: again[query] for query in again} == {query: run[query] for query in run}
        with contextlib.suppress(UnicodeEncodeError):  # Arrow strings have no lone surrogates
            pd.testing.assert_frame_equal(again.to_frame(), run.to_frame())


@examples(200)
@given(runs(trec_id))
def test_the_order_survives_saving_and_loading_as_trec(run: Run) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.trec"
        run.save(file)
        ranked = {query: run[query] for query in run if run[query]}
        if ranked:
            again = Run.load(file, "trec")
            assert {query: again[query] for query in again} == ranked


plain = st.sampled_from([f"d{i}" for i in range(12)])
close_scores = st.sampled_from([1.0, 1.0 + 1e-12, 1.0 + 1e-9, 2.0, 0.1 + 0.2, 0.3])


@pytest.mark.oracle
@examples(60)
@given(
    st.lists(st.tuples(plain, close_scores), min_size=1, unique_by=lambda pair: pair[0]),
    st.dictionaries(plain, st.integers(0, 3), min_size=1),
)
def test_other_evaluators_read_the_same_order_from_a_saved_run(
    pairs: list[tuple[str, float]], judged: dict[str, int]
) -> None:
    """The same holds if scores are tied, equal as float32, or out of order."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    run = run_of({"q": pairs})
    ours = evaluate(run, GoldenSet.from_dict({"q": judged}))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.trec"
        run.save(file)
        with file.open() as lines:
            read = pytrec_eval.parse_run(lines)
        theirs = pytrec_eval.RelevanceEvaluator({"q": judged}, {"ndcg", "map"}).evaluate(read)
        read_too = list(ir_measures.read_trec_run(str(file)))
    assert theirs["q"]["ndcg"] == pytest.approx(ours.mean("nDCG"), abs=1e-9)
    assert theirs["q"]["map"] == pytest.approx(ours.mean("AP"), abs=1e-9)
    qrels = [ir_measures.Qrel("q", doc, grade) for doc, grade in judged.items()]
    found = ir_measures.calc_aggregate([ir_measures.nDCG @ 5], qrels, read_too)
    assert found[ir_measures.nDCG @ 5] == pytest.approx(ours.mean("nDCG@5"), abs=1e-9)


def test_a_run_does_not_change_after_it_is_made() -> None:
    run = Run.from_dict({"q": ["a", "b"]}, name="new")
    other = run.with_facts(name="old", asked="web")
    assert (run.name, run.asked, other.name, other.asked) == ("new", None, "old", "web")
    assert other.rankings() == run.rankings()
    package = Path(pytest_rankcheck.__file__).parent
    written = {
        str(path.relative_to(package)): found
        for path in package.rglob("*.py")
        if (found := re.findall(r"\b(?:run|matched|reordered)\.\w+ = .*", path.read_text("utf-8")))
    }
    assert set(written) == {"rankers/run.py"}
