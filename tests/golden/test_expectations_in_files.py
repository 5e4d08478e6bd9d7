"""Expectations of single queries: how they are written, saved, and refused if invalid."""

import json
from pathlib import Path

import pytest

from pytest_rankcheck import Expectation, GoldenSet, GoldenSetError, Query
from pytest_rankcheck.behaviour.perturbed_answers import reworded
from tests.libraries import forms

ENTRIES = [
    {"in_top": 3, "documents": ["refund-policy"], "reason": "people ask for it"},
    {"not_in_top": 10, "documents": ["draft", "old"], "severity": "warn"},
    {"above": ["refund-policy", "faq"], "known_failure": "no stemming", "known_rank": 4},
    {"above": [["refund-policy", "refund-form"], ["faq", "contact"]]},
    {"results": "some"},
]
MADE = [
    Expectation.in_top(3, "refund-policy", query="q1", reason="people ask for it"),
    Expectation.not_in_top(10, "draft", "old", query="q1", severity="warn"),
    Expectation.above(
        "refund-policy", "faq", query="q1", known_failure="no stemming", known_rank=4
    ),
    Expectation.above(["refund-policy", "refund-form"], ["faq", "contact"], query="q1"),
    Expectation.some_results(query="q1"),
]
NONE = Expectation.no_results(query="q2")


def golden_file(folder: Path, *expected: object, **more: object) -> Path:
    """Write a golden set whose query q1, in the second line, has these expectations."""
    lines = [
        {"query_id": "q0", "query": "jobs", "relevance": {"career": 1}},
        {"query_id": "q1", "query": "refund", "relevance": {}, "expect": list(expected), **more},
        {"query_id": "q2", "query": "xyzzy", "expect": [{"results": "none"}]},
    ]
    file = folder / "shop.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_file_and_python_give_the_same_expectations(tmp_path: Path) -> None:
    golden = GoldenSet.load(golden_file(tmp_path, *ENTRIES))
    assert golden.expectations == (*MADE, NONE)
    assert golden.attributes == ()
    assert golden.grades("q1") == {}
    assert golden.place("q1") == f"{tmp_path / 'shop.jsonl'}:2"
    bare = GoldenSet.from_dict({"q0": {"career": 1}, "q1": {}, "q2": {}})
    assert bare.expecting(*MADE, NONE).expectations == golden.expectations
    assert bare.expectations == ()


def test_expectations_survive_saving_and_loading(tmp_path: Path) -> None:
    golden = GoldenSet.load(golden_file(tmp_path, *ENTRIES, locale="en"))
    golden.save(tmp_path / "again.jsonl")
    again = GoldenSet.load(tmp_path / "again.jsonl")
    assert again.expectations == golden.expectations
    assert again.query("q1").attributes == {"locale": "en"}
    second = json.loads((tmp_path / "again.jsonl").read_text().splitlines()[1])
    assert second["expect"] == ENTRIES
    again.save(tmp_path / "third.jsonl")
    assert (tmp_path / "third.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_expectations_do_not_change_the_fingerprint(tmp_path: Path) -> None:
    golden = GoldenSet.load(golden_file(tmp_path, *ENTRIES))
    bare = GoldenSet.from_dict(
        {"q0": {"career": 1}, "q1": {}, "q2": {}}, {"q0": "jobs", "q1": "refund", "q2": "xyzzy"}
    )
    assert golden.query_fingerprints == bare.query_fingerprints
    assert golden.fingerprint == bare.fingerprint


def test_subsets_and_merges_keep_expectations(tmp_path: Path) -> None:
    golden = GoldenSet.load(golden_file(tmp_path, *ENTRIES))
    assert golden.subset(["q1"]).expectations == tuple(MADE)
    assert golden.subset(["q0", "q2"]).expectations == (NONE,)
    assert golden.sample(3).expectations == golden.expectations
    assert golden.subset(["q2"]).merge(golden.subset(["q1"])).expectations == (NONE, *MADE)
    assert golden.merge(golden).expectations == golden.expectations  # duplicates count once
    more = Expectation.in_top(1, "refund-policy", query="q1")
    assert golden.merge(golden.expecting(more)).expectations == (*MADE, more, NONE)
    assert reworded(golden, {"q2": Query("q2", "plugh")}).expectations == (NONE,)
    assert golden.expectations == (*MADE, NONE)  # the parts do not touch the whole


@pytest.mark.parametrize("name", forms("g.qrels", "g.csv", "g.tsv", "g.parquet"))
def test_a_format_without_expectations_refuses_to_save_them(tmp_path: Path, name: str) -> None:
    golden = GoldenSet.load(golden_file(tmp_path, *ENTRIES)).expecting()
    with pytest.raises(
        GoldenSetError, match=r"has expectations, which \w+ cannot hold; save as jsonl"
    ):
        golden.save(tmp_path / name)
    assert not (tmp_path / name).exists()
    golden.subset(["q0"]).save(tmp_path / name)  # a part without any is fine


KNOWN = {"above": ["a", "b"], "known_failure": "x"}
INVALID: list[tuple[object, str]] = [
    ({"in_topp": 3, "documents": ["d"]}, "unknown key \"in_topp\" .*; did you mean 'in_top'"),
    ({"in_top": 3, "document": ["d"]}, "unknown key \"document\" .*; did you mean 'documents'"),
    ({"in_top": 3, "documents": []}, "in_top: \\[\\] is not a list of document ids"),
    ({"in_top": 3, "documents": "d"}, "in_top: 'd' is not a list of document ids"),
    ({"in_top": 3, "documents": [1.5]}, "in_top: .*1.5.* is not a list of document ids"),
    ({"in_top": 3, "documents": ["d", "d"]}, "in_top: duplicate document 'd'"),
    ({"in_top": 0, "documents": ["d"]}, "in_top=0 is invalid; give a whole number from 1 on"),
    ({"not_in_top": "3", "documents": ["d"]}, "not_in_top=3 is invalid"),
    ({"above": ["d"]}, '"above" is .* what comes first and what comes after'),
    ({"above": [["d"], []]}, "above: \\[\\] is not a list of document ids"),
    (
        {"results": "none", "documents": ["d"]},
        'unknown key "documents" in an expectation; its keys are results, ',
    ),
    ({"results": "nothing"}, '"results" is nothing; it must be "some" or "none"'),
    ({"in_top": 1, "above": ["a", "b"]}, "has one of .*; this has in_top and above"),
    ({"reason": "x"}, "has one of .*; this has none"),
    ("in_top", "in_top is not an expectation; an expectation is an object such as"),
    ({"results": "some", "reason": " "}, "reason is ' '; it must be a text"),
    (
        {"above": ["a", "b"], "known_rank": 3},
        "known_rank is the rank of .*; give also known_failure",
    ),
    ({**KNOWN, "known_rank": 0}, "known_rank=0 is invalid; give a whole number from 1 on"),
    (
        {"results": "none", "known_failure": "x", "known_rank": 3},
        "known_rank is the rank of a document",
    ),
    (
        {"results": "some", "severity": "warning"},
        "severity=warning is invalid; did you mean 'warn'",
    ),
]


def test_an_invalid_expectation_is_refused_with_its_line(tmp_path: Path) -> None:
    for expected, message in INVALID:
        file = golden_file(tmp_path, expected)
        with pytest.raises(GoldenSetError, match=message) as failure:
            GoldenSet.load(file)
        assert str(failure.value).startswith(f"{file}:2: expectation: ")
    with pytest.raises(GoldenSetError, match="kind=in_topp is invalid; did you mean"):
        Expectation("q1", "in_topp", ("d",), k=1)  # type: ignore[arg-type]


def test_the_key_of_expectations(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl"
    for key in ("expects", "Expect", "expectations", "exepct"):
        file.write_text(json.dumps({"query_id": "q", key: [{"results": "some"}]}))
        message = rf'g\.jsonl:1: unknown key "{key}"; did you mean \'expect\''
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.load(file)
        file.write_text(json.dumps({"query_id": "q", key: ["a list of", "texts"]}))
        assert GoldenSet.load(file).attributes == (key,)
    for expected in ("some", {"in_top": 1}, []):
        file.write_text(json.dumps({"query_id": "q", "expect": expected}))
        with pytest.raises(GoldenSetError, match=r'jsonl:1: "expect" is .*; it must be a list of'):
            GoldenSet.load(file)


def test_the_error_numbers_the_invalid_expectation(tmp_path: Path) -> None:
    file = golden_file(tmp_path, *ENTRIES[:2], {"in_top": 1, "documents": []})
    with pytest.raises(GoldenSetError, match=r"shop\.jsonl:2: expectation 3: in_top: "):
        GoldenSet.load(file)


def test_an_expectation_of_an_unknown_query_is_refused() -> None:
    golden = GoldenSet.from_dict({"q1": {"d": 1}}, name="web")
    with pytest.raises(GoldenSetError, match=r"golden set 'web': .* of the unknown query 'q11'"):
        golden.expecting(Expectation.some_results(query="q11"))
    for query in ("", None, 3):
        with pytest.raises(GoldenSetError, match=r"query is .*; it must be a text"):
            Expectation.some_results(query=query)  # type: ignore[arg-type]


def test_reworded_queries_keep_judgments_and_candidates(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(
        "query_id,query,doc_id,grade,f\nq1,one,a,1,1\nq1,one,b,0,2\nq2,two,a,1,3\n"
    )
    golden = GoldenSet.load(tmp_path / "g.csv")
    new = reworded(golden, {"q1": Query("q1", "ONE")})
    assert [(query.id, query.text) for query in new] == [("q1", "ONE")]
    assert new.grades("q1") == {"a": 1, "b": 0}
    assert list(new.candidates["f"]) == [1, 2]
    assert golden.query("q1").text == "one"
    with pytest.raises(GoldenSetError, match="has no query q3"):
        reworded(golden, {"q3": Query("q3", "x")})
