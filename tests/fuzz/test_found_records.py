"""What mutated baselines, reports and configurations have found, each as a plain example."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from readers import command
from samples import golden_set, record, report, sealed

from pytest_rankcheck import (
    BaselineError,
    ConfigurationError,
    Gate,
    GoldenSet,
    Metric,
    Record,
    Run,
    evaluate,
)
from pytest_rankcheck.baselines.metric_check import checks_of
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.gates.configured_gates import ScopedGate, gate_of
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.reports.json_report import json_of

HUGE = "9" * 400


@pytest.mark.parametrize(
    ("fall", "says"),
    [
        ("[]", "'[]' is not an object"),
        ("3", "'3' is not an object"),
        ('"RR"', "'RR' is not an object"),
        ('{"RR": 3}', "'3' is not an object"),
        ('{"RR": {"from": 1}}', "it lacks 'to'"),
        ('{"RR": {"from": 1e999, "to": 1}}', "Infinity is not a value that a baseline can have"),
        (f'{{"RR": {{"from": 1, "to": {HUGE}}}}}', "999...' is not a finite number"),
    ],
)
def test_an_approval_with_an_invalid_fall_is_refused(fall: str, says: str) -> None:
    entry = json.loads(record())
    entry["approvals"][0]["fall"] = json.loads(fall)
    text = sealed(json.dumps(entry).encode()).decode()
    with pytest.raises(BaselineError) as error:
        Record.from_text(text)
    assert says in str(error.value)


@pytest.mark.parametrize("place", ["best", "noise"])
def test_an_infinite_number_in_a_metric_is_refused(place: str) -> None:
    entry = json.loads(record())
    entry["metrics"]["RR"][place] = float("inf")
    text = sealed(json.dumps(entry).encode()).decode().replace("Infinity", "1e999")
    with pytest.raises(BaselineError, match="'inf' is not a finite number"):
        Record.from_text(text)


@pytest.mark.parametrize("text", ["\ud800", "\x1b[2J", "\u202e"])
def test_odd_characters_in_a_record_are_shown_as_escapes(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = json.loads(record())
    entry["golden_set"] |= {"fingerprint": text, "name": text}
    path = tmp_path / "record.json"
    path.write_bytes(sealed(json.dumps(entry).encode()))
    assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert text not in shown
    assert shown.count("\\") == 2
    other = GoldenSet.from_dict({"another": {"d1": 1}}, name=text)
    evaluation = evaluate(Run.from_dict({"another": ["d1"]}), other)
    (check,) = checks_of(
        Record.load(path), evaluation, {Metric("RR"): Gate.tolerance(abs=0.01)}, ()
    )
    assert text not in str(check.differences)
    assert "without an unchanged query in common" in check.differences[0]


Breaks = Callable[[dict[str, Any]], object]


def measured(entry: dict[str, Any]) -> dict[str, Any]:
    measurement: dict[str, Any] = entry["measurements"][0]
    return measurement


BREAKS: dict[str, Breaks] = {
    "no measurements": lambda entry: entry.pop("measurements"),
    "no gates": lambda entry: entry.pop("gates"),
    "a measurement that is a list": lambda entry: entry.update(measurements=[[]]),
    "measurements in an object": lambda entry: entry.update(measurements={"a": 1}),
    "no golden set": lambda entry: measured(entry).pop("golden_set"),
    "a golden set without a size": lambda entry: measured(entry)["golden_set"].pop("queries"),
    "a size that is a text": lambda entry: measured(entry)["golden_set"].update(queries="3"),
    "a size of 400 digits": lambda entry: measured(entry)["golden_set"].update(queries=10**400),
    "no conventions": lambda entry: measured(entry).pop("conventions"),
    "an unknown convention": lambda entry: measured(entry)["conventions"].update(ties="coin"),
    "no depth": lambda entry: measured(entry)["run"].pop("depth"),
    "an unknown metric": lambda entry: measured(entry)["metrics"].update(XX={}),
    "a value that is a text": lambda entry: measured(entry)["queries"][0]["values"].update(RR="x"),
    "three values": lambda entry: measured(entry)["queries"][0]["values"].update(RR=[1, 2, 3]),
    "an infinite value": lambda entry: measured(entry)["queries"][0]["values"].update(
        RR=[1, float("inf")]
    ),
    "no value": lambda entry: measured(entry)["queries"][0]["values"].pop("RR"),
    "no rankings": lambda entry: measured(entry)["queries"][0].pop("now"),
    "a document that is a number": lambda entry: measured(entry)["queries"][0].update(now=[1]),
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A golden set and a run, to compare with."""
    golden_set().save(tmp_path / "web.jsonl")
    (tmp_path / "web.run").write_text("q1 Q0 d1 1 9.5 x\nq2 Q0 d2 1 3 x\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("breaks", BREAKS.values(), ids=BREAKS)
def test_a_broken_report_is_refused_by_show_and_compare(
    breaks: Breaks, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = files / "report.json"
    entry = json.loads(json_of(report()))
    breaks(entry)
    path.write_text(json.dumps(entry).replace("Infinity", "1e999"), "utf-8")
    given = ("--golden", str(files / "web.jsonl"))
    assert command("show", str(path)) == 2
    assert command("show", str(path), *given) == 2
    assert command("compare", str(path), str(files / "web.run"), *given) == 2
    assert command("compare", str(files / "web.run"), str(path), *given) == 2


def test_a_truncated_report_is_refused_wherever_it_ends(files: Path) -> None:
    text = json_of(report())
    for end in range(len(text) // 40, len(text) - 2, len(text) // 40):
        (files / "report.json").write_text(text[:end], "utf-8")
        assert command("show", str(files / "report.json")) == 2


def test_a_report_nested_too_deeply_is_refused(files: Path) -> None:
    text = json_of(report()).replace('"gates": [', f'"gates": [{"[" * 100_000}', 1)
    (files / "report.json").write_text(text, "utf-8")
    assert command("show", str(files / "report.json")) == 2


@pytest.mark.parametrize("text", [f"noninferior(margin={HUGE})", f"tolerance(abs={HUGE})"])
def test_a_gate_with_a_number_of_400_digits_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="999"):
        gate_of(text)
    with pytest.raises(ConfigurationError, match="999"):
        ScopedGate.parse(f"web nDCG@10: {text}")


@pytest.mark.parametrize("name", ["abs", "rel", "max_query_drop", "max_gap"])
def test_an_allowance_of_400_digits_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        Gate.tolerance(**{name: int(HUGE)})


def test_a_margin_of_400_digits_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="margin"):
        Gate.noninferior(margin=int(HUGE))


@pytest.mark.parametrize(
    "text", [b"[tool.pytest.ini_options]\na = '\x8a'\n", b"a = " + b"[" * 9999]
)
def test_a_configuration_that_pytest_cannot_read_is_refused(
    text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="pytest cannot read its configuration file"):
        project_configuration()
