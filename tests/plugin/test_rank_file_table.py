"""Rank files: every mistake is refused with its line, as the published JSON Schema does."""

import tomllib
from pathlib import Path

import jsonschema
import pytest

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.rank_file_table import RankFileTable, schema

FLOOR = '[test.floor]\nat_least = { "nDCG@10" = 0.8 }\n'

GOOD = [
    FLOOR,
    'golden = "web.jsonl"\ndepth = 50\nmetrics = ["Judged@10"]\nfailures = "1%"\n' + FLOOR,
    'conventions = "lightgbm"\n' + FLOOR,
    'conventions = ["catboost", "gain=exponential"]\n' + FLOOR,
    'failures = 2\n[ranker]\npython = "engine:search"\ntimeout = 0.5\nretries = 2\n' + FLOOR,
    '[ranker]\nhttp = { url = "http://x/{query}", engine = "solr", verify = false }\n' + FLOOR,
    '[ranker.http]\nurl = "http://x"\nids = "a"\nbody = { q = "{query}" }\n' + FLOOR,
    '[candidate.new]\ncommand = ["./rank", "{depth}"]\n' + FLOOR,
    '[ranker]\nrun = "runs/{golden}.run"\n[test.a]\nnot_regressed = "RR"\nabs = 0\nrel = 0.1\n',
    '[test.a]\nnot_regressed = ["RR",\n "AP"]\ngate = "significant"\nby = "locale"\nmarks = ["x"]\n',
    "[test.a]\nexpectations = true\n",
    'test.a.at_most = { "Seconds(q=0.95)" = 1 }\n',
]

BY_SCHEMA = [
    ("", 1, "the file has no 'test'"),
    ("[test]\n", 1, "[test] is empty"),
    ("golde = 'x'\n" + FLOOR, 1, "unknown key 'golde' in the file; did you mean 'golden'?"),
    *(
        (f"{key} = 'x'\n" + FLOOR, 1, f"; it is for all tests: set {option} in the configuration")
        for key, option in (
            ("doc_id", "rankcheck_doc_id"),
            ("columns", "rankcheck_columns"),
            ("documents", "rankcheck_documents"),
            ("rankcheck_interactions", "rankcheck_interactions"),
        )
    ),
    ("golden = 3\n" + FLOOR, 1, "'golden' must be a text or a list, not 3"),
    ("golden = []\n" + FLOOR, 1, "'golden' is empty"),
    ("metrics = ['RR', 5]\n" + FLOOR, 1, "'metrics' must be a text, not 5"),
    ("\ndepth = 0\n" + FLOOR, 2, "'depth' is 0; give a number at least 1"),
    ("depth = true\n" + FLOOR, 1, "'depth' must be a whole number, not true"),
    ("depth = 2024-01-01\n" + FLOOR, 1, "'depth' must be a whole number, not \"2024-01-01\""),
    ("failures = 0.01\n" + FLOOR, 1, "'failures' must be a text or a whole number, not 0.01"),
    (FLOOR + "[ranker]\n", 3, "[ranker] needs one of http, command, run, python"),
    (
        FLOOR + "[ranker]\nrun = 'a'\npython = 'b:c'\n",
        3,
        "[ranker] has run and python; keep one of them",
    ),
    (FLOOR + "[ranker]\npython = 'a:b'\ntimeout = 0\n", 5, "'timeout' is 0; give a number above 0"),
    (FLOOR + "[ranker]\ncommand = './rank'\n", 4, "'command' must be a list, not \"./rank\""),
    (FLOOR + "[ranker]\nhttp = { engine = 'solr' }\n", 4, "'http' has no 'url'"),
    (
        FLOOR + "[ranker]\nhttp = { url = 'u', engine = 'elastic' }\n",
        4,
        "'engine' is \"elastic\"; did you mean 'elasticsearch'?; give \"elasticsearch\", ",
    ),
    (
        FLOOR + "[ranker]\nhttp = { url = 'u', header = 'x' }\n",
        4,
        "unknown key 'header' in 'http'; did you mean 'headers'?",
    ),
    (
        FLOOR + "[candidate.new]\nrun = 'x.run'\n",
        4,
        "unknown key 'run' in [candidate.new]; the keys are http, command, python",
    ),
    ("[test.no-fall]\nnot_regressed = 'RR'\n", 1, "'no-fall' is not a name of letters, digits"),
    ("[test.a]\nat_lest = { RR = 1 }\n", 2, "unknown key 'at_lest' in [test.a]; did you mean 'at_"),
    ("[test.a]\nby = 'x'\n", 1, "[test.a] needs one of at_least, at_most, not_regressed, expect"),
    ("[test.a]\nat_least = {}\n", 2, "'at_least' is empty"),
    ("[test.a]\nat_least = 0.5\n", 2, "'at_least' must be a table, not 0.5"),
    ("[test.a]\nat_least = { RR = 'x' }\n", 2, "'RR' must be a number, not \"x\""),
    (FLOOR + "gate = 'significant'\n", 3, "'gate' in [test.floor] needs 'not_regressed'"),
    ("[test.a]\nnot_regressed = 'RR'\nabs = -1\n", 3, "'abs' is -1; give a number at least 0"),
    ("[test.a]\nexpectations = false\n", 2, "'expectations' is false; give true"),
    ("[test.a]\nexpectations = 1\n", 2, "'expectations' must be true or false, not 1"),
    (FLOOR + "marks = ['not valid']\n", 3, '"not valid" is not a name of letters, digits and _'),
]

NOT_TOML = (FLOOR + "at_most = { 'x' = }\n", 3, "not TOML")


def read(folder: Path, text: str) -> RankFileTable:
    file = folder / "test_web.rank.toml"
    file.write_text(text, "utf-8")
    return RankFileTable.read(file)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("text", GOOD)
def test_a_good_file_is_read(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).values == tomllib.loads(text)
    jsonschema.validate(tomllib.loads(text), schema())


@pytest.mark.parametrize(("text", "line", "said"), [*BY_SCHEMA, NOT_TOML])
def test_a_mistake_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"test_web.rank.toml:{line}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("text", [text for text, *_ in BY_SCHEMA if "2024" not in text])
def test_the_schema_refuses_it_too(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), schema())


def test_lines_are_found_below_longer_values(tmp_path: Path) -> None:
    text = 'metrics = [\n  "RR", # = x\n  "AP@5",\n]\n\n["test" . floor]  # first\n"by" = ["x"]\n'
    text += "at_least = { RR = 0.5 }\n"
    table = read(tmp_path, text)
    assert table.line("test", "floor") == 6
    assert table.line("test", "floor", "by") == 7
    assert table.line("test", "floor", "at_least", "RR") == 8


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = [" * 5000])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "test_web.rank.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"test_web\.rank\.toml"):
        RankFileTable.read(file)
