"""Golden sets as teams of retrieval keep them: YAML, JSON and JSON lines with keys of their own."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_rankcheck import GoldenSet, GoldenSetError

Contents = dict[str, tuple[str | None, dict[str, Any], dict[str, float]]]


def contents(golden: GoldenSet) -> Contents:
    return {
        query.id: (query.text, dict(query.attributes), dict(golden.grades(query.id)))
        for query in golden
    }


def written(folder: Path, text: str, name: str = "qa.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def refusal(file: Path, **how: Any) -> str:
    with pytest.raises(GoldenSetError) as refused:
        GoldenSet.load(file, **how)
    message = str(refused.value)
    assert message.startswith(str(file))
    return message.removeprefix(str(file))


ENTRIES = [
    {"id": "q1", "question": "red shoes", "expected_ids": ["d3", {"id": "d7", "grade": 0}]},
    {"id": 2, "question": "hat", "expected_ids": [], "locale": "no", "level": 1.5, "tags": ["a"]},
]
AS_YAML = """\
# the set of the support team
- id: q1
  question: red shoes
  expected_ids:
    - d3
    - {id: d7, grade: 0}
- id: 2
  question: hat
  expected_ids: []
  locale: "no"
  level: 1.5
  tags: [a]
"""
READ = {
    "q1": ("red shoes", {}, {"d3": 1, "d7": 0}),
    "2": ("hat", {"locale": "no", "level": 1.5, "tags": ["a"]}, {}),
}


@pytest.mark.parametrize(
    "text",
    [
        AS_YAML,
        f"---\n{AS_YAML}",
        "tests:\n" + AS_YAML.partition("\n")[2],
        json.dumps(ENTRIES),
        json.dumps(ENTRIES, indent=2),
        json.dumps({"name": "support", "tests": ENTRIES}),
        json.dumps({"queries": ENTRIES}, indent=2),
        "\n".join(map(json.dumps, ENTRIES)),
    ],
    ids=["yaml", "document", "yaml object", "array", "indented", "object", "queries", "lines"],
)
def test_cases_are_read_from_yaml_json_and_json_lines(tmp_path: Path, text: str) -> None:
    for name in ("qa", "qa.json"):
        assert contents(GoldenSet.load(written(tmp_path, text, name))) == READ


@pytest.mark.parametrize("query", ["query", "question", "user_input", "query_text"])
@pytest.mark.parametrize(
    "judged",
    [
        "relevant",
        "relevant_docs",
        "expected_documents",
        "reference_context_ids",
        "expected_ids",
        "ratings",
    ],
)
def test_the_usual_keys_are_read(tmp_path: Path, query: str, judged: str) -> None:
    """Without an id, the text is the id."""
    for text in (f"- {query}: red\n  {judged}: [d3]\n", json.dumps({query: "red", judged: ["d3"]})):
        file = written(tmp_path, text, "qa")
        golden = GoldenSet.load(file)
        assert contents(golden) == {"red": ("red", {}, {"d3": 1})}


def test_our_own_keys_are_read_from_yaml(tmp_path: Path) -> None:
    text = "- {query_id: q1, query: red, relevance: {d3: 2, 7: 0}, grade_scale: 4}\n"
    golden = GoldenSet.load(written(tmp_path, text))
    assert contents(golden) == {"q1": ("red", {}, {"d3": 2, "7": 0})}
    assert golden.scale == 4


def test_one_grade_and_codes_apply_to_cases_too(tmp_path: Path) -> None:
    file = written(tmp_path, "- {query: red, relevant: [d3]}\n")
    assert GoldenSet.load(file, grades=2).grades("red") == {"d3": 2}
    file.write_text("- {query: red, relevant: [d3, {id: d7, grade: good}]}\n")
    assert GoldenSet.load(file, grades={"good": 3}).grades("red") == {"d3": 1, "d7": 3}
    assert "omit it, or map the values" in refusal(file, grades=2)


# --- keys that are not known ----------------------------------------------------------------------


@pytest.mark.parametrize("key", ["docs", "retrieved_context_ids", "sourceDocuments", "gold"])
@pytest.mark.parametrize("query", ["question", "input"])
def test_other_keys_are_read_only_if_they_are_named(tmp_path: Path, key: str, query: str) -> None:
    """None is proposed as the judgments: it may be what the ranker answered."""
    entry = {query: "red", key: ["d3", "d9"], "answer": "a text"}
    columns = {"query": query, "relevance": key}
    lines = json.dumps(entry)
    for text in (yaml.safe_dump([entry]), lines, f"[{lines}]", f'{{"tests": [{lines}]}}'):
        file = written(tmp_path, text, "qa")
        message = refusal(file)
        assert f"={key}" not in message
        assert 'rankcheck_columns = ["query=KEY", "relevance=KEY"]' in message
        assert GoldenSet.load(file, columns=columns).grades("red") == {"d3": 1, "d9": 1}
    judged = written(tmp_path, json.dumps({**entry, "expected_ids": ["d3"]}), "qa.jsonl")
    judged_by_people = GoldenSet.load(judged, columns={"query": query})
    assert judged_by_people.grades("red") == {"d3": 1}
    assert judged_by_people.query("red").attributes[key] == ["d3", "d9"]


def test_our_own_format_takes_no_scores_of_a_ranker_for_grades(tmp_path: Path) -> None:
    line = {"query_id": "q1", "query": "red", "results": {"d1": 0.9}}
    file = written(tmp_path, json.dumps(line), "web.jsonl")
    assert refusal(file).startswith(':1: no "relevance"; if "results" means that, rename the key')
    file.write_text(json.dumps({**line, "relevance": {"d2": 1}}))
    assert GoldenSet.load(file).grades("q1") == {"d2": 1}


@pytest.mark.parametrize("header", ["query_id,retrieved_doc", "query_id,doc_id,rank"])
def test_no_column_of_a_ranker_is_suggested_as_judgments(tmp_path: Path, header: str) -> None:
    message = refusal(written(tmp_path, f"{header}\nq1,d1,1\n", "web.csv"), format="csv")
    assert "'...'" in message


def test_a_list_as_relevance_names_what_would_be_read(tmp_path: Path) -> None:
    line = '{"query_id": "q1", "query": "red", "relevance": ["d3", "d7"]}'
    message = refusal(written(tmp_path, line, "qa.jsonl"))
    assert message.endswith('in a file of lists, the key is "relevant": ["d3", "d7"]')
    golden = GoldenSet.load(written(tmp_path, line.replace("relevance", "relevant"), "qa.jsonl"))
    assert golden.grades("q1") == {"d3": 1, "d7": 1}


def test_files_of_other_formats_are_not_taken(tmp_path: Path) -> None:
    own = {"query_id": "q1", "query": "red", "relevance": {"d3": 2}, "topic": "x"}
    for more in ({"contexts": ["x"]}, {"relevant": ["x"]}, {"rows": [{"relevant": ["x"]}]}):
        file = written(tmp_path, json.dumps({**own, **more}), "web.jsonl")
        for columns in ({}, {"query_id": "topic", "relevance": "contexts"}):
            assert GoldenSet.load(file, columns=columns).grades("q1") == {"d3": 2}
    file.write_text(
        '{"query_id": "q1", "query": "red", "sources": ["x"], "expect": [{"results": "some"}]}'
    )
    assert len(GoldenSet.load(file).expectations) == 1
    for text, query in (
        ('{"queries": [{"query": "red", "ratings": {"d3": 2}}]}', "red"),
        ("q: 0 d3 2\n", "q:"),
        ("- 0 d3 2\n", "-"),
        ("[q] 0 d3 2\n", "[q]"),
    ):
        assert GoldenSet.load(written(tmp_path, text, "web")).grades(query) == {"d3": 2}


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", " is empty"),
        ("# nothing\n", " is empty"),
        ("just text\n", ": not a list but just text"),
        ("- red\n", ": [0]: not an object but red"),
        ("a: 1\n", ": needs one list of queries; it has none"),
        ("a: [{b: 1}]\nc: [{b: 1}]\n", ": needs one list of queries; it has a, c"),
        ("- {}\n", ":1: no query; its keys are none"),
        ("- {question: red}\n", ":1: no relevant documents; its keys are question"),
        ("- {question: red, relevant: }\n", ":1: no relevant documents; its keys are question"),
        ("- {question: red, relevant: 3}\n", ":1: relevant: not a list but 3"),
        ("- {question: red, relevant: [[d3]]}\n", ": a document id is '['d3']' (list), not an id"),
        ("- {question: red, relevant: [{id: d3}]}\n", ':1: relevant[0]: no "grade"'),
        ("- {question: red, relevant: [{doc: d3, grade: 1}]}\n", ':1: relevant[0]: no "id"'),
        ("- {question: red, relevant: [{id: d3, grade: x}]}\n", "[0]: the grade of document 'd3' is 'x'"),
        ("- {question: red, relevant: [d3, {id: d3, grade: 2}]}\n", "judged twice, 1 and 2"),
        ("- {question: 7, relevant: [d3]}\n", ":1: question: not a text but 7"),
        ("- {question: red, relevant: [d3], id: ''}\n", ":1: 'id' is empty, not an id"),
        ("- {question: red, relevant: [d3], expected_ids: [d3]}\n", "relevant, expected_ids could both be the relevance"),
        ("- {question: red, user_input: red, relevant: [d3]}\n", "question, user_input could both be the query"),
        ("- {question: red, relevant: [d3]}\n- {question: red, relevant: [d7]}\n", ":2: duplicate query 'red'"),
        ("- {id: 1, question: red, relevant: [d3]}\n- {id: 1, question: hat, relevant: []}\n", ":2: duplicate query '1'"),
        ("- {question: red, relevant: [d3]}\n- {query: hat, relevant: []}\n", ":2: the keys of the query and its documents are query, relevant, but in the first entry question, relevant"),
        ("- {question: red, relevant: [d3]}\n- {question: hat}\n", ":2: the keys of the query and its documents are question, but in the first"),
        ("- {question: red, relevant: [d3], expect: [{results: some}]}\n", ":1: expectations need our own format, JSON lines"),
        # what only YAML gets wrong
        ("- question: red\n  relevant:\n  - 007\n", ":3: YAML reads 007 as int, not as text; write it in quotes"),
        ("- {question: red, relevant: [1_000]}\n", ":1: YAML reads 1_000 as int"),
        ("- {question: red, relevant: [12:30]}\n", ":1: YAML reads 12:30 as int"),
        ("- {question: red, relevant: [no]}\n", ":1: YAML reads no as bool"),
        ("- {question: red, relevant: [true]}\n", "is 'True' (bool), not an id"),
        ("- {question: red, relevant: [1.5]}\n", "is '1.5' (float), not an id; ids are text"),
        ("- {question: red, relevant: [~]}\n", "a document id is empty"),
        ("- {question: red, relevant: [2026-01-02]}\n", ":1: YAML reads 2026-01-02 as timestamp"),
        ("- {question: red, relevant: [d3], locale: no}\n", ":1: YAML reads no as bool"),
        ("- {question: red, relevant: [.inf]}\n", ":1: YAML reads .inf as float"),
        (f"- {{question: red, relevant: [{'9' * 5000}]}}\n", ":1: YAML reads 9999"),
        ("- question: red\n  question: hat\n", ":2: two keys 'question'; rename it"),
        ("- {[a]: 1}\n", ":1: a key that is not text; rename it"),
        ("- {<<: {a: 1}}\n", ":1: YAML reads << as merge"),
        ("- {question: !!python/name:os.system , relevant: [d3]}\n", "as python/name:os.system"),
        ("- {question: red, relevant: !!python/tuple [d3]}\n", ":1: the tag python/tuple is not read; remove it"),
        ("- !!python/object/apply:os.system [ls]\n", ":1: the tag python/object/apply:os.system is not read"),
        ("- {question: red, relevant: &x [d3]}\n- {question: hat, relevant: *x}\n", ":1: an anchor that is used again; repeat"),
        ("- &x {question: *x}\n", ":1: an anchor that is used again"),
        ("- {question: red\n- a\n", ":3: not YAML: "),
        ("- a\n---\n- b\n", ":2: not YAML: but found another document"),
        ("- a\x00\n", ": not YAML: "),
        ("[" * 20_000, ": not YAML: "),
    ],
    ids=range(47),
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    found = refusal(written(tmp_path, text))
    assert message in found
    assert len(found) < 500


def test_aliases_are_not_multiplied(tmp_path: Path) -> None:
    lines = ["- &a0 [d, d]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert "an anchor that is used again" in refusal(written(tmp_path, "\n".join(lines)))


def test_mistakes_in_json_name_their_place(tmp_path: Path) -> None:
    for text, message in (
        ('[{"question": "red", "relevant": [true]}]', ", row 1: relevant[0]: a document id is 'True'"),
        ('{"question": "red", "relevant": [1.5]}', ":1: relevant[0]: a document id is '1.5' (float)"),
        ('{"tests": [{"question": "red", "relevant": [{"id": "d"}]}]}', ': tests[0].relevant[0]: no "grade"'),
        ('{"question": "red", "relevant": []}\n{"question": "red"}', ":2: the keys of the query and its documents are question, but"),
        ('[{"question": "red", "relevant": [],}]', ":1: not JSON: "),
        ('{"question": "red", "relevant": [}', ":1: not JSON: "),
    ):  # fmt: skip
        assert refusal(written(tmp_path, text, "qa.json")).startswith(message)


def test_yaml_without_pyyaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    file = written(tmp_path, AS_YAML)
    assert refusal(file) == ": YAML needs PyYAML (extra [yaml]): pip install pyyaml"
    file.write_text(json.dumps(ENTRIES))
    assert contents(GoldenSet.load(file.rename(tmp_path / "qa.json"))) == READ


def test_one_id_needs_no_list(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(
        "- {question: red, relevant: d3}\n- {question: hat, relevant: [d4]}\n"
    )
    golden = GoldenSet.load(tmp_path / "g.yaml")
    assert (golden.grades("red"), golden.grades("hat")) == ({"d3": 1}, {"d4": 1})
    (tmp_path / "h.yaml").write_text("- {prompt: red, gold: d3}\n")
    columns = {"query": "prompt", "relevance": "gold"}
    assert GoldenSet.load(tmp_path / "h.yaml", columns=columns).grades("red") == {"d3": 1}


def test_keys_within_keys_are_named_by_columns(tmp_path: Path) -> None:
    """As in promptfoo, whose providers may be objects too, and in the examples of LangSmith."""
    test = {
        "vars": {"question": "red", "locale": "de"},
        "assert": [{"type": "contains-all", "value": ["d3", "d7"]}],
    }
    tests = {"providers": [{"id": "python:retrieve.py"}], "tests": [test]}
    promptfoo = {"query": "vars.question", "relevance": "assert.0.value"}
    example = {"inputs": {"question": "red"}, "outputs": {"ids": {"d3": 2}}, "metadata": {"n": 1}}
    langsmith = {"query": "inputs.question", "relevance": "outputs.ids"}
    for value, columns, grades, attribute in (
        (tests, promptfoo, {"d3": 1, "d7": 1}, ("vars.locale", "de")),
        ([test], promptfoo, {"d3": 1, "d7": 1}, ("vars.locale", "de")),
        (example, langsmith, {"d3": 2}, ("n", 1)),
    ):
        for name, text in (("p.json", json.dumps(value)), ("p.yaml", json.dumps(value, indent=1))):
            golden = GoldenSet.load(written(tmp_path, text, name), columns=columns)
            assert golden.grades("red") == grades
            attributes = golden.query("red").attributes
            assert attribute in attributes.items()
            assert not any("question" in key for key in attributes)
    assert "with a.b for a key within another" in refusal(
        written(tmp_path, json.dumps([test]), "p.json")
    )
