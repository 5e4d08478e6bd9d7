"""Statistical gates in a test session: configuration, inconclusive verdicts, and texts."""

from __future__ import annotations

import json
import re

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Run,
    assert_at_least,
    assert_at_most,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.baselines.record_contents import digest_of

TEST = """
from pytest_rankcheck import assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", by="locale")
"""


def configure(project: Project, *lines: str) -> None:
    ini = project.path / "pyproject.toml"
    text = ini.read_text().partition("rankcheck_gate")[0]
    ini.write_text("\n".join((text.rstrip(), *lines)) + "\n")


@pytest.fixture
def recorded(project: Project) -> Project:
    project.test(TEST)
    project.update()
    return project


def test_a_configured_gate_passes_noise_and_blocks_a_real_fall(recorded: Project) -> None:
    recorded.rank({1: 2, 50: 2})
    recorded.run().assert_outcomes(failed=1)  # without a gate nothing may fall
    configure(recorded, 'rankcheck_gate = ["significant"]')
    recorded.run().assert_outcomes(passed=1)
    recorded.rank(dict.fromkeys(range(12), 3))
    result = recorded.run()
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "RR regressed in locale=en of golden set 'web' (40 queries)" in text or (
        "RR regressed on golden set 'web' (80 queries)" in text
    )
    assert "12 queries worse, 0 better, 68 equal" in text
    assert "95% interval of the difference [-0." in text
    assert "p = 0.0001 (paired sign-flip test)" in text  # mid-p: 2^-13
    assert "decided by significant(alpha=0.05, min_drop=0)" in text
    assert "(Holm, 2 decisions)" in text  # no German query changed
    assert "with 80 queries, power is 70% to 80% for a fall of 0." in text  # one size of change
    assert "(one-sided t-test, alpha 0.05)" in text


def test_the_gate_of_a_metric_on_a_set_takes_precedence(recorded: Project) -> None:
    recorded.rank({1: 2, 50: 2})
    configure(recorded, 'rankcheck_gate = ["tolerance", "web RR: tolerance(abs=0.05)"]')
    recorded.run().assert_outcomes(passed=1)
    configure(recorded, 'rankcheck_gate = ["tolerance(abs=0.05)", "web RR: tolerance"]')
    recorded.run().assert_outcomes(failed=1)


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_an_inconclusive_verdict_warns_fails_or_passes(
    recorded: Project, workers: tuple[str, ...]
) -> None:
    recorded.rank({1: 9, 50: 9})
    gate = 'rankcheck_gate = ["noninferior(margin=0.01)"]'
    before = recorded.baseline_file().read_bytes()
    configure(recorded, gate)
    result = recorded.run(*workers)
    result.assert_outcomes(passed=1)
    text = text_of(result)
    assert "inconclusive: not enough evidence to say whether it got worse:" in text
    assert "RR is inconclusive on golden set 'web' (80 queries)" in text
    assert "a fall of 0.0100 is neither ruled out nor shown" in text
    assert "; a fall of 0.01 needs " in text
    assert "with 2 changed queries the smallest possible p is 0.25" in text
    configure(recorded, gate, 'rankcheck_inconclusive = "fail"')
    for arguments in ((), ("--snapshot-update",)):
        result = recorded.run(*workers, *arguments)
        result.assert_outcomes(failed=1)
        assert "to let it pass: judge more queries, widen the margin" in text_of(result)
        assert recorded.baseline_file().read_bytes() == before
    configure(recorded, gate, 'rankcheck_inconclusive = "pass"')
    result = recorded.run(*workers)
    result.assert_outcomes(passed=1)
    assert "inconclusive on" not in text_of(result)


def test_an_update_keeps_the_record_of_an_inconclusive_fall(recorded: Project) -> None:
    recorded.rank({1: 9, 50: 9})
    before = recorded.baseline_file().read_bytes()
    configure(recorded, 'rankcheck_gate = ["noninferior(margin=0.01)"]')
    result = recorded.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    assert "baselines kept" in text_of(result)
    assert recorded.baseline_file().read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'rankcheck_gate = ["noninferior"]',
            "rankcheck_gate: 'noninferior': the gate noninferior n",
        ),
        (
            'rankcheck_gate = ["significant(test=wilcoxon)"]',
            "rankcheck_gate: test=wilcoxon is no longer offered: the signed-rank test does not",
        ),
        ('rankcheck_gate = ["signifcant"]', "rankcheck_gate: 'signifcant' is not a gate; did you"),
        (
            'rankcheck_gate = ["NDGC@10: tolerance(abs=0.1)"]',
            "rankcheck_gate: 'NDGC@10: tolerance(abs=0.1)': unknown metric 'NDGC'; did you mean",
        ),
        (
            'rankcheck_gate = []\nrankcheck_inconclusive = "warm"',
            "'warm' is not one of pass, warn, f",
        ),
    ],
)
def test_a_wrong_configuration_is_a_usage_error(recorded: Project, line: str, message: str) -> None:
    configure(recorded, line)
    result = recorded.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in text_of(result)


def test_a_gate_can_be_written_as_in_python(recorded: Project) -> None:
    configure(recorded, 'rankcheck_gate = ["Gate.tolerance(abs=0.5)"]')
    recorded.rank({1: 9, 50: 9})
    recorded.run().assert_outcomes(passed=1)


def test_invalid_baselines_and_gates_are_refused() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}})
    evaluation = evaluate(Run.from_dict({"a": ["x"]}), golden)
    with pytest.raises(
        ConfigurationError, match=r"baseline must be .*, not 0.8 .float.; write assert_at_least"
    ):
        assert_not_regressed(evaluation, 0.8, "RR")  # type: ignore[arg-type]
    with pytest.raises(
        ConfigurationError, match=r"gate must be a Gate, not .*; write gate=Gate.noninferior"
    ):
        assert_not_regressed(evaluation, evaluation, "RR", gate="tolerance()")  # type: ignore[arg-type]
    with pytest.raises(
        ConfigurationError, match=r"RR ranges from 0 to 1, so it is never at least 80.0000"
    ):
        assert_at_least(evaluation, "RR", 80)
    with pytest.raises(ConfigurationError, match=r"it is never at most -0.1000"):
        assert_at_most(evaluation, "RR", -0.1)


def test_a_plan_says_how_many_queries_would_be_needed(recorded: Project) -> None:
    text = text_of(recorded.run("--rankcheck-plan"))
    assert "queries needed to detect a fall, with 80% intervals (paired t-test, one-sided" in text
    assert "golden set 'web' (80 queries), RR: standard deviation 0.0000, guessed" in text
    recorded.rank({1: 9, 50: 9})
    text = text_of(recorded.run("--rankcheck-plan"))
    assert "RR: standard deviation 0.1397, the differences of the two rankers" in text
    number = r"[\d,]+ to [\d,]+ \(best guess {}\) for {}"
    rows = f"RR: a fall of 0.01: {number.format(920, '70%')}, {number.format('1,208', '80%')}, "
    assert re.search(rows, text)
    configure(recorded, 'rankcheck_gate = ["noninferior(margin=0.04)"]')
    text = text_of(recorded.run("--rankcheck-plan"))
    for margin in ("0.02", "0.04", "0.08"):
        assert f"a fall of {margin}: " in text


def test_a_record_whose_gate_is_no_longer_offered_is_read_and_needs_a_reason_once(
    recorded: Project,
) -> None:
    """Wilcoxon's test was removed: what it let pass is not known, so any gate may be looser."""
    recorded.update()
    gone = "significant(alpha=0.05, min_drop=0, test=wilcoxon)"
    entry = recorded.record()
    entry["metrics"]["RR"]["gate"] = gone
    entry["digest"] = digest_of(entry)
    recorded.baseline_file().write_text(json.dumps(entry))
    listed = f"the gate of RR was {gone}, and is tolerance(abs=0, rel=0) now"
    for arguments in ((), ("--snapshot-update",)):
        result = recorded.run(*arguments)
        result.assert_outcomes(passed=1)
        assert listed in text_of(result)
        assert recorded.record()["metrics"]["RR"]["gate"] == gone
    recorded.run("--snapshot-update", "--rankcheck-approve", "another test").assert_outcomes(
        passed=1
    )
    assert recorded.record()["metrics"]["RR"]["gate"] == "tolerance(abs=0, rel=0)"
    assert listed not in text_of(recorded.run())


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_guarantee_is_shown_with_its_bound_and_needs_many_queries(
    project: Project, workers: tuple[str, ...]
) -> None:
    """Bets on 80 unchanged queries rule out a fall of 0.0390; no test can rule out 0.0368."""
    project.test(TEST)
    configure(project, 'rankcheck_gate = ["noninferior(margin=0.03, test=guaranteed)"]')
    project.update()
    report = project.path / "report.json"
    text = text_of(project.run(*workers, f"--rankcheck-json={report}"))
    bound = "guaranteed at 95% for any values from 0 to 1: the difference is above -0.0390"
    few = (
        "RR on 'web': noninferior(margin=0.03, alpha=0.05, test=guaranteed) rarely decides with "
        "fewer than 200 (80 queries here)"
    )
    assert f"a fall of 0.0300 is neither ruled out nor shown; {bound}" in text
    assert f"{bound}; to rule out a fall of 0.03 takes at least 104 queries" in text
    assert few in text
    written = json.loads(report.read_text())
    assert written["gates"][0]["overall"]["guaranteed"] == pytest.approx(-0.0390, abs=1e-4)
    assert next(note["text"].partition(": ")[2] for note in written["notes"]) == few


@pytest.mark.parametrize(
    ("gate", "ranks", "shown"),
    [
        ("noninferior(margin=0.05, test=guaranteed)", {}, False),  # it passed for certain
        ("significant(test=guaranteed)", {}, True),
        ("significant(test=guaranteed)", dict.fromkeys(range(40), 3), False),  # it blocks
        ("significant", {}, False),
    ],
)
def test_a_guarantee_that_decided_has_no_note(
    project: Project, gate: str, ranks: dict[int, int | None], shown: bool
) -> None:
    project.test(TEST.replace(', by="locale"', ""))
    configure(project, f'rankcheck_gate = ["{gate}"]')
    project.update()
    project.rank(ranks)
    result = project.run()
    assert ("rarely decides" in text_of(result)) is shown
    result.assert_outcomes(passed=not ranks, failed=bool(ranks))
    bound = "guaranteed at 95% for any values from 0 to 1: the difference is above -0."
    assert (bound in text_of(result)) is bool(ranks)


def test_a_declared_range_in_the_configuration(project: Project) -> None:
    """A later rank of the first relevant document is worse, so the bound is an upper one."""
    project.test(TEST.replace("RR", "FirstRank").replace(', by="locale"', ""))
    configure(
        project, 'rankcheck_gate = ["FirstRank: significant(test=guaranteed, range=(1, 20))"]'
    )
    project.update()
    assert "range=(1, 20)" in str(project.record()["metrics"]["FirstRank"]["gate"])
    project.rank(dict.fromkeys(range(60), 9))
    text = text_of(project.run())
    assert "guaranteed at 95% for any values from 1 to 20: the difference is below +" in text
    configure(project, 'rankcheck_gate = ["FirstRank: significant(test=guaranteed, range=(1, 5))"]')
    project.rank({3: 9})
    text = text_of(project.run())
    assert "query 'q003' has the value 9 now, outside the range 1 to 5" in text
