"""The forms of JSON that golden sets, runs and logs are read from, and what is said of others."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, Run, RunError, SessionLog, SessionLogError
from pytest_rankcheck.files.json_files import json_value

GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
SCORES = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d1": 7.0}}


def texts_of(value: object) -> list[str]:
    """Return JSON in one line, indented, below a comment or white space, and a list as lines."""
    indented = json.dumps(value, indent=2)
    texts = [json.dumps(value), indented, f"# by hand\n{indented}\n", f"\n  {indented}"]
    if isinstance(value, list):
        texts.append("".join(f"{json.dumps(each)}\n" for each in value))
    return texts


def rows_of(values: dict[str, dict[str, float]], *names: str) -> list[dict[str, object]]:
    return [
        dict(zip(names, (query_id, doc_id, value), strict=True))
        for query_id, docs in values.items()
        for doc_id, value in docs.items()
    ]


def grades_of(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}


@pytest.mark.parametrize(
    "value",
    [
        GRADES,
        [{"query_id": query_id, "relevance": grades} for query_id, grades in GRADES.items()],
        [{query_id: grades} for query_id, grades in GRADES.items()],
        rows_of(GRADES, "query-id", "corpus-id", "score"),
        rows_of(GRADES, "qid", "docno", "label"),
    ],
    ids=["dict", "own", "dicts", "mteb", "pyterrier"],
)
def test_judgments_in_every_form_of_json(tmp_path: Path, value: object) -> None:
    file = tmp_path / "golden"
    for text in texts_of(value):
        file.write_text(text)
        assert grades_of(GoldenSet.load(file)) == grades_of(GoldenSet.load(file, "jsonl")) == GRADES


@pytest.mark.parametrize(
    "value",
    [
        SCORES,
        {query_id: list(docs) for query_id, docs in SCORES.items()},
        {query_id: [list(pair) for pair in docs.items()] for query_id, docs in SCORES.items()},
        [{"query_id": query_id, "ranking": list(docs)} for query_id, docs in SCORES.items()],
        rows_of(SCORES, "qid", "docno", "score"),
    ],
    ids=["dict", "lists", "pairs", "own", "rows"],
)
def test_runs_in_every_form_of_json(tmp_path: Path, value: object) -> None:
    file = tmp_path / "run"
    for text in texts_of(value):
        file.write_text(text)
        run = Run.load(file)
        assert {query_id: run[query_id] for query_id in run} == {"q1": ("d1", "d2"), "q2": ("d1",)}


def test_an_object_without_a_query_id_is_no_query(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text('{"relevance": {"d3": 2}}')
    with pytest.raises(GoldenSetError, match='no "query_id"'):
        GoldenSet.load(file)
    file.write_text('{"ranking": ["d3", "d2"]}')
    with pytest.raises(RunError, match="its keys are ranking"):
        Run.load(file)


def test_logs_in_every_form_of_json(tmp_path: Path) -> None:
    event = {"session_id": "s1", "query": "cam", "results": ["d1"], "time": "2026-01-02T03:04:05Z"}
    file = tmp_path / "log"
    for text in [*texts_of([event, {**event, "session_id": "s2"}]), *texts_of(event)]:
        file.write_text(text)
        assert list(SessionLog.load(file).session_ids) == ["s1", "s2"][: text.count("cam")]


def test_rows_have_one_header_and_keys_within_keys(tmp_path: Path) -> None:
    """A row without a key has an empty cell, and an object holds attributes."""
    rows: list[dict[str, Any]] = [
        {"query": {"id": "q1", "text": "red"}, "hit": {"id": 7}, "grade": 1},
        {"query": {"id": "q1", "text": "red"}, "hit": {"id": 8}, "grade": "0"},
        {"query": {"id": "q2", "text": "hat"}, "hit": {"id": 7}, "grade": True, "locale": "de"},
    ]
    columns = {"query_id": "query.id", "query": "query.text", "doc_id": "hit.id"}
    for text in texts_of(rows):
        (tmp_path / "g").write_text(text)
        golden = GoldenSet.load(tmp_path / "g", columns=columns)
        assert grades_of(golden) == {"q1": {"7": 1, "8": 0}, "q2": {"7": 1}}
        assert golden.query("q2").text == "hat"
        assert golden.query("q2").attributes["locale"] == "de"
    lists = [{"query": {"id": "q1"}, "hit": {"id": "d7"}, "rank": 1}]
    (tmp_path / "r").write_text(json.dumps(lists))
    assert Run.load(tmp_path / "r", columns={"query_id": "query.id", "doc_id": "hit.id"})["q1"] == (
        "d7",
    )


@pytest.mark.parametrize("key", ["attributes", "metadata"])
def test_nested_attributes_are_attributes(tmp_path: Path, key: str) -> None:
    query = {"query_id": "q1", "query": "red", "relevance": {"d1": 1, "d2": None}, "expect": None}
    (tmp_path / "g").write_text(json.dumps({**query, key: {"locale": "de"}, "geo": {"lat": 1.5}}))
    golden = GoldenSet.load(tmp_path / "g")
    assert golden.query("q1").attributes == {"locale": "de", "geo.lat": 1.5}
    assert golden.slices("locale") == {"de": ["q1"]}
    assert golden.grades("q1") == {"d1": 1}  # null is no grade
    held = GoldenSet.from_dict({"q1": {"d1": 1}}, attributes={"q1": {key: {"locale": "de"}}})
    assert held.query("q1").attributes == {"locale": "de"}


RATINGS = {
    "index": "web", "id_field": "id", "topics": [{"description": "Shoes", "query_groups": [
        {"queries": [{"template": "t"}], "relevant_documents": {"d1": {"gain": 3}}},
    ]}],
}  # fmt: skip
FRAME = {"query_id": {"0": 1, "1": 1}, "doc_id": {"0": 5, "1": 7}, "relevance": {"0": 1, "1": 0}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (RATINGS, "valid JSON, but not a golden set.*its keys are index, id_field, topics. Say"),
        (
            {"took": 3, "hits": {"hits": []}},
            "valid JSON, but not a golden set.*its keys are took, h",
        ),
        (
            [{"a": 1}],
            ', row 1: valid JSON, but not a golden set: no "query_id"; its keys are a. Say',
        ),
        (["q1"], ", row 1: not an object but q1"),
        (
            {"q1": ["d1"]},
            ":1: valid JSON, but not a golden set.*its keys are q1. Say",
        ),
        (FRAME, '"query_id" is .* not an id'),
        ([], "is empty; a golden set has at least one"),
        ({"q1": {"": 2}}, ":1: q1: a document id is empty"),
        (
            {"inputs": {"question": "red"}, "outputs": {"ids": ["d1"]}},
            "its keys are inputs, outputs",
        ),
    ],
)
def test_other_json_is_named_with_its_keys(tmp_path: Path, value: object, message: str) -> None:
    for text in texts_of(value)[:2]:
        (tmp_path / "web.json").write_text(text)
        with pytest.raises(GoldenSetError, match=message) as refused:
            GoldenSet.load(tmp_path / "web.json")
        assert str(refused.value).startswith(str(tmp_path / "web.json"))
        if message.startswith("valid JSON"):
            with pytest.raises(RunError, match=r"valid JSON, but not of the form .*; its keys are"):
                Run.load(tmp_path / "web.json")


@pytest.mark.parametrize(
    "text", ['{"q1": {"d1": 1},\n "q2": {,}}', '[{"query_id": "q1",\n "a": }]']
)
def test_broken_json_is_not_read_by_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    for load, error in (
        (GoldenSet.load, GoldenSetError),
        (Run.load, RunError),
        (SessionLog.load, SessionLogError),
    ):
        with pytest.raises(error, match="f:2: not JSON: Expecting"):
            load(tmp_path / "f")


@pytest.mark.parametrize("deep", ["[" * 400 + "]" * 400, '{"a":' * 400 + "1" + "}" * 400])
def test_json_nested_400_deep_is_refused(tmp_path: Path, deep: str) -> None:
    event = '{"session_id": "s1", "query": "a", "results": ["d1"], '
    for start, load in (
        ('{"query_id": "q1", "relevance": {"d1": 1}, ', GoldenSet.load),
        ('{"query_id": "q1", "ranking": ["d1"], ', Run.load),
        (event, SessionLog.load),
        (f"[{event}", SessionLog.load),
    ):
        (tmp_path / "f").write_text(f'{start}"x": {deep}}}{"]" * start.startswith("[")}\n')
        with pytest.raises(ValueError, match=r"f(:1)?: nested more than 100 deep"):
            load(tmp_path / "f")


def test_json_nested_100_deep_is_read() -> None:
    for depth in (1, 98, 99):
        value = json_value("[" * depth + "{}, " * 200 + "{}" + "]" * depth)
        assert isinstance(value, list)
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        json_value("[" * 101 + "1" + "]" * 101)


def test_a_lone_surrogate_in_a_log(tmp_path: Path) -> None:
    event = {"session_id": "s\ud800", "event": 1, "query": "a\ud800", "results": ["d1", "d\ud800"]}
    events = [event, {**event, "event": 2, "results": ["d1"]}]
    (tmp_path / "log").write_text(json.dumps(events))
    log = SessionLog.load(tmp_path / "log")
    assert (list(log.session_ids), len(log.events)) == (["s\ud800"], 2)
    (tmp_path / "log").write_text(json.dumps([{**event, "x\ud800": 1}]))
    with pytest.raises(SessionLogError, match=r"log: .* lone surrogate; rename it: .*x\\ud800"):
        SessionLog.load(tmp_path / "log")


COMMENTED = "# exported 2026-11-28\n\n# by hand\n"


def test_comments_above_a_header_are_skipped(tmp_path: Path) -> None:
    """By detection and by reading; below the header, an id may begin with a number sign."""
    file = tmp_path / "f.csv"
    for start in (COMMENTED, f"\n{COMMENTED}"):
        file.write_text(f"{start}query_id,doc_id,relevance\n#red,d1,1\n")
        for format_ in (None, "csv"):
            assert grades_of(GoldenSet.load(file, format_)) == {"#red": {"d1": 1}}
        file.write_text(f"{start}query_id,doc_id,score\n#red,d1,1\n")
        assert Run.load(file)["#red"] == ("d1",)
        file.write_text(f"{start}session_id,query,results\ns1,#red,d1\n")
        assert list(SessionLog.load(file).session_ids) == ["s1"]
        file.write_text(f"{start}query,docid,rating\nred,d1,1\n")
        assert grades_of(GoldenSet.load(file)) == {"red": {"d1": 1}}
        file.write_text(f"{start}doc_id,brand\nd1,acme\n")
        golden = GoldenSet.from_dict({"q1": {"d1": 1}}, documents=file)
        assert golden.documents["brand"].tolist() == ["acme"]


def test_a_carriage_return_alone_ends_lines(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"q1 Q0 d1 1 2.5 tag\rq1 Q0 d2 2 1.5 tag\rq2 Q0 d1 1 x tag\r")
    with pytest.raises(RunError, match="f:3: the score of document 'd1' is 'x'"):
        Run.load(file)
    file.write_bytes(b"q1 Q0 d1 1 2.5 tag\rq1 Q0 d2 2 1.5 tag\r")
    assert Run.load(file)["q1"] == ("d1", "d2")
    file.write_bytes(b'query_id,doc_id,relevance\nq1,"d\r1",1\n')
    assert grades_of(GoldenSet.load(file)) == {"q1": {"d\r1": 1}}
