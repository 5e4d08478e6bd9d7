"""A fixture may return an evaluation that a cluster made: gates, baselines and reports take it."""

from __future__ import annotations

import json

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project

CONFTEST = """
import pytest
from pytest_rankcheck import Evaluation, Run, evaluate_part, rank

@pytest.fixture(scope="session")
def evaluation(ranker, golden_set):
    run = rank(ranker, golden_set, depth=100)
    queries = list(run)
    parts = [
        evaluate_part(
            Run.from_dict({query: run[query] for query in queries[number::4]}, depth=100), golden_set
        )
        for number in range(4)
    ]
    return Evaluation.merge(parts, golden_set, expected=4, name="night")
"""
TEST = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR@10", abs=0.01, by="locale")
    assert_at_least(evaluation, "Success@10", 0.5)
"""


@pytest.fixture
def merged(project: Project) -> Project:
    """A project whose fixture merges four parts."""
    project.write("conftest.py", CONFTEST)
    project.test(TEST)
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_merged_evaluation_is_gated_like_any_other(
    merged: Project, workers: tuple[str, ...]
) -> None:
    record = merged.update()
    merged.run(*workers).assert_outcomes(passed=1)
    merged.rank(dict.fromkeys(range(40, 80), 5))
    failed = merged.run(*workers, "--rankcheck-html", "report.html")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*RR@10 regressed on golden set 'web' (80 queries)*"])
    failed.stdout.fnmatch_lines(["*doc of query *(grade 2)*1 -> 5*"])
    assert "night" in (merged.path / "report.html").read_text("utf-8")
    assert merged.baseline_file().read_bytes() == record


def test_the_summary_says_what_parts_cannot_show(merged: Project) -> None:
    merged.update()
    done = merged.run()
    done.stdout.fnmatch_lines(
        ["*tied scores were not looked for, because run 'night' was merged from parts*"]
    )


def test_a_run_in_one_piece_has_the_same_record(merged: Project) -> None:
    record = merged.update()
    (merged.path / "conftest.py").unlink()
    merged.run().assert_outcomes(passed=1)
    assert merged.update() == record


def test_a_folder_of_parts_is_a_configured_run(project: Project) -> None:
    """``--rankcheck-run`` takes what a cluster wrote: a folder of parts."""
    project.test("def test_it(evaluation):\n    assert evaluation.mean('RR') == 1\n")
    folder = project.path / "runs" / "2026-11-21"
    folder.mkdir(parents=True)
    for number in range(2):
        lines = [
            f"{entry['query_id']},{next(iter(entry['relevance']))},1\n"
            for entry in project.queries()[number::2]
        ]
        (folder / f"part-{number}.csv").write_text("".join(["query_id,doc_id,score\n", *lines]))
    (folder / "_SUCCESS").write_text("")
    project.run("--rankcheck-run", str(folder)).assert_outcomes(passed=1)
    folder.rename(folder.with_name("web"))
    project.run("--rankcheck-run", "runs").assert_outcomes(passed=1)


SESSIONS = """
from pathlib import Path

import pytest
from pytest_rankcheck import SessionEvaluation, SessionLog, evaluate_sessions

@pytest.fixture(scope="session")
def session_evaluation():
    logs = sorted(Path("night").glob("part-*.jsonl"))
    assert len(logs) == 3
    parts = [evaluate_sessions(SessionLog.load(log, first_rank=1)) for log in logs]
    return SessionEvaluation.merge(parts, expected=3, name="night")
"""


def write_logs(project: Project, ranks: list[int | None]) -> None:
    """Write a log in three parts, with one session for each rank that was chosen."""
    for part in range(3):
        lines = [
            {"session": f"s{place}", "event": 1, "query": "shoes", "selected_rank": rank}
            for place, rank in enumerate(ranks)
            if place % 3 == part
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        project.write(f"night/part-{part}.jsonl", text)


def test_merged_sessions_are_gated_like_others(project: Project) -> None:
    project.write("conftest.py", SESSIONS)
    project.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_sessions(session_evaluation, baseline):\n"
        "    assert_not_regressed(session_evaluation, baseline, 'SuccessRate', abs=0.01)\n"
    )
    write_logs(project, [1, 2, None, 1, 3] * 12)
    assert project.run("--snapshot-update").ret == 0
    record = project.record("test_sessions", golden="night")
    assert len(record["queries"]) == 60
    project.run().assert_outcomes(passed=1)
    write_logs(project, [1, 2, None, None, 3] * 12)  # 48 of 60 succeeded, and now 36 do
    failed = project.run()
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(
        ["*SuccessRate regressed on * 'night' (60 sessions): 0.8000 -> 0.6*"]
    )
