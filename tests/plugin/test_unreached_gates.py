"""A test stops at its first failing assertion: what it did not reach shows its recorded value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

TEST = """
import pytest
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_mrr(evaluation, baseline):
    FIRST
    assert_not_regressed(evaluation, baseline, "nDCG@10")
    assert_not_regressed(evaluation, baseline, "RR")
    assert_not_regressed(evaluation, baseline, "R@3")
"""
WORSE = dict.fromkeys(range(40), 2)
"""RR falls to 0.75, P@1 to 0.5, R@3 stays at 1."""


@pytest.fixture
def recorded(project: Project) -> Project:
    project.test(TEST.replace("FIRST", ""))
    project.update()
    return project


def rows(text: str) -> dict[str, str]:
    """Return the rows of the table by metric."""
    lines = [line for line in text.splitlines() if line.startswith("web ")]
    return {line.split()[1]: " ".join(line.split()) for line in lines}


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_gate_that_was_not_reached_shows_its_recorded_value(
    recorded: Project, workers: tuple[str, ...]
) -> None:
    recorded.rank(WORSE)
    files = {name: recorded.path / f"report.{name}" for name in ("json", "markdown", "html")}
    result = recorded.run(*workers, *(f"--rankcheck-{n}={path}" for n, path in files.items()))
    result.assert_outcomes(failed=1)
    table = rows(text_of(result))
    assert table["nDCG@10"].endswith("FAILED: regressed")
    assert table["RR"] == "web RR 1.0000 0.7500 -0.2500 -0.2500 not reached"
    assert table["R@3"] == "web R@3 1.0000 1.0000 +0.0000 +0.0000 not reached"

    report = json.loads(files["json"].read_text("utf-8"))
    gates: dict[str, dict[str, Any]] = {gate["metric"]: gate for gate in report["gates"]}
    assert {metric: gate["reached"] for metric, gate in gates.items()} == {
        "nDCG@10": True,
        "RR": False,
        "R@3": False,
    }
    assert (gates["RR"]["baseline"], gates["RR"]["now"]) == (1.0, 0.75)
    assert gates["RR"]["verdict"] == gates["RR"]["outcome"] == "not reached"
    assert gates["RR"]["gate"] == "tolerance(abs=0, rel=0)"

    markdown = files["markdown"].read_text("utf-8").replace("\\", "")
    assert "Ranking quality: 1 of 1 gate failed, 2 not reached" in markdown
    assert "| – | web | RR | 1.0000 | 0.7500 | -0.2500 |  | not reached |" in markdown
    html = files["html"].read_text("utf-8")
    assert "1 of 1 gates failed, 2 not reached" in html
    assert "– not reached" in html


def test_a_test_that_stops_before_its_first_gate_shows_all_recorded_values(
    recorded: Project,
) -> None:
    """A bound, or any other line, can fail first."""
    recorded.test(TEST.replace("FIRST", 'assert_at_least(evaluation, "P@1", 0.9)'))
    recorded.rank(WORSE)
    table = rows(text_of(recorded.run()))
    assert table["P@1"].endswith("FAILED: below 0.9000")
    assert table["RR"] == "web RR 1.0000 0.7500 -0.2500 -0.2500 not reached"
    recorded.test(TEST.replace("FIRST", "1 / 0"))
    assert rows(text_of(recorded.run()))["nDCG@10"].endswith("not reached")
    recorded.test(TEST.replace("FIRST", "pytest.skip('today')"))
    assert rows(text_of(recorded.run()))["RR"].endswith("not reached")


def test_a_configured_metric_that_was_not_reached_has_its_baseline(recorded: Project) -> None:
    ini = recorded.path / "pyproject.toml"
    ini.write_text(ini.read_text() + 'rankcheck_metrics = ["RR", "P@1"]\n')
    recorded.rank(WORSE)
    table = rows(text_of(recorded.run()))
    assert table["RR"] == "web RR 1.0000 0.7500 -0.2500 -0.2500 not reached"
    assert table["P@1"].endswith("not gated")


def test_several_metrics_in_one_assertion_are_all_reached(recorded: Project) -> None:
    recorded.test(
        TEST.replace("FIRST", "").partition("    assert_not")[0]
        + '    assert_not_regressed(evaluation, baseline, ["nDCG@10", "RR", "R@3"])\n'
    )
    recorded.rank(WORSE)
    result = recorded.run()
    text = text_of(result)
    assert "2 of 3 metrics failed: nDCG@10, RR" in text
    table = rows(text)
    assert table["RR"].endswith("FAILED: regressed")
    assert table["R@3"].endswith("passed")
    assert "not reached" not in text


def test_a_test_that_passes_has_reached_everything(recorded: Project) -> None:
    assert "not reached" not in text_of(recorded.run())


def test_a_baseline_that_cannot_be_read_does_not_hide_the_failure(recorded: Project) -> None:
    recorded.test(TEST.replace("FIRST", 'assert_at_least(evaluation, "P@1", 0.9)'))
    recorded.rank(WORSE)
    file = next((recorded.path / "tests" / "baselines").rglob("*.json"))
    file.write_text("{")
    text = text_of(recorded.run())
    assert "P@1 is 0.5000 on golden set" in text
    assert "not reached" not in text
