"""A printed line of configuration works when it is pasted: in each kind of file, beside others."""

import json
import re
from collections.abc import Sequence

import pytest
from project import Project, text_of

from pytest_rankcheck.plugin.options import listed_lines

MOST_ROUNDS = 4
PRINTED = re.compile(r"(rankcheck_\w+) = (\[.*?\])(?= \(pyproject|, or give)")
HEADS = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
FLOOR = """
from pytest_rankcheck import assert_at_least

def test_rr(evaluation):
    assert_at_least(evaluation, "RR", 1.0)
"""

Lines = dict[str, str]


def configure(project: Project, file: str, lines: Lines) -> None:
    """Write the configuration; a line takes the place of the one with its name, as when pasted."""
    text = "".join(f"{name} = {value}\n" for name, value in lines.items())
    project.write(file, HEADS[file] + text)


def pasted(project: Project, file: str, lines: Lines) -> Sequence[Lines]:
    """Paste what is printed until the tests pass; return the lines that were set in each round."""
    (project.path / "pyproject.toml").unlink()
    rounds: list[Lines] = []
    for _ in range(MOST_ROUNDS):
        configure(project, file, lines)
        result = project.run()
        if not result.ret:
            return rounds
        found = dict(PRINTED.findall(text_of(result)))
        assert found, text_of(result)
        assert found not in rounds, f"{found} is suggested again"
        rounds.append(found)
        lines = {**lines, **found}
    raise AssertionError(f"{rounds} do not help")


ENGINE = "def search(text):\n    return [{}]\n"


@pytest.mark.parametrize(
    ("file", "ranked", "judged", "given", "suggested"),
    [
        ("pyproject.toml", '"guide0#0"', "guide0", (), ["before:#"]),
        ("pytest.ini", '"guide0"', "guide0#1", (), ["before:#"]),
        ("pyproject.toml", '"A%23B"', "a#b", ["unquote"], ["unquote", "lower"]),
        ("pytest.ini", '"https://a.b/Hat"', "Hat", (), ["remove_prefix:https://a.b/"]),
    ],
)
def test_a_rule_for_ids(
    project: Project, file: str, ranked: str, judged: str, given: list[str], suggested: list[str]
) -> None:
    project.golden(
        [{"query_id": f"q{n}", "query": "x", "relevance": {judged: 1}} for n in range(5)]
    )
    project.write("engine.py", ENGINE.format(ranked))
    project.test(FLOOR)
    lines = {
        "rankcheck_golden": value(file, "golden/web.jsonl"),
        "rankcheck_ranker": value(file, "engine:search"),
    }
    if given:
        lines["rankcheck_doc_id"] = json.dumps(given)
    assert pasted(project, file, lines) == [{"rankcheck_doc_id": json.dumps(suggested)}]


def value(file: str, text: str) -> str:
    return text if file.endswith(".ini") else json.dumps(text)


def test_a_list_may_be_written_as_in_toml() -> None:
    for lines, expected in (
        (["a=b", "c=d"], ["a=b", "c=d"]),
        (["""["a=b", 'c=d']"""], ["a=b", "c=d"]),
        (["[", '"a=b",', '"c=d",', "]"], ["a=b", "c=d"]),
        (["[]"], []),
        (["[ab]*.csv"], ["[ab]*.csv"]),
        ([], []),
    ):
        assert listed_lines(lines) == expected


def test_ids_of_golden_sets_of_different_shapes(project: Project) -> None:
    """One has parts of documents, and for the other the same rule would make documents equal."""
    guides = [
        {"query_id": f"q{n}", "query": "a", "relevance": {"c#1": 1, "c#2": 0}} for n in range(5)
    ]
    parts = [{"query_id": f"q{n}", "query": "b", "relevance": {"c": 1}} for n in range(5)]
    project.golden(guides, "golden/guides.jsonl")
    project.golden(parts, "golden/parts.jsonl")
    project.write("engine.py", ENGINE.format('"c#1"'))
    project.test(FLOOR)
    lines = {
        "rankcheck_golden": '["golden/guides.jsonl", "golden/parts.jsonl"]',
        "rankcheck_ranker": '"engine:search"',
        "rankcheck_doc_id": '["strip"]',
    }
    found = pasted(project, "pyproject.toml", lines)
    assert found == [{"rankcheck_doc_id": '["strip", "parts: before:#"]'}]
