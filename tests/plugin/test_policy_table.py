"""Every row of the table of what a plain run and an update do (DESIGN section 5)."""

from __future__ import annotations

import json

from project import Project, text_of

LOWER = {0: 2}
"""One query of 80 falls to rank 2: the mean reciprocal rank by 0.00625, inside 0.01."""
REGRESSED = {0: 2, 1: 2}
"""Two do: by 0.0125, outside."""
WORSE_START = {5: 4}
"""A baseline that can still be raised: one query is at rank 4."""


def test_no_record_fails_and_says_how_to_create_it(project: Project) -> None:
    project.test()
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RR has no baseline on golden set 'web'; it is 1.0000 now",
            "*expected: *tests/baselines/test_ranking/test_mrr--web.json",
            "*to create it: pytest tests/test_ranking.py::test_mrr --snapshot-update*",
        ]
    )
    assert not project.baseline_file().exists()


def test_no_record_is_written_by_an_update(project: Project) -> None:
    project.test()
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    record = project.record()
    assert record["metrics"] == {
        "RR": {
            "mean": 1.0,
            "gated": True,
            "best": 1.0,
            "noise": None,
            "counted": 80,
            "gate": "tolerance(abs=0.01, rel=0)",
        }
    }
    assert record["golden_set"]["queries"] == 80
    assert len(record["queries"]) == 80
    result.stdout.fnmatch_lines(["*baselines written; commit them:", "*test_mrr: created*"])
    project.run().assert_outcomes(passed=1)


def test_an_update_of_unchanged_results_gives_the_same_bytes(project: Project) -> None:
    project.test()
    before = project.update()
    assert project.update() == before


def test_better_passes_and_names_the_baseline_that_can_be_raised(project: Project) -> None:
    project.test()
    project.rank(WORSE_START)
    before = project.update()
    project.rank({})
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*baselines that can be raised with pytest --snapshot-update:",
            "*tests/test_ranking.py::test_mrr: RR 0.9906 -> 1.0000",
        ]
    )
    assert project.baseline_file().read_bytes() == before


def test_better_is_written_by_an_update(project: Project) -> None:
    project.test()
    project.rank(WORSE_START)
    project.update()
    project.rank({})
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_mrr: raised: RR 0.9906 -> 1.0000"])
    assert project.record()["metrics"]["RR"]["mean"] == 1.0
    assert project.record()["approvals"] == []


def test_lower_inside_the_tolerance_passes_and_an_update_keeps_the_record(
    project: Project,
) -> None:
    project.test()
    before = project.update()
    project.rank(LOWER)
    project.run().assert_outcomes(passed=1)
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*baselines kept, because something is lower*", "*test_mrr: RR 1.0000 -> 0.9938*"]
    )
    assert project.baseline_file().read_bytes() == before


def test_small_losses_do_not_add_up(project: Project) -> None:
    project.test()
    project.update()
    project.rank({0: 2})
    project.run("--snapshot-update").assert_outcomes(passed=1)
    project.rank({0: 2, 1: 2})
    project.run("--snapshot-update").assert_outcomes(failed=1)


def test_regressed_fails_and_shows_queries_and_documents(project: Project) -> None:
    project.test()
    before = project.update()
    project.rank(REGRESSED)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RR regressed on golden set 'web' (80 queries): 1.0000 -> 0.9875, -0.0125; allowed *",
            "*2 queries worse, 0 better, 78 equal",
            "*worst queries",
            '*q000 "query 0"   1.000 -> 0.500',
            "*doc of query 0 (grade 2)  1 -> 2      filler-0 (grade 0)  2 -> 1",
            "*to approve: pytest tests/test_ranking.py::test_mrr --snapshot-update --rankcheck*",
        ]
    )
    assert project.baseline_file().read_bytes() == before


def test_regressed_is_refused_by_an_update(project: Project) -> None:
    project.test()
    before = project.update()
    project.rank(REGRESSED)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*update refused: RR regressed*", "*1 snapshot failed*"])
    assert project.baseline_file().read_bytes() == before


def test_an_approval_writes_a_fall_with_its_reason(project: Project) -> None:
    project.test()
    project.update()
    for ranks, reason in ((REGRESSED, "new tokenizer"), ({0: 3, 1: 2}, "and a smaller index")):
        project.rank(ranks)
        result = project.run("--snapshot-update", "--rankcheck-approve", reason)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f'*test_mrr: approved "{reason}": RR*'])
    first, second = project.record()["approvals"]
    assert (first["reason"], second["reason"]) == ("new tokenizer", "and a smaller index")
    assert first["fall"] == {"RR": {"from": 1.0, "to": 0.9875}}
    assert second["fall"] == {"RR": {"from": 0.9875, "to": 0.985417}}
    assert set(first) == {"reason", "date", "commit", "author", "fall"}
    project.run().assert_outcomes(passed=1)


def test_an_approval_names_commit_and_author(project: Project) -> None:
    project.test()
    project.update()
    run = project.pytester.run
    run("git", "init", "-q")
    run("git", "config", "user.name", "Ada")
    run("git", "config", "user.email", "ada@example.org")
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "start")
    commit = run("git", "rev-parse", "HEAD").outlines[0]
    project.rank(REGRESSED)
    project.run("--snapshot-update", "--rankcheck-approve", "why").assert_outcomes(passed=1)
    approval = project.record()["approvals"][0]
    assert (approval["commit"], approval["author"]) == (commit, "Ada <ada@example.org>")


def test_an_approval_also_writes_falls_inside_the_tolerance(project: Project) -> None:
    project.test()
    project.update()
    project.rank(LOWER)
    project.run("--snapshot-update", "--rankcheck-approve", "fine").assert_outcomes(passed=1)
    assert project.record()["metrics"]["RR"]["mean"] == 0.99375
    assert project.record()["approvals"][0]["reason"] == "fine"


def test_an_approval_without_an_update_fails_and_writes_nothing(project: Project) -> None:
    project.test()
    before = project.update()
    for ranks in (LOWER, REGRESSED):
        project.rank(ranks)
        project.run("--rankcheck-approve", "why").assert_outcomes(failed=1)
    project.rank(LOWER)
    result = project.run("--rankcheck-approve", "why")
    result.stdout.fnmatch_lines(
        [
            "*nothing was approved: RR is lower*",
            "*--rankcheck-approve takes effect only together with --snapshot-update",
        ]
    )
    assert project.baseline_file().read_bytes() == before


def test_nothing_is_approved_if_nothing_fell(project: Project) -> None:
    project.test()
    project.rank(WORSE_START)
    project.update()
    project.rank({})
    project.run("--snapshot-update", "--rankcheck-approve", "why").assert_outcomes(passed=1)
    assert project.record()["approvals"] == []


TWO_METRICS = """
from pytest_rankcheck import assert_mrr_not_regressed, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
    assert_not_regressed(evaluation, baseline, "P@5", abs=0.1)
"""


def test_an_added_metric_fails_until_it_is_recorded(project: Project) -> None:
    project.test()
    project.update()
    project.test(TWO_METRICS)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*P@5 is not in the baseline, which has RR; it is 0.2000 now"])
    project.run("--snapshot-update").assert_outcomes(passed=1)
    assert sorted(project.record()["metrics"]) == ["P@5", "RR"]


def test_a_metric_is_not_added_while_another_one_is_lower(
    project: Project,
) -> None:
    project.test()
    before = project.update()
    project.test(TWO_METRICS)
    project.rank(LOWER)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*P@5 cannot be added while RR is below its baseline*"])
    result.stdout.fnmatch_lines(
        ["*RR *FAILED: passed, lower;*", "*update refused", "*P@5 *FAILED: new; update*"]
    )
    assert project.baseline_file().read_bytes() == before


def test_trading_one_metric_for_another_keeps_the_record(project: Project) -> None:
    project.test(TWO_METRICS)
    project.rank({0: 6})
    before = project.update()
    project.rank({1: 3, 2: 3})  # P@5 rises, as 0 is in the top 5 again; RR falls a little
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*baselines kept*"])
    assert project.baseline_file().read_bytes() == before


def test_a_changed_golden_set_is_stale_and_the_unchanged_queries_are_compared(
    project: Project,
) -> None:
    project.test()
    project.update()
    lines = project.queries()
    lines[3]["relevance"] = {"doc of query 3": 1}
    lines[4]["query_id"] = "renamed"
    project.golden(lines)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RR: golden set 'web' changed, so its baseline is stale",
            "*1 query changed since the baseline: q003",
            "*1 query added since the baseline: renamed",
            "*1 query removed since the baseline: q004",
            "*on the 78 unchanged queries: 1.0000 -> 1.0000*",
            "*to record the new golden set: pytest*--snapshot-update*",
        ]
    )
    project.run("--snapshot-update").assert_outcomes(passed=1)
    project.run().assert_outcomes(passed=1)


def test_a_fall_on_the_unchanged_queries_blocks_the_update_of_a_changed_golden_set(
    project: Project,
) -> None:
    project.test()
    before = project.update()
    project.golden(project.queries()[:79])
    project.rank(REGRESSED)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*update refused: RR*", "*1 query removed*"])
    assert project.baseline_file().read_bytes() == before
    project.run("--snapshot-update", "--rankcheck-approve", "why").assert_outcomes(passed=1)
    assert project.record()["golden_set"]["queries"] == 79


def test_a_changed_golden_set_is_recorded_though_the_unchanged_queries_are_a_little_lower(
    project: Project,
) -> None:
    project.test()
    project.update()
    approved = project.record()["queries"]
    project.golden(project.queries(81)[1:])
    project.rank(LOWER)
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    assert "test_mrr: extended: RR 1.0000 -> 1.0000" in text_of(result)
    record = project.record()
    assert record["queries"][:-1] == approved[1:], "the approved lines stay"
    assert record["since_approval"]["removed"] == record["since_approval"]["added"] == 1


def test_a_baseline_of_another_golden_set_is_not_compared(project: Project) -> None:
    project.test()
    before = project.update()
    project.golden([{**line, "query_id": f"new-{line['query_id']}"} for line in project.queries()])
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            ["*cannot be compared with its baseline", "*golden set: 'web'*without an unchanged*"]
        )
        assert project.baseline_file().read_bytes() == before
    project.run("--snapshot-update", "--rankcheck-approve", "why").assert_outcomes(passed=1)
    assert "golden set" in project.record()["approvals"][0]["change"]


def test_another_depth_or_convention_is_not_comparable_and_both_are_named(
    project: Project,
) -> None:
    project.test()
    before = project.update()
    configuration = project.path / "pyproject.toml"
    lines = 'rankcheck_depth = 50\nrankcheck_conventions = ["no_relevant=exclude"]\n'
    project.write("pyproject.toml", configuration.read_text("utf-8") + lines)
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "*no_relevant: 'zero' in the baseline, 'exclude' now",
                "*depth: 100 in the baseline, 50 now",
            ]
        )
        assert project.baseline_file().read_bytes() == before
    project.run("--snapshot-update", "--rankcheck-approve", "shallow").assert_outcomes(passed=1)
    assert project.record()["depth"] == 50
    assert "depth: 100" in project.record()["approvals"][0]["change"]


NDCG = """
from pytest_rankcheck import assert_ndcg_not_regressed

def test_mrr(evaluation, baseline):
    assert_ndcg_not_regressed(evaluation, baseline, k=10, gain={gain!r})
"""


def test_another_gain_is_written_only_with_an_approval(project: Project) -> None:
    project.test(NDCG.format(gain="linear"))
    before = project.update()
    project.test(NDCG.format(gain="exponential"))
    binary = ("-W", "ignore::pytest_rankcheck.MetricWarning")
    project.run(*binary).assert_outcomes(failed=1)
    result = project.run(*binary, "--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*metric: nDCG@10 in the baseline, nDCG(gain=exponential)@10 now*"]
    )
    assert project.baseline_file().read_bytes() == before
    approved = ("--snapshot-update", "--rankcheck-approve", "web gains")
    project.run(*binary, *approved).assert_outcomes(passed=1)
    metrics = project.record()["metrics"]
    assert [(name, kept["gated"]) for name, kept in metrics.items()] == [
        ("nDCG(gain=exponential)@10", True),
        ("nDCG@10", False),
    ]


def test_a_slice_that_falls_inside_the_tolerance_keeps_the_record(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.05, by="locale")
"""
    )
    project.rank({0: 4})
    before = project.update()
    project.rank({50: 2})  # better over all queries and in English, lower in German
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*baselines kept*"])
    assert project.baseline_file().read_bytes() == before


def test_the_record_is_json_with_one_line_per_query(project: Project) -> None:
    project.test()
    text = project.update().decode()
    lines = text.splitlines()
    queries = [line for line in lines if line.startswith('    {"id"')]
    assert len(queries) == 80
    first = json.loads(queries[0].rstrip(","))
    assert first["values"] == {"RR": 1.0}
    assert first["top"] == ["doc of query 0", *(f"filler-{index}" for index in range(9))]
    assert text_of(project.run("--snapshot-update")).count("created") == 0
