"""Subtopics: judged beside the highest grade of a document, for measures of diversity."""

from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, Run, evaluate

ROWS = [
    ("q1", "1", "a", 1),
    ("q1", "2", "a", 2),
    ("q1", "2", "b", 1),
    ("q1", "1", "c", 1),
    ("q1", "1", "b", 0),
    ("q2", "1", "a", 1),
]
COLUMNS = {"subtopic": "iteration"}


def table(path: Path, rows: list[tuple[str, str, str, int]], name: str = "subtopic") -> GoldenSet:
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([f"query_id,{name},doc_id,relevance", *lines, ""]))
    return GoldenSet.load(path)


def qrels(path: Path, rows: list[tuple[str, str, str, int]]) -> GoldenSet:
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return GoldenSet.load(path, format="trec", columns=COLUMNS)


def test_the_grade_is_the_highest_and_the_fingerprint_has_all(tmp_path: Path) -> None:
    golden = table(tmp_path / "a.csv", ROWS)
    assert golden.grades("q1") == {"a": 2, "b": 1, "c": 1}
    assert not golden.attributes
    assert not golden.contents.candidates
    again = [
        qrels(tmp_path / "a.qrels", ROWS),
        table(tmp_path / "b.csv", ROWS[::-1], "Subtopic ID"),
        GoldenSet.from_frame(golden_frame()),
    ]
    assert {each.fingerprint for each in again} == {golden.fingerprint}
    assert golden.subset(["q2"]).query_fingerprints["q2"] == golden.query_fingerprints["q2"]
    moved = table(tmp_path / "c.csv", [*ROWS[:3], ("q1", "2", "c", 1), *ROWS[4:]])
    assert moved.grades("q1") == golden.grades("q1")
    assert moved.query_fingerprints["q1"] != golden.query_fingerprints["q1"]
    assert moved.query_fingerprints["q2"] == golden.query_fingerprints["q2"]


def golden_frame() -> object:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(ROWS, columns=["query_id", "subtopic", "doc_id", "relevance"])


def test_ordinary_sets_stay_as_they_are(tmp_path: Path) -> None:
    # one value a query is an attribute, which can be saved and read
    constant = [("q1", "shoes", "a", 1), ("q1", "shoes", "b", 0), ("q2", "hats", "a", 1)]
    golden = table(tmp_path / "a.csv", constant)
    plain = GoldenSet.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}})
    assert golden.fingerprint == plain.fingerprint
    assert golden.slices("subtopic") == {"shoes": ["q1"], "hats": ["q2"]}
    golden.save(tmp_path / "again.csv")
    assert GoldenSet.load(tmp_path / "again.csv").slices("subtopic") == golden.slices("subtopic")
    # the second column of qrels is a round of judging, unless columns= says otherwise
    rounds = [("q1", "0.5", "a", 1), ("q1", "4", "b", 0), ("q2", "1", "a", 1)]
    (tmp_path / "a.qrels").write_text("".join(" ".join(map(str, row)) + "\n" for row in rounds))
    assert GoldenSet.load(tmp_path / "a.qrels").fingerprint == plain.fingerprint
    assert qrels(tmp_path / "b.qrels", rounds).fingerprint != plain.fingerprint


def _contradiction(path: Path) -> None:
    table(path / "a.csv", [*ROWS, ("q1", "2", "a", 1)])


def _second_round(path: Path) -> None:
    (path / "a.qrels").write_text("q1 1 a 1\nq1 2 a 2\n")
    GoldenSet.load(path / "a.qrels")


def _saved(path: Path) -> None:
    table(path / "a.csv", ROWS).save(path / "b.csv")


def _merged(path: Path) -> None:
    GoldenSet.from_dict({"q3": {"a": 1}}).merge(table(path / "a.csv", ROWS))


def _mapped(path: Path) -> None:
    table(path / "a.csv", ROWS)
    GoldenSet.load(path / "a.csv", doc_id="lower")


def test_what_would_lose_subtopics_is_refused(tmp_path: Path) -> None:
    for attempt, message in (
        (_contradiction, r"a\.csv:8: document 'a' of query 'q1.*2' is judged twice, 2 and 1"),
        (
            _second_round,
            r"a\.qrels:2: document 'a' of query 'q1' is judged twice, 1 and 2.* subtopic=iteration\)$",
        ),
        (_saved, "has subtopics, and cannot be saved; keep its file"),
        (_merged, "has subtopics, and cannot be merged"),
        (_mapped, "has subtopics, and cannot be read with doc_id="),
    ):
        with pytest.raises(GoldenSetError, match=message):
            attempt(tmp_path)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")
def test_measures_of_diversity_are_those_of_pyndeval(tmp_path: Path) -> None:
    pyndeval = pytest.importorskip("pyndeval")
    pytest.importorskip("ir_measures")
    judged = [pyndeval.SubtopicQrel(*row) for row in ROWS]
    scores = {"q1": {"c": 3.0, "x": 2.5, "a": 2.0, "b": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    run = [
        pyndeval.ScoredDoc(query_id, doc_id, score)
        for query_id, docs in scores.items()
        for doc_id, score in docs.items()
    ]
    names = {
        "alpha_nDCG@5": "alpha-nDCG@5",
        "ERR_IA@5": "ERR-IA@5",
        "StRecall@1": "strec@1",
        "AP_IA": "MAP-IA",
        "NRBP": "NRBP",
    }
    theirs = pyndeval.ndeval(judged, run, measures=list(names.values()))
    for golden in (table(tmp_path / "a.csv", ROWS), qrels(tmp_path / "a.qrels", ROWS)):
        evaluation = evaluate(Run.from_dict(scores), golden)
        for name, there in names.items():
            for query_id, value in evaluation.per_query(f"ir_measures:{name}").items():
                assert value == pytest.approx(theirs[query_id][there], abs=1e-9), name
        assert evaluation.per_query("ir_measures:StRecall@1")["q1"] == 1 / 2
        # the highest grade of a document counts for other measures
        plain = GoldenSet.from_dict({query_id: golden.grades(query_id) for query_id in scores})
        expected = evaluate(Run.from_dict(scores), plain).mean("ir_measures:Compat(p=0.8)")
        assert evaluation.mean("ir_measures:Compat(p=0.8)") == expected
        assert evaluation.mean("nDCG@3") == evaluate(Run.from_dict(scores), plain).mean("nDCG@3")
