"""What options and ini names take: the values that are read, and the errors for invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, Run
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.configuration import all_option_rows
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.options import Given
from pytest_rankcheck.rankers.allowed_failures import most_failures

ROWS = {row.ini or row.flag: row for row in all_option_rows().values()}
READING = "rankcheck_session_reading"


def parsed(name: str, value: object) -> Any:
    return ROWS[name].kind.parse(Given(name, value, Path()))


def test_valid_values_are_read() -> None:
    for name, value, expected in (
        ("rankcheck_depth", 10, 10),
        ("rankcheck_timeout", "1.5", 1.5),
        ("rankcheck_scale", "", None),
        ("rankcheck_inconclusive", "", "warn"),
        ("rankcheck_unrun", "fail", "fail"),
        ("rankcheck_conventions", ["ties = input"], {"ties": "input"}),
        ("rankcheck_conventions", [" lightgbm", "gain=linear"], {"lightgbm": "", "gain": "linear"}),
        ("rankcheck_grades", ["1=4", "best=3"], {"1": 4, "best": 3}),
        ("rankcheck_grades", ["1"], 1),
        ("rankcheck_grades", [], None),
        ("--rankcheck-approve", " better ", "better"),
        (READING, ["first_rank=0", "lenient=true"], {"first_rank": 0, "lenient": True}),
        (READING, ['attributes=["group"]'], {"attributes": ["group"]}),
        (READING, ["session_gap=30min"], {"session_gap": "30min"}),
        (READING, ["grades={buy=3, add=2}"], {"grades": {"buy": 3, "add": 2}}),
    ):  # fmt: skip
        assert parsed(name, value) == expected, (name, value)


def test_an_invalid_value_is_an_error_that_names_the_option() -> None:
    for name, value, says in (
        *(
            ("rankcheck_depth", value, f"{value} is invalid; give a whole number from 1 on")
            for value in ("many", "1e3", "2.5", "-1", "0")
        ),
        ("rankcheck_candidates", ["a = x:y", "a = x:z"], "two lines are for 'a'; keep one"),
        (
            "rankcheck_candidates",
            ["a x:y"],
            "'a x:y' is not of the form name=value, such as name =",
        ),
        ("rankcheck_retries", "once", "once is invalid; give a whole number from 0 on"),
        ("rankcheck_chunk", "0", "rankcheck_chunk = 0 is invalid"),
        ("rankcheck_replicates", "1e3", "1e3 is invalid; give a whole number from 1 on"),
        ("rankcheck_timeout", "soon", "soon is invalid; give a number of seconds above 0"),
        ("rankcheck_scale", "three", "three is invalid; give the highest grade of the scale"),
        ("rankcheck_scale", "0", "0 is invalid; give the highest grade of the scale"),
        ("rankcheck_inconclusive", "warm", "'warm' is not one of pass, warn, fail"),
        ("rankcheck_unrun", "off", "'off' is not one of ignore, warn, fail"),
        ("rankcheck_run", ["a b", "c"], "takes one path; put one with spaces in quotes"),
        ("--rankcheck-approve", "  ", "--rankcheck-approve needs a reason"),
        ("--rankcheck-approve", __file__, "--rankcheck-approve needs a reason"),
        ("--rankcheck-approve", f"{__file__}::test_a", "--rankcheck-approve needs a reason"),
        ("rankcheck_columns", ["query=a", "query = b"], "two lines are for 'query'; keep one"),
        ("rankcheck_columns", ["[query=q]"], "'[query=q]' is not of the form name=value"),
        (READING, ["sid"], "'sid' is not of the form name=value"),
        ("rankcheck_grades", ["one"], "'one' is invalid; write code=grade, such as 1=4, or one"),
        ("rankcheck_grades", ["1=x"], "'1=x' is invalid; write code=grade"),
        (READING, ["unit=s"], "unknown keyword 'unit'; did you mean 'time_unit'?"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            parsed(name, value)
        assert str(raised.value).startswith(name)
        assert says in str(raised.value)


def test_what_may_fail_is_a_number_or_a_share() -> None:
    for value in ("-1", "two", "1.5", "101%", "1%%", "-1%", "nan%", "inf%"):
        with pytest.raises(ConfigurationError, match=f"'{value}' is not a number such as 2, or a"):
            most_failures(value, 80)


def test_an_input_that_cannot_be_used_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    rule = "doc_id_lines"
    for name, values, says in (
        ("golden_paths", {"golden": (Path("none.jsonl"),)}, "none.jsonl does not exist; correct ran"),
        ("golden_paths", {"golden": (Path("*.none"),)}, "matches no file; correct rankcheck_golden"),
        ("golden_paths", {}, "no golden set: the fixture golden_set needs one"),
        ("log_paths", {"sessions": (Path("none.jsonl"),)}, "session log: none.jsonl does not exist"),
        ("log_paths", {}, "no session log: the fixture session_log needs one"),
        ("run_path", {"run": Path("none.run")}, "none.run does not exist; correct rankcheck_run"),
        ("documents", {"documents": Path("none.txt")}, "documents: none.txt does not exist; correct"),
        ("metrics", {"metrics": ("nDGC@10",)}, "unknown metric 'nDGC'; did you mean 'nDCG'?"),
        ("conventions", {"conventions": {"ties": "inputs"}}, "ties=inputs is invalid; did you mean"),
        ("gates", {"gate_lines": ("RR: tolerance(rel=2)",)}, "rel=2 lets RR fall by"),
        ("ranker", {"ranker": "nowhere:search"}, "ranker module 'nowhere' cannot be imported"),
        ("ranker", {"ranker": "json:lods"}, "there is no 'lods' in json; did you mean 'loads'"),
        ("ranker", {}, "no ranker: the fixture ranker needs one"),
        ("doc_id", {rule: ("lowr",)}, "rankcheck_doc_id: doc_id=lowr is invalid; did you mean 'lower'"),
        ("doc_id", {rule: ("nowhere:f",)}, "function module 'nowhere' cannot be imported"),
        ("doc_id", {rule: ("json:lods",)}, "function 'json:lods': there is no 'lods' in json"),
        ("doc_id", {rule: ("json:",)}, "function 'json:' is invalid; write package.module:name"),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError) as raised:
            getattr(Inputs(Config(**values)), name)
        assert says in str(raised.value), str(raised.value)
    with pytest.raises(ConfigurationError, match="it must leave a mapped id as it is"):
        Inputs(Config(**{rule: ("remove_prefix:a",)})).doc_id("aab")
    with pytest.raises(
        ConfigurationError, match=r"rankcheck_lint: 'few-querie' is .*'few-queries'"
    ):
        Inputs(Config(lint_lines=("few-querie=error",))).lint_options()
    for name in ("golden_paths", "log_paths", "ranker"):
        with pytest.raises(ConfigurationError) as raised:
            getattr(Inputs(Config()), name)
        for way in ("rankcheck_", "--rankcheck-", "@pytest.fixture"):
            assert way in str(raised.value), "every way to give it is shown"


def test_a_run_of_ones_own_is_measured_with_the_configured_worst_order() -> None:
    golden = GoldenSet.from_dict({"1": {"a": 0, "z": 1}})
    run = Run.from_dict({"1": {"z": 1.0, "a": 1.0}})
    for preset, value in (("catboost", 0.0), ("lightgbm", 1.0)):
        evaluation = Inputs(Config(conventions={preset: ""})).evaluation(run, golden)
        assert evaluation.mean("nDCG@1") == value


def test_golden_sets_with_the_same_lines_share_what_is_read() -> None:
    columns = {"query_id": "q", "web: query_id": "topic"}
    inputs = Inputs(Config(columns=columns, doc_id_lines=("lower", "app: strip")))
    own = {name: inputs.of_golden(name) for name in ("", "shop", "web", "app")}
    assert own[""] is own["shop"]
    assert len({*map(id, own.values())}) == 3
    assert own["web"].config.columns == {"query_id": "topic"}
    assert own["app"].config.doc_id_lines == ("lower", "strip")
