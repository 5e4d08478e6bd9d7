"""``doc_id=``: the ids of golden sets and runs, mapped by a named rule or a function."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Expectation,
    GoldenSet,
    GoldenSetError,
    Run,
    assert_at_least,
    assert_not_regressed,
    evaluate,
    evaluate_part,
    rank,
)
from tests.libraries import HAS_POLARS, forms
from tests.run_forms import RUN_FORMS, run_form

JUDGMENTS = {"q1": {"Red-Hat": 2, "Scarf": 0}, "q2": {"TIE": 1}}


def test_every_constructor_of_a_golden_set_maps_ids(tmp_path: Path) -> None:
    expected = GoldenSet.from_dict({"q1": {"red-hat": 2, "scarf": 0}, "q2": {"tie": 1}})
    plain = GoldenSet.from_dict(JUDGMENTS)
    made = [
        GoldenSet.from_dict(JUDGMENTS, doc_id="lower"),
        GoldenSet.from_frame(plain.judgments, doc_id="lower"),
    ]
    for name in ("web.jsonl", "web.qrels", "web.csv", *(["web.parquet"] if HAS_POLARS else [])):
        plain.save(tmp_path / name)
        made.append(GoldenSet.load(tmp_path / name, doc_id="lower"))
    for golden in made:
        assert golden.grades("q1") == {"red-hat": 2, "scarf": 0}
        assert golden.fingerprint == expected.fingerprint


RANKINGS: dict[str, list[str]] = {"q1": ["SHOE", "RED-HAT"], "q2": ["Tie"]}


@pytest.mark.parametrize("rule", ["lower", str.lower, ["strip", "lower"]])
@pytest.mark.parametrize("form", forms(*RUN_FORMS))
def test_every_constructor_of_a_run_maps_ids(
    form: str, rule: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = GoldenSet.from_dict(JUDGMENTS, doc_id=rule)
    run = run_form(form, monkeypatch)(RANKINGS, tmp_path, doc_id=rule)
    for each in (run, run.top(2)):
        assert evaluate(each, golden).mean("RR") == 0.75
        assert each["q1"] == ("shoe", "red-hat")


# --- invalid rules -------------------------------------------------------------------------------


def test_rules() -> None:
    cases: list[tuple[Any, str, str]] = [
        ("lower", "Red-HAT", "red-hat"),
        ("strip", " a\t", "a"),
        ("strip_zeros", "007", "7"),
        ("strip_zeros", "000", "0"),
        ("strip_zeros", "00a", "00a"),
        ("nfc", "e\u0301", "\u00e9"),
        ("unquote", "a%20b", "a b"),
        ("remove_prefix:doc_", "doc_1", "1"),
        ("remove_suffix:.html", "a.html", "a"),
        ("before:#", "a#1#2", "a"),
        ("before:::", "a::1", "a"),
        ("after:/", "https://x/a", "a"),
        (["unquote", "before:#"], "a%231", "a"),
        (lambda doc_id: doc_id.rpartition("_")[0], "doc_12_3", "doc_12"),
    ]
    for rule, given, mapped in cases:
        assert Run.from_dict({"q": [given]}, doc_id=rule)["q"] == (mapped,), rule


def test_invalid_rules() -> None:
    cases: list[tuple[Any, str]] = [
        ("lowr", r"doc_id=lowr is invalid; did you mean 'lower'\?; give a function .* or one of"),
        ("before", "doc_id=before is invalid; give a function .* or one of .*before:TEXT"),
        ("lower:x", "doc_id=lower:x is invalid; give a function"),
        ([], r'doc_id=\[\] is invalid; .*; or a list of them, such as \["lower", "strip"\]'),
        (5, "doc_id=5 is invalid; give a function from an id to an id"),
    ]
    for rule, message in cases:
        with pytest.raises(ConfigurationError, match=message):
            GoldenSet.from_dict(JUDGMENTS, doc_id=rule)
        with pytest.raises(ConfigurationError, match=message):
            Run.from_dict(RANKINGS, doc_id=rule)


def failing(doc_id: str) -> str:
    return doc_id.split("#")[1]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (len, "doc_id=len maps document 'a' to 1; an id must be a nonempty text"),
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
        "after doc_id=lower: query 'q1': document 'a' of query 'q1' is judged twice, 2 and 0; "
        "keep one of them, or choose the one that counts, such as contradictions='highest' "
        "(rankcheck_contradictions), or name their subtopics (in qrels: rankcheck_columns = "
        "subtopic=iteration)"
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


def test_candidates_and_expectations_that_become_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("query_id,doc_id,relevance,price\nq1,A,1,5\nq1,a,1,7\n", "utf-8")
    with pytest.raises(GoldenSetError, match="maps two candidates with columns to 'a'"):
        GoldenSet.load(path, doc_id="lower")


def test_expectations_whose_documents_become_one_are_refused(tmp_path: Path) -> None:
    for expected, message in (
        ([Expectation.above("A", "a", query="q1")], "above: duplicate document 'a'"),
        ([Expectation.in_top(3, "A", "a", query="q1")], "in_top: duplicate document 'a'"),
    ):
        file = tmp_path / "shop.jsonl"
        GoldenSet.from_dict({"q1": {"A": 1}}).expecting(*expected).save(file)
        with pytest.raises(GoldenSetError) as refusal:
            GoldenSet.load(file, doc_id="lower")
        where = f"after doc_id=lower: {file}:1: query 'q1': "
        assert str(refusal.value).startswith(f"{where}{message}")


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


# --- attribute:source ---------------------------------------------------------------------------

CHUNKS = pd.DataFrame(
    {
        "doc_id": ["c1", "c2", "c3", "c4"],
        "source": ["guide", "guide", "faq", None],
        "title": ["Guide, page 1", "Guide, page 2", "Questions", "Alone"],
    }
)
BY_SOURCE: dict[str, Any] = {"doc_id": "attribute:source", "documents": CHUNKS}


def test_chunks_are_judged_by_their_source(tmp_path: Path) -> None:
    judged = {"q1": {"faq": 1, "c4": 1, "unknown": 1}}
    plain = GoldenSet.from_dict(judged, {"q1": "?"})
    plain.save(tmp_path / "web.jsonl")
    CHUNKS.to_csv(tmp_path / "chunks.csv", index=False)
    from_files = {**BY_SOURCE, "documents": tmp_path / "chunks.csv"}
    chunks = ["c1", "c2", "c2b", "c4", "c3"]
    for golden in (
        GoldenSet.from_dict(judged, {"q1": "?"}, **BY_SOURCE),
        GoldenSet.from_frame(plain.judgments, plain.queries, **BY_SOURCE),
        GoldenSet.load(tmp_path / "web.jsonl", **from_files),
    ):
        assert golden.fingerprint == plain.fingerprint
        how: dict[str, Any] = {"doc_id": golden.doc_id, "duplicates": "keep_places"}
        for run in (Run.from_dict({"q1": chunks}, **how), rank(lambda text: chunks, golden, **how)):
            assert run["q1"] == ("guide", "guide", "c2b", "c4", "faq")
            evaluation = evaluate(run, golden)
            # Five chunks are read; of three relevant documents, two are among them.
            assert evaluation.mean("R@4") == pytest.approx(1 / 3)
            assert evaluation.mean("R@5") == pytest.approx(2 / 3)
        assert golden.title("guide") == "Guide, page 1"
        assert golden.catalogue is not None
        assert golden.catalogue.size == 3


def test_a_list_of_rules_may_have_a_column() -> None:
    rules = ["lower", "attribute:source"]
    golden = GoldenSet.from_dict({"q1": {"C3": 1}}, doc_id=rules, documents=CHUNKS)
    assert golden.grades("q1") == {"faq": 1}
    assert golden.doc_id is not None
    assert golden.doc_id.name == "lower, attribute:source"
    again = pickle.loads(pickle.dumps(golden))
    assert again.doc_id("C1") == "guide"
    assert golden.for_ranker(["q1"]).doc_id is None


def test_a_wrong_column_is_refused() -> None:
    for how, message in (
        ({"doc_id": "attribute:source"}, "needs documents= (rankcheck_documents)"),
        ({**BY_SOURCE, "doc_id": "attribute:sauce"}, "has no column 'sauce', but doc_id, source"),
        ({**BY_SOURCE, "doc_id": "attribute:"}, "has no column ''"),
        ({**BY_SOURCE, "doc_id": ["lower", 5]}, "doc_id=5 is invalid"),
        ({**BY_SOURCE, "doc_id": []}, "is invalid"),
        (
            {"doc_id": "attribute:source", "documents": CHUNKS.assign(source=1.5)},
            "maps document 'c3' to 1.5; an id must be a nonempty text",
        ),
    ):
        with pytest.raises(ConfigurationError, match=re.escape(message)):
            GoldenSet.from_dict({"q1": {"c3": 1}}, **how)


def test_a_chunk_with_two_rows_is_refused() -> None:
    twice = pd.concat([CHUNKS, CHUNKS.head(1).assign(source="faq")])
    for documents in (twice, twice.iloc[::-1]):
        with pytest.raises(GoldenSetError, match="the catalogue: document 'c1' has two rows; keep"):
            GoldenSet.from_dict({"q1": {"faq": 1}}, doc_id="attribute:source", documents=documents)


def test_an_attribute_in_which_the_chunks_of_a_source_differ_is_refused() -> None:
    chunks = CHUNKS.assign(topic=["a", "b", "c", "c"], kind=["k", None, "k", "k"])
    golden = GoldenSet.from_dict({"q1": {"faq": 1}}, doc_id="attribute:source", documents=chunks)
    how: Any = {"doc_id": golden.doc_id, "duplicates": "keep_places"}
    evaluation = evaluate(Run.from_dict({"q1": ["c1", "c2", "c3"]}, **how), golden)
    assert evaluation.mean("ILD(by=kind)@3") == 0
    with pytest.raises(GoldenSetError, match="'guide' has two rows that differ in topic; give it"):
        evaluation.mean("ILD(by=topic)@3")
    assert golden.title("guide") == "Guide, page 1"


OLDER = pd.DataFrame({"doc_id": [f"c{n}" for n in range(20)], "source": ["guide", "faq"] * 10})
"""The documents of an older index: of 40 ranked chunks, 20 have no row."""


def test_ranked_chunks_without_a_row_are_counted() -> None:
    judged = {f"q{n}": {"guide": 1} for n in range(20)}
    golden = GoldenSet.from_dict(judged, doc_id="attribute:source", documents=OLDER)
    ranked = {f"q{n}": [f"new{n}", f"c{n}"] for n in range(20)}
    run = Run.from_dict(ranked, doc_id=golden.doc_id)
    words = (
        "20 of 40 ranked documents without a row in the catalogue, so that doc_id= did not map "
        "them: new0, new1, new2, new3, new4 and 15 more; is it the table of another index?"
    )
    evaluation = evaluate(run, golden)
    assert evaluation.source.document_notes == {words: True}
    assert words in evaluation.notes
    with pytest.raises(AssertionError, match=re.escape(f"\n  {words}\n")):
        assert_at_least(evaluation, "RR", 0.5)
    before = evaluate(
        Run.from_dict({q: ["c0", "c1"] for q in judged}, doc_id=golden.doc_id), golden
    )
    with pytest.raises(AssertionError, match=re.escape(f"\n  {words}\n")):
        assert_not_regressed(evaluation, before, "RR")
    assert not before.source.document_notes
    merged = Evaluation.merge([evaluate_part(run, golden)], golden)
    assert merged.source.document_notes == {words: True}


@pytest.mark.parametrize(("known", "are_many"), [(18, True), (19, True), (20, False)])
def test_from_five_per_cent_on_a_lookup_that_fails_is_a_warning(known: int, are_many: bool) -> None:
    golden = GoldenSet.from_dict({"q": {"guide": 1}}, doc_id="attribute:source", documents=OLDER)
    chunks = [*OLDER["doc_id"][:known], "new"]
    run = Run.from_dict({"q": chunks}, doc_id=golden.doc_id, duplicates="keep_places")
    notes = evaluate(run, golden).source.document_notes
    assert [found for text, found in notes.items() if "without a row" in text] == [are_many]


def test_a_run_gets_the_column_from_its_golden_set() -> None:
    with pytest.raises(ConfigurationError, match=r"to the run, give doc_id=golden\.doc_id"):
        Run.from_dict({"q1": ["c1"]}, doc_id="attribute:source")
