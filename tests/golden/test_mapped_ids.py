"""``doc_id=``: the ids of golden sets and runs, mapped by a named rule or a function."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Expectation,
    GoldenSet,
    GoldenSetError,
    MetricWarning,
    Run,
    RunError,
    evaluate,
    rank,
)
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes

HAS_POLARS = find_spec("polars") is not None
JUDGMENTS = {"q1": {"Red-Hat": 2, "Scarf": 0}, "q2": {"TIE": 1}}


def golden_sets(folder: Path, **options: Any) -> list[GoldenSet]:
    """Return the same golden set from every constructor."""
    frame = pd.DataFrame(
        [
            (query_id, doc_id, grade)
            for query_id, judged in JUDGMENTS.items()
            for doc_id, grade in judged.items()
        ],
        columns=["query_id", "doc_id", "relevance"],
    )

    class Row:
        def __init__(self, **cells: object) -> None:
            vars(self).update(cells)
            self._fields = tuple(cells)

    class Dataset:
        def qrels_iter(self) -> list[Row]:
            return [
                Row(query_id=query_id, doc_id=doc_id, relevance=grade)
                for query_id, doc_id, grade in frame.itertuples(index=False)
            ]

        def queries_iter(self) -> list[Row]:
            return [Row(query_id="q1", text=None), Row(query_id="q2", text=None)]

    plain = GoldenSet.from_dict(JUDGMENTS)
    sets = [
        GoldenSet.from_dict(JUDGMENTS, **options),
        GoldenSet.from_frame(frame, **options),
        GoldenSet.from_ir_datasets(Dataset(), **options),
    ]
    for name in ("web.jsonl", "web.qrels", "web.csv", *(["web.parquet"] if HAS_POLARS else [])):
        plain.save(folder / name, name.rpartition(".")[2].replace("qrels", "trec"))
        sets.append(GoldenSet.load(folder / name, **options))
    return sets


def test_every_constructor_of_a_golden_set_maps_ids(tmp_path: Path) -> None:
    expected = GoldenSet.from_dict({"q1": {"red-hat": 2, "scarf": 0}, "q2": {"tie": 1}})
    plain = GoldenSet.from_dict(JUDGMENTS)
    for golden in golden_sets(tmp_path, doc_id="lower"):
        assert golden.grades("q1") == {"red-hat": 2, "scarf": 0}
        assert golden.fingerprint == expected.fingerprint
    for golden in golden_sets(tmp_path):
        assert golden.fingerprint == plain.fingerprint


RANKINGS: dict[str, list[str]] = {"q1": ["SHOE", "RED-HAT"], "q2": ["Tie"]}


@pytest.mark.parametrize("rule", ["lower", str.lower, ["strip", "lower"]])
def test_every_constructor_of_a_run_maps_ids(rule: Any, tmp_path: Path) -> None:
    golden = GoldenSet.from_dict(JUDGMENTS, doc_id=rule)
    rows = [
        (query_id, doc, rank)
        for query_id, docs in RANKINGS.items()
        for rank, doc in enumerate(docs)
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    scored = {q: {doc: -float(i) for i, doc in enumerate(docs)} for q, docs in RANKINGS.items()}
    queries = GoldenSet.from_dict(JUDGMENTS, queries={"q1": "q1", "q2": "q2"})
    runs = [
        Run.from_dict(RANKINGS, doc_id=rule),
        Run.from_dict(scored, doc_id=rule),
        Run.from_frame(frame.assign(rank=frame["rank"] + 1), doc_id=rule),
        rank(lambda text: RANKINGS[text], queries, doc_id=rule),
    ]
    for name in ("a.run", "a.jsonl", "a.csv", *(["a.parquet"] if HAS_POLARS else [])):
        Run.from_dict(RANKINGS).save(tmp_path / name)
        runs += [Run.load(tmp_path / name, doc_id=rule), Run.scan(tmp_path / name, doc_id=rule)]
        runs.append(Run.scan(tmp_path / name, doc_id=rule).top(2))
    for run in runs:
        assert evaluate(run, golden).mean("RR") == 0.75
        assert run["q1"] == ("shoe", "red-hat")


@pytest.mark.parametrize(
    ("rule", "given", "mapped"),
    [
        ("lower", "Red-HAT", "red-hat"),
        ("strip", " a\t", "a"),
        ("strip_zeros", "007", "7"),
        ("strip_zeros", "000", "0"),
        ("strip_zeros", "00a", "00a"),
        ("nfc", "e\u0301", "\u00e9"),
        ("unquote", "a%20b", "a b"),
        ("remove_prefix:doc_", "doc_1", "1"),
        ("remove_prefix:doc_", "a_doc_1", "a_doc_1"),
        ("remove_suffix:.html", "a.html", "a"),
        ("before:#", "a#1#2", "a"),
        ("before:::", "a::1", "a"),
        ("before:#", "a", "a"),
        ("after:/", "https://x/a", "a"),
        ("after:/", "a", "a"),
        (["unquote", "before:#"], "a%231", "a"),
        (lambda doc_id: doc_id.rpartition("_")[0], "doc_12_3", "doc_12"),
    ],
)
def test_rules(rule: Any, given: str, mapped: str) -> None:
    assert Run.from_dict({"q": [given]}, doc_id=rule)["q"] == (mapped,)


# --- invalid rules -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("lowr", r"doc_id=lowr is invalid; did you mean 'lower'\?; give a function .* or one of"),
        ("before", "doc_id=before is invalid; write it like before:#"),
        ("lower:x", "doc_id=lower:x is invalid; 'lower' takes no argument"),
        ("", "doc_id= is invalid"),
        ([], r'doc_id=\[\] is invalid; .*; or a list of them, such as \["lower", "strip"\]'),
        (5, "doc_id=5 is invalid; give a function from an id to an id"),
        ([5], "doc_id=5 is invalid"),
        ({"a": "b"}, "is invalid; give a function"),
    ],
)
def test_invalid_rules(rule: Any, message: str) -> None:
    for make in (
        lambda: GoldenSet.from_dict(JUDGMENTS, doc_id=rule),
        lambda: Run.from_dict(RANKINGS, doc_id=rule),
    ):
        with pytest.raises(ConfigurationError, match=message):
            make()


def nothing(doc_id: str) -> Any:
    return None


def number(doc_id: str) -> Any:
    return 7


def empty(doc_id: str) -> str:
    return ""


def failing(doc_id: str) -> str:
    return doc_id.split("#")[1]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (nothing, "doc_id=nothing maps document 'a' to None; an id is a text that is not empty"),
        (number, "doc_id=number maps document 'a' to 7; an id"),
        (empty, "doc_id=empty maps document 'a' to ''"),
        (failing, "doc_id=failing failed on document 'a': IndexError: list index out of range"),
        ("remove_prefix:a", "doc_id=remove_prefix:a maps document 'a' to ''"),
    ],
)
def test_a_mapping_that_does_not_return_an_id(rule: Any, message: str, tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}}, queries={"q": "text"})
    Run.from_dict({"q": ["a"]}).save(tmp_path / "a.run")
    makers: tuple[Callable[[], object], ...] = (
        lambda: GoldenSet.from_dict({"q": {"a": 1}}, doc_id=rule),
        lambda: Run.from_dict({"q": ["a"]}, doc_id=rule),
        lambda: Run.load(tmp_path / "a.run", doc_id=rule),
        lambda: rank(lambda text: ["a"], golden, doc_id=rule),
    )
    for make in makers:
        with pytest.raises(ConfigurationError) as failure:
            make()
        assert message in str(failure.value)


# --- documents that become one -------------------------------------------------------------------


def test_two_grades_for_one_mapped_document_are_an_error_with_both() -> None:
    judged = {"q1": {"A": 2, "a": 0}}
    with pytest.raises(GoldenSetError) as failure:
        GoldenSet.from_dict(judged, doc_id="lower")
    assert str(failure.value) == (
        "query 'q1': doc_id=lower maps documents 'A' (grade 2) and 'a' (grade 0) to 'a'; correct a "
        "judgment, or choose the grade that counts, such as contradictions='highest'"
    )
    same = GoldenSet.from_dict({"q1": {"A": 2, "a": 2}, "q2": {"a": 0}}, doc_id="lower")
    assert (same.grades("q1"), same.grades("q2")) == ({"a": 2}, {"a": 0})


@pytest.mark.parametrize(("rule", "grade"), [("highest", 2), ("first", 0), ("last", 1)])
def test_a_rule_for_contradictions_decides(rule: Any, grade: int, tmp_path: Path) -> None:
    path = tmp_path / "chunks.qrels"
    path.write_text("q1 0 a#1 0\nq1 0 a#2 2\nq1 0 a#3 1\nq1 0 b#1 9\n", encoding="utf-8")
    golden = GoldenSet.load(path, contradictions=rule, doc_id="before:#")
    assert golden.grades("q1") == {"a": grade, "b": 9}
    finding = golden.lint(scale=(0, 3), rules=["grade-off-scale"])[0]
    assert finding.places[0].endswith("chunks.qrels:4"), "places follow the judgments"
    (repeated,) = golden.lint(rules=["contradictory-judgment"])
    assert repeated.places == (f"{path}:2", f"{path}:3")


def test_titles_candidates_and_expectations_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("query_id,doc_id,relevance,title,price\nq1,A,1,Hat,5\nq1,B,0,Tie,7\n", "utf-8")
    golden = GoldenSet.load(path, doc_id="lower")
    assert golden.title("a") == "Hat"
    assert golden.candidates["doc_id"].tolist() == ["a", "b"]
    assert golden.candidates["price"].tolist() == [5, 7]
    plain = GoldenSet.from_dict({"q1": {"A": 1}}).expecting(
        Expectation.above("A", "B", query="q1"), Expectation.in_top(1, "A", query="q1")
    )
    plain.save(tmp_path / "expecting.jsonl")
    above, in_top = GoldenSet.load(tmp_path / "expecting.jsonl", doc_id="lower").expectations
    assert (above.documents, above.others, in_top.documents) == (("a",), ("b",), ("a",))


def test_a_column_of_candidates_without_a_cell_stays(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("query_id,doc_id,relevance,candidate:age,price\nq,A,1,,5\nq,B,0,,7\n", "utf-8")
    expected = ["query_id", "doc_id", "age", "price"]
    assert GoldenSet.load(path).candidates.columns.tolist() == expected
    assert GoldenSet.load(path, doc_id="lower").candidates.columns.tolist() == expected


def test_candidates_and_expectations_that_become_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("query_id,doc_id,relevance,price\nq1,A,1,5\nq1,a,1,7\n", "utf-8")
    with pytest.raises(GoldenSetError, match="maps candidates 'A' and 'a', which differ, to 'a'"):
        GoldenSet.load(path, doc_id="lower")
    plain = GoldenSet.from_dict({"q1": {"A": 1}})
    plain.expecting(Expectation.above("A", "a", query="q1")).save(tmp_path / "shop.jsonl")
    with pytest.raises(GoldenSetError, match="query 'q1': after doc_id=lower: above: "):
        GoldenSet.load(tmp_path / "shop.jsonl", doc_id="lower")


def test_documents_of_a_ranking_that_become_one_follow_the_rule_for_duplicates() -> None:
    chunks = {"q1": ["a#1", "a#2", "b#1"]}
    with pytest.raises(RunError, match="document 'a' is ranked twice, at 1 and 2"):
        Run.from_dict(chunks, doc_id="before:#")
    golden = GoldenSet.from_dict({"q1": {"b": 1}})
    closed = Run.from_dict(chunks, doc_id="before:#", duplicates="close_gaps")
    kept = Run.from_dict(chunks, doc_id="before:#", duplicates="keep_places")
    assert evaluate(closed, golden).mean("RR") == 1 / 2
    assert evaluate(kept, golden).mean("RR") == 1 / 3


# --- many documents that become few --------------------------------------------------------------


def test_a_rule_that_makes_one_document_of_all_is_an_error() -> None:
    judged = {f"q{number}": {f"doc-{number}": 1} for number in range(12)}
    with pytest.raises(GoldenSetError) as failure:
        GoldenSet.from_dict(judged, doc_id="before:-")
    assert str(failure.value) == (
        "doc_id=before:- maps all 12 judged documents to doc, so every ranking would look perfect; "
        "choose a rule that keeps different documents apart"
    )
    few = dict(list(judged.items())[:4])
    assert GoldenSet.from_dict(few, doc_id="before:-").grades("q1") == {"doc": 1}


def test_a_rule_that_makes_less_than_half_of_the_documents_is_a_finding_and_a_warning() -> None:
    judged = {f"q{n}": {f"guide{n}#{chunk}": 1 for chunk in range(3)} for n in range(4)}
    golden = GoldenSet.from_dict(judged, doc_id="before:#")
    text = "doc_id= maps 12 judged documents to 4 ids"
    for part in (golden, golden.subset(["q1"])):
        assert [text in found.message for found in part.lint(rules=["merged-ids"])] == [True]
    run = Run.from_dict({"q1": ["guide1"]})
    with pytest.warns(MetricWarning, match=text):
        evaluation = evaluate(run, golden)
    assert any(text in note.text for note in evaluation_notes(evaluation))
    half = {f"q{n}": {f"guide{n}#{chunk}": 1 for chunk in range(2)} for n in range(4)}
    assert not GoldenSet.from_dict(half, doc_id="before:#").lint(rules=["merged-ids"])
    assert not GoldenSet.from_dict(judged).lint(rules=["merged-ids"])


def test_a_dict_can_choose_between_grades_of_documents_that_become_one() -> None:
    judged = {"q": {"A-1": 1, "A-2": 2}}
    with pytest.raises(GoldenSetError, match="such as contradictions='highest'"):
        GoldenSet.from_dict(judged, doc_id="before:-")
    golden = GoldenSet.from_dict(judged, doc_id="before:-", contradictions="highest")
    assert golden.grades("q") == {"A": 2}
