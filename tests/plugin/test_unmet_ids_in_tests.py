"""A test session whose ranker names documents in another way than the golden set."""

from __future__ import annotations

import json
import sys

import pytest
from project import CONFIGURATION, WITHOUT_AND_WITH_WORKERS, Project, text_of

ENGINE_WITH_OTHER_IDS = """
def search(text):
    return [f"DOC OF {text.upper()}", "FILLER-0"]
"""

ASSERTIONS = """
from pytest_rankcheck import assert_at_least, assert_ndcg_at_least, assert_ranking_stable

def test_floor(evaluation):
    assert_at_least(evaluation, "nDCG@10", 0.0)

def test_named(evaluation):
    assert_ndcg_at_least(evaluation, 0.0, k=10)

def test_mrr(evaluation, baseline):
    from pytest_rankcheck import assert_mrr_not_regressed
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)

def test_stable(evaluation, baseline):
    assert_ranking_stable(evaluation, baseline)

def test_stable_without_judgments(ranking_run, baseline):
    assert_ranking_stable(ranking_run, baseline)
"""


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_assertions_and_updates_fail_and_write_nothing(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.test(ASSERTIONS)
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments, *workers)
        # Without --snapshot-update, the last test has no baseline yet.
        result.assert_outcomes(failed=4 + (not arguments), passed=bool(arguments))
        text = text_of(result)
        assert (
            "no ranked document is judged in any of the 80 queries with a relevant judgment" in text
        )
        assert "ranked: DOC OF QUERY 0, DOC OF QUERY 1, DOC OF QUERY 2" in text
        assert 'rankcheck_doc_id = ["lower"]' in text
    assert not project.baseline_file().exists()
    assert not project.baseline_file("test_stable").exists()
    assert project.baseline_file("test_stable_without_judgments").exists()


def test_a_recorded_mean_of_0_does_not_pass_again(project: Project) -> None:
    project.test()
    project.rank(dict.fromkeys(range(80), None))
    project.update()
    assert project.record()["metrics"]["RR"]["mean"] == 0
    project.run().assert_outcomes(passed=1)
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    project.run().assert_outcomes(failed=1)


def test_a_fall_to_0_asks_nobody_to_judge_documents(project: Project) -> None:
    project.test()
    project.update()
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "judge them before you decide" not in text_of(result)


FEW_MEET = """
def search(text):
    return ["doc of query 0" if text == "query 0" else "DOC OF " + text.upper()]
"""


def test_ids_that_hardly_meet_are_noted_in_the_summary_and_in_reports(project: Project) -> None:
    project.test()
    project.golden(project.queries(120))
    project.update()
    project.write("engine.py", FEW_MEET)
    result = project.run("--rankcheck-json", "report.json", "--rankcheck-markdown", "report.md")
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "warning: ranked documents are not those that the golden set judges:" in text
    assert "only 1 ranks a judged document, of the 120 queries with a relevant judgment" in text
    assert "judge them before you decide" not in text
    markdown = (project.path / "report.md").read_text("utf-8")
    assert "only 1 ranks a judged document" in markdown
    notes = json.loads((project.path / "report.json").read_text("utf-8"))["notes"]
    assert any(note["topic"] == "unmet-ids" for note in notes)


def test_a_gate_that_passes_is_qualified_in_the_report(project: Project) -> None:
    project.test(ASSERTIONS.partition("def test_named")[0])
    project.golden(project.queries(120))
    project.write("engine.py", FEW_MEET)
    project.run("--rankcheck-markdown", "report.md").assert_outcomes(passed=1)
    assert "1 with ids that hardly meet" in (project.path / "report.md").read_text("utf-8")


def test_a_measurement_without_an_assertion_is_noted_once(project: Project) -> None:
    project.test("def test_nothing(evaluation):\n    assert evaluation.mean('RR') == 0\n")
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    result = project.run()
    result.assert_outcomes(passed=1)
    assert text_of(result).count("no ranked document is judged in any of the 80 queries") == 1


# --- rankcheck_doc_id ----------------------------------------------------------------------------


def configure(project: Project, *lines: str) -> None:
    """Write the configuration with more lines."""
    project.write("pyproject.toml", CONFIGURATION + "\n".join(lines) + "\n")


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
@pytest.mark.parametrize("rule", ['["lower"]', '"lower"', '["ids:spelled"]', '["strip", "lower"]'])
def test_the_rule_maps_golden_sets_and_runs(
    project: Project, rule: str, workers: tuple[str, ...]
) -> None:
    project.test()
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    project.write("ids.py", "def spelled(doc_id):\n    return doc_id.lower()\n")
    configure(project, f"rankcheck_doc_id = {rule}")
    project.run("--snapshot-update", *workers).assert_outcomes(passed=1)
    assert project.record()["metrics"]["RR"]["mean"] == 1
    project.run(*workers).assert_outcomes(passed=1)


def test_the_rule_maps_saved_runs_and_those_of_commands(project: Project) -> None:
    project.test()
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    configure(project, 'rankcheck_doc_id = "lower"')
    project.update("--rankcheck-save-run", "runs", "--rankcheck-save-run-format", "jsonl")
    project.run("--rankcheck-run", "runs").assert_outcomes(passed=1)
    run = project.write("new.csv", "query_id,doc_id,score\nq000,DOC OF QUERY 0,1\n")
    project.run("--rankcheck-run", str(run)).stdout.fnmatch_lines(
        ["*79 queries worse, 0 better, 1 equal"]
    )
    shown = project.pytester.run(
        *(sys.executable, "-m", "pytest_rankcheck", "show", "new.csv", "--golden"),
        *("golden/web.jsonl", "--metric", "RR"),
    )
    shown.stdout.fnmatch_lines(["*RR*0.0125*"])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("lowr", "rankcheck_doc_id: doc_id=lowr is invalid; did you mean 'lower'?*"),
        ("before:", "rankcheck_doc_id: doc_id=before: is invalid; write it like before:#"),
        ("nowhere:f", "rankcheck_doc_id: function module 'nowhere' cannot be imported*"),
        (
            "ids:spelt",
            "rankcheck_doc_id: function 'ids:spelt': there is no 'spelt' in ids*spelled*",
        ),
        ("ids:NUMBER", "rankcheck_doc_id: 'ids:NUMBER' is int, not a function"),
        ("ids:", "rankcheck_doc_id: function 'ids:' is invalid; write package.module:name"),
    ],
)
def test_an_invalid_rule_stops_the_session(project: Project, rule: str, message: str) -> None:
    project.test()
    project.write("ids.py", "NUMBER = 7\ndef spelled(doc_id):\n    return doc_id.lower()\n")
    configure(project, f'rankcheck_doc_id = "{rule}"')
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}"])


def test_a_rule_that_maps_a_mapped_id_again_is_refused(project: Project) -> None:
    project.test()
    project.write("ids.py", "def parent(doc_id):\n    return doc_id.rpartition(' ')[0] or doc_id\n")
    configure(project, 'rankcheck_doc_id = "ids:parent"')
    result = project.run()
    result.assert_outcomes(errors=1)
    assert (
        "rankcheck_doc_id=parent maps document 'doc of query 0' to 'doc of query', and that to "
        "'doc of'; it maps golden sets, runs and saved runs"
    ) in text_of(result)
