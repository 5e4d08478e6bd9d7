"""Golden sets: construction, invalid input, slices, fingerprints, the linter."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, Query

JUDGED = {"q1": {"d3": 2, "d7": 0}, "q2": {"d1": 1}}
TEXTS = {"q1": "red shoes", "q2": "blue hat"}


def test_a_golden_set_from_a_dict() -> None:
    golden = GoldenSet.from_dict(
        JUDGED, TEXTS, attributes={"q1": {"locale": "en", "head": True}}, name="web"
    )
    assert golden.query_ids == ("q1", "q2")
    assert golden.query("q1") == Query("q1", "red shoes", {"locale": "en", "head": True})
    assert golden.grades("q1") == {"d3": 2, "d7": 0}
    assert len(golden) == 2
    assert "q1" in golden
    assert "q9" not in golden
    assert [query.id for query in golden] == ["q1", "q2"]
    assert golden.judgment_count == 3
    assert golden.max_grade == 2
    assert golden.attributes == ("locale", "head")
    assert repr(golden) == "GoldenSet('web', 2 queries, 3 judgments)"


def test_texts_are_optional_and_queries_need_no_judgments() -> None:
    golden = GoldenSet.from_dict({"q1": {"d": 1}}, {"q2": "no judgment"})
    assert golden.query("q1").text is None
    assert golden.grades("q2") == {}
    assert GoldenSet.from_dict({"q": {}}).max_grade == 0


def test_an_invalid_dict_is_refused() -> None:
    for judged, message in (
        ({}, "^the golden set has no queries"),
        ({"": {"d": 1}}, "the query id is empty"),
        ({1.5: {"d": 1}}, r"the query id is '1.5' \(float\), not an id; ids are text or whole"),
        ({True: {"d": 1}}, r"the query id is 'True' \(bool\), not an id"),
        ({"q": {"": 1}}, "query 'q': a document id is empty"),
        ({"q": {2.0: 1}}, r"query 'q': a document id is '2.0' \(float\), not an id"),
        ({"q": {"d": "high"}}, r"query 'q': the grade of document 'd' is 'high' \(str\)"),
        ({"q": {"d": None}}, "the grade of document 'd' is empty"),
        ({"q": {"d": float("nan")}}, "not a finite number"),
        ({"q": {"d": "1_000"}}, "not a finite number"),
        ({"q": {"d": 10**400}}, "not a finite number"),
        # 1 and "1" are the same id
        ({"q": {1: 1, "1": 2}}, "document '1' of query 'q' is judged twice, 1 and 2"),
        ({1: {"d": 1}, "1": {"e": 1}}, "duplicate query '1'"),
    ):
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.from_dict(judged)


@pytest.mark.parametrize("grade", [2, 2.0, "2", np.int64(2), np.float32(2), " 2 "])
def test_a_grade_is_a_number_or_the_text_of_one(grade: object) -> None:
    golden = GoldenSet.from_dict({"q": {"d": grade}})  # type: ignore[dict-item]
    assert repr(golden.grades("q")["d"]) == "2"


# --- pandas --------------------------------------------------------------------------------------


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_a_golden_set_from_a_frame() -> None:
    judgments = frame(query_id=[1, 1, 2], doc_id=[10, 11, 10], relevance=[2.0, 0.5, 1.0])
    queries = frame(query_id=[2, 1], query=["b", "a"], locale=["de", None], n=[np.nan, 3.0])
    golden = GoldenSet.from_frame(judgments, queries, name="frames")
    assert golden.name == "frames"
    assert golden.query("1") == Query("1", "a", {"n": 3.0})
    assert golden.query("2") == Query("2", "b", {"locale": "de"})
    assert golden.grades("1") == {"10": 2, "11": 0.5}


def test_invalid_frames_are_refused_with_the_row() -> None:
    twice = frame(query_id=["q", "q"], doc_id=["d", "d"], relevance=[1, 2])
    cases = [
        (frame(query_id=["q"], doc_id=["d"]), "judgments has no column 'relevance'. Its columns"),
        (
            frame(query_id=[1.0], doc_id=["d"], relevance=[1]),
            r"row 1: .*'1.0' .* \(pandas: dtype=str\)",
        ),
        (frame(query_id=["q"], doc_id=[1.5], relevance=[1]), r"row 1: doc_id"),
        (frame(query_id=[None], doc_id=["d"], relevance=[1]), "row 1: query_id is empty"),
        (
            frame(query_id=["q", "q"], doc_id=["d", "e"], relevance=[1, np.nan]),
            r"judgments, row 2: the grade of document 'e' is empty",
        ),
        (
            twice.set_index(pd.Index(["x", "y"])),
            r"row 2: .* judged twice, 1 and 2",
        ),
        (frame(query_id=[], doc_id=[], relevance=[]), "has no queries"),
    ]
    for judgments, message in cases:
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.from_frame(judgments)


def test_the_text_of_a_query_is_text_or_missing() -> None:
    for judged in ({"q1": {"d1": 1}}, {"q1": {7: 1}}, {}):
        for text in (float("inf"), 3, True, b"shoes", ["shoes"]):
            with pytest.raises(GoldenSetError, match=r"query 'q1': its text is .* not a str"):
                GoldenSet.from_dict(judged, queries={"q1": text})  # type: ignore
        for missing in (None, np.nan, pd.NA, pd.NaT):
            golden = GoldenSet.from_dict(judged, queries={"q1": missing})  # type: ignore
            assert golden.query("q1").text is None
            queries = pd.DataFrame({"query_id": ["q"], "query": pd.Series([missing], dtype=object)})
            judgments = frame(query_id=["q"], doc_id=["d"], relevance=[1])
            assert GoldenSet.from_frame(judgments, queries).query("q").text is None


def test_a_frame_of_queries_needs_no_texts() -> None:
    judgments = frame(query_id=["u1"], doc_id=["d"], relevance=[1])
    golden = GoldenSet.from_frame(judgments, frame(qid=["u1", "u2"], segment=["new", "old"]))
    assert [query.text for query in golden] == [None, None]
    assert golden.query("u2").attributes == {"segment": "old"}
    other = GoldenSet.from_frame(judgments, frame(query_id=["u1"], query_text=["red"]))
    assert other.query("u1") == Query("u1", "red")
    with pytest.raises(
        GoldenSetError, match=r"queries has no column 'query'\. Is 'qurey' misspelt"
    ):
        GoldenSet.from_frame(judgments, frame(query_id=["u1"], qurey=["red"]))
    with pytest.raises(GoldenSetError, match=r"judgments has no column 'query'\. Is 'quer"):
        GoldenSet.from_frame(judgments.assign(querry="red"))
    for name in ("query_type", "query_group", "query_length", "context"):
        golden = GoldenSet.from_frame(judgments.assign(**{name: "a"}))
        assert golden.query("u1").attributes == {name: "a"}


def test_columns_name_those_of_both_frames() -> None:
    """Each is in at least one of them; where it is not, the usual names count."""
    judgments = frame(sid=["q1"], d=["a"], relevance=[1])
    queries = frame(sid=["q1", "q2"], words=["red", "blue"], locale=["de", "en"])
    columns = {"query_id": "sid", "doc_id": "d", "query": "words"}
    golden = GoldenSet.from_frame(judgments, queries, columns=columns)
    assert golden.query("q1") == Query("q1", "red", {"locale": "de"})
    for other in ("query_id", "qid"):
        for frames in (
            (judgments, queries.rename(columns={"sid": other})),
            (judgments.rename(columns={"sid": other}), queries),
        ):
            assert GoldenSet.from_frame(*frames, columns=columns).fingerprint == golden.fingerprint
    for wrong in ({**columns, "query": "wrods"}, {**columns, "query_id": "sdi"}):
        with pytest.raises(GoldenSetError, match=r"no column '(wrods|query_id)'"):
            GoldenSet.from_frame(judgments, queries, columns=wrong)
    both = judgments.rename(columns={"sid": "query_id"})
    with pytest.raises(GoldenSetError, match="judgments has no column 'sdi'"):
        GoldenSet.from_frame(
            both, queries.rename(columns={"sid": "qid"}), columns={"query_id": "sdi"}
        )
    with pytest.raises(GoldenSetError, match=re.escape("columns={'query_id': '...'}")):
        GoldenSet.from_frame(both, queries[["sid"]], columns={"doc_id": "d"})


def test_frames_survive_a_round_trip() -> None:
    golden = GoldenSet.from_dict(JUDGED, TEXTS, attributes={"q1": {"locale": "en"}})
    assert golden.judgments.columns.tolist() == ["query_id", "doc_id", "relevance"]
    assert golden.judgments.values.tolist() == [["q1", "d3", 2], ["q1", "d7", 0], ["q2", "d1", 1]]
    assert golden.queries.columns.tolist() == ["query_id", "query", "locale"]
    assert golden.queries["query"].tolist() == ["red shoes", "blue hat"]
    again = GoldenSet.from_frame(golden.judgments, golden.queries)
    assert again.fingerprint == golden.fingerprint
    assert again.query("q2").attributes == {}


# --- slices --------------------------------------------------------------------------------------


def test_slices_by_attribute() -> None:
    golden = GoldenSet.from_dict(
        {q: {"d": 1} for q in "abcde"},
        attributes={
            "a": {"locale": "en", "tags": ["x", "y", "x"]},
            "b": {"locale": "de", "tags": "x", "head": True},
            "c": {"locale": "en", "head": False},
            "d": {"locale": None, "year": 2024},
        },
    )
    assert golden.slices("locale") == {"(none)": ["d", "e"], "de": ["b"], "en": ["a", "c"]}
    # a query belongs to the slice of each item of a list, once
    assert golden.slices("tags") == {"(none)": ["c", "d", "e"], "x": ["a", "b"], "y": ["a"]}
    assert golden.slices("head") == {"(none)": ["a", "d", "e"], "false": ["c"], "true": ["b"]}
    assert golden.slices("year")["2024"] == ["d"]


def test_the_error_for_an_unknown_attribute_suggests_the_nearest() -> None:
    golden = GoldenSet.from_dict(JUDGED, attributes={"q1": {"locale": "en"}}, name="web")
    with pytest.raises(
        GoldenSetError, match=r"'web' has no attribute 'local'; did you mean 'locale'\?"
    ):
        golden.slices("local")
    with pytest.raises(GoldenSetError, match="its attributes: none"):
        GoldenSet.from_dict(JUDGED).slices("locale")


# --- fingerprints --------------------------------------------------------------------------------


def test_the_fingerprint_ignores_order_name_and_attributes() -> None:
    golden = GoldenSet.from_dict(JUDGED, TEXTS, name="a")
    shuffled = GoldenSet.from_dict(
        {"q2": {"d1": 1.0}, "q1": {"d7": 0, "d3": "2"}},  # type: ignore[dict-item]
        TEXTS,
        attributes={"q1": {"locale": "en"}},
        name="b",
    )
    assert golden.fingerprint == shuffled.fingerprint
    assert golden.query_fingerprints == shuffled.query_fingerprints


def test_the_fingerprint_changes_with_grades_documents_texts_and_queries() -> None:
    for judged, texts, changed in (
        ({"q1": {"d3": 1, "d7": 0}, "q2": {"d1": 1}}, TEXTS, {"q1"}),
        ({"q1": {"d3": 2}, "q2": {"d1": 1}}, TEXTS, {"q1"}),
        ({"q1": {"d3": 2, "d7": 0, "d8": 0}, "q2": {"d1": 1}}, TEXTS, {"q1"}),
        ({"q1": {"d4": 2, "d7": 0}, "q2": {"d1": 1}}, TEXTS, {"q1"}),
        (JUDGED, {"q1": "red shoes", "q2": "blue hats"}, {"q2"}),
        (JUDGED, {"q1": "red shoes"}, {"q2"}),
        ({**JUDGED, "q3": {"d1": 1}}, TEXTS, {"q3"}),
        ({"q1": JUDGED["q1"]}, {"q1": "red shoes"}, set()),
    ):
        before = GoldenSet.from_dict(JUDGED, TEXTS)
        after = GoldenSet.from_dict(judged, texts)
        assert after.fingerprint != before.fingerprint
        then = before.query_fingerprints
        assert {q for q, mark in after.query_fingerprints.items() if then.get(q) != mark} == changed


# --- the linter ----------------------------------------------------------------------------------


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    """Records keep it: a change of this value makes every baseline stale.

    The query's mark is the first 16 hexadecimal digits of the SHA-256 of the JSON
    ["q", "red shoes", [["d", 1.0]]], the set's that of the sorted marks, a line each.
    """
    golden = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "red shoes"})
    mark = hashlib.sha256(b'["q", "red shoes", [["d", 1.0]]]').hexdigest()[:16]
    assert golden.query_fingerprints == {"q": mark}
    assert golden.fingerprint == hashlib.sha256(mark.encode()).hexdigest()[:16]
