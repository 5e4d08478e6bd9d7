"""Slices that appear, vanish or drift apart; noise floors; falls that add up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from project import CONFIGURATION, Project, text_of

BY_LOCALE = """
from pytest_rankcheck import Gate, assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, gate=GATE, by="locale")
"""


def configure(project: Project, *lines: str) -> None:
    project.write("pyproject.toml", "\n".join((CONFIGURATION, *lines)))


def gated(project: Project, gate: str, by: str = 'by="locale"') -> None:
    project.test(BY_LOCALE.replace("GATE", gate).replace('by="locale"', by))


def moved(project: Project, **locales: str) -> list[dict[str, Any]]:
    """Return the golden set with different locales for some queries."""
    lines = project.queries()
    for line in lines:
        line["locale"] = locales.get(line["query_id"], line["locale"])
    return lines


@pytest.fixture
def sliced(project: Project) -> Project:
    gated(project, "Gate.tolerance(abs=0.5)")
    project.update()
    return project


def test_the_record_counts_the_slices_that_are_gated(sliced: Project) -> None:
    assert sliced.record()["slices"] == {"locale": {"de": 40, "en": 40}}


def test_vanished_and_new_slices_are_reported(sliced: Project) -> None:
    lines = sliced.queries()
    for line in lines:
        line["locale"] = "en" if line["locale"] == "en" else "fr"
    sliced.golden(lines)
    result = sliced.run()
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "the slice locale=de has vanished (40 queries in the baseline)" in text
    assert "the slice locale=fr is new (40 queries)" in text
    sliced.rank(dict.fromkeys(range(60), 9))
    failure = text_of(sliced.run())
    assert "the slice locale=de has vanished (40 queries in the baseline)" in failure


def test_slices_that_are_no_longer_gated_are_reported(sliced: Project) -> None:
    gated(sliced, "Gate.tolerance(abs=0.5)", by="by=()")
    result = sliced.run()
    result.assert_outcomes(passed=1)
    assert "the slices of locale are no longer gated" in text_of(result)


def test_configured_slices_gate_tests_without_slices(project: Project) -> None:
    configure(project, 'rankcheck_slices = ["locale", "device"]')
    gated(project, "Gate.tolerance(abs=0.3)", by="by=None")
    project.update()
    assert project.record()["slices"] == {"locale": {"de": 40, "en": 40}}
    project.rank(dict.fromkeys(range(40), 4))  # en falls by 0.75, all by 0.375
    result = project.run()
    result.assert_outcomes(failed=1)
    project.rank(dict.fromkeys(range(40), 2))  # en falls by 0.5, all by 0.25
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "RR regressed in locale=en of golden set 'web' (40 queries)" in text_of(result)
    gated(project, "Gate.tolerance(abs=0.3)", by="by=()")
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "golden set 'web' has no attribute 'device', which rankcheck_slices names" in text_of(
        result
    )


def test_too_large_a_gap_between_slices_blocks_without_a_fall(project: Project) -> None:
    project.rank(dict.fromkeys(range(40), 2))
    gated(project, "Gate.tolerance(abs=0.5, max_gap=0.499)")
    project.update()
    result = project.run()
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert (
        "RR: locale=en and locale=de are 0.5000 apart (0.5000 apart in the baseline), "
        "allowed 0.4990" in text
    )
    gated(project, "Gate.tolerance(abs=0.5, max_gap=0.5)")
    project.run().assert_outcomes(passed=1)
    gated(project, "Gate.tolerance(abs=0.5, max_gap=0.4, min_queries=41)")
    project.run().assert_outcomes(passed=1)


UNSTEADY = '''
import json
from pathlib import Path

def search(text):
    """Answer one query in ten differently each time."""
    file = Path(__file__).parent / "asked.json"
    asked = json.loads(file.read_text()) if file.exists() else {}
    asked[text] = asked.get(text, 0) + 1
    file.write_text(json.dumps(asked))
    rank = 1 + asked[text] % 4 if text.endswith("0") else 1
    return [f"filler-{index}" for index in range(rank - 1)] + [f"doc of {text}"]
'''


@pytest.fixture
def unsteady(project: Project) -> Project:
    project.write("engine.py", UNSTEADY)
    gated(project, "Gate.tolerance(abs=0.001)")
    assert project.run("--snapshot-update", "--rankcheck-repeat", "5").ret == 0
    return project


def test_a_tolerance_below_the_recorded_noise_is_reported(
    unsteady: Project,
) -> None:
    # Of 80 queries 8 are at 2, 3, 4, 1, 2 in the five runs: means of 1 - (1/2, 2/3, 3/4, 0, 1/2)/10
    noise = unsteady.record()["metrics"]["RR"]["noise"]
    assert noise == pytest.approx(0.029107, abs=1e-6)
    unsteady.write("asked.json", "{}")
    result = unsteady.run()
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "tolerances below the noise of the ranker:" in text
    assert (
        "RR may fall by 0.0010, but varies by 0.0291 (standard deviation) from run to run" in text
    )
    assert "use abs=0.09 or Gate.tolerance(noise=3)" in text
    gated(unsteady, "Gate.tolerance(noise=3)")
    unsteady.write("asked.json", json.dumps({f"query {tens}0": 1 for tens in ("", *range(1, 8))}))
    result = unsteady.run()
    result.assert_outcomes(passed=1)
    assert "below the noise" not in text_of(result)


def test_an_update_without_noise_keeps_the_recorded_noise(unsteady: Project) -> None:
    unsteady.write("engine.py", UNSTEADY.replace("1 + asked[text] % 4", "1"))
    unsteady.update()
    assert unsteady.record()["metrics"]["RR"]["noise"] == pytest.approx(0.029107, abs=1e-6)


def test_a_gate_that_needs_noise_says_how_to_measure_it(project: Project) -> None:
    gated(project, "Gate.tolerance(noise=3)")
    project.update()
    text = text_of(project.run())
    assert "RR: the gate tolerance(abs=0, rel=0, noise=3) needs to know how much" in text
    assert "pytest --snapshot-update --rankcheck-repeat 5" in text


@pytest.fixture
def leaking(project: Project) -> Project:
    """A project that has approved a fall of 0.025, with a budget of 0.03."""
    configure(project, "rankcheck_leak_budget = 0.03")
    gated(project, "Gate.tolerance(abs=0.01)")
    project.update()
    project.rank({1: 2, 2: 2, 3: 2, 4: 2})
    project.update("--rankcheck-approve", "a new index")
    return project


def test_the_summary_always_shows_the_distance_from_the_best(leaking: Project) -> None:
    text = text_of(leaking.run())
    assert "baseline     now   change  from best  verdict" in text
    assert "web         RR        0.9750  0.9750  +0.0000    -0.0250  passed" in text


def test_falls_that_add_up_to_more_than_the_budget_are_not_approved(leaking: Project) -> None:
    leaking.rank({1: 2, 2: 2, 3: 2, 4: 2, 5: 2})
    before = leaking.baseline_file().read_bytes()
    result = leaking.run("--snapshot-update", "--rankcheck-approve", "another index")
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "approval refused: RR regressed in locale=en of golden set 'web'" in text
    assert "with it, RR would be 0.0312 worse than 1.0000, the best ever approved" in text
    assert "1.0000 -> 0.9750" in text
    assert '"a new index"' in text
    assert '--rankcheck-approve "why this is acceptable; leak budget spent"' in text
    assert leaking.baseline_file().read_bytes() == before
    reason = "another index; the leak budget is spent on it"
    leaking.update("--rankcheck-approve", reason)
    assert [one["reason"] for one in leaking.record()["approvals"]] == ["a new index", reason]
    assert leaking.record()["metrics"]["RR"]["best"] == 1.0


def test_raising_a_baseline_in_between_does_not_refill_the_budget(leaking: Project) -> None:
    leaking.rank({1: 2, 2: 2})
    leaking.update()
    leaking.rank({1: 2, 2: 2, 3: 2, 4: 2, 5: 2})
    result = leaking.run("--snapshot-update", "--rankcheck-approve", "another index")
    result.assert_outcomes(failed=1)
    assert "RR would be 0.0312 worse than 1.0000" in text_of(result)


@pytest.mark.parametrize("value", ["much", "-1", "inf", "nan"])
def test_an_invalid_budget_is_refused(project: Project, value: str) -> None:
    configure(project, f'rankcheck_leak_budget = "{value}"')
    gated(project, "Gate.tolerance()")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"rankcheck_leak_budget = {value} is invalid; give a number from 0 on" in text_of(result)
