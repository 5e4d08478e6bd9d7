"""A fall of a metric that looks below the documents that a record keeps names what left its top."""

import pytest
from project import ENGINE, Project

TEST = """
from pytest_rankcheck import assert_not_regressed

def test_deep(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "R@20", abs=0.01)
"""


@pytest.fixture
def deep(project: Project) -> Project:
    project.write("engine.py", ENGINE.replace("range(12)", "range(40)"))
    project.test(TEST)
    project.rank(dict.fromkeys(range(10), 15))
    assert project.run("--snapshot-update").ret == 0
    return project


def test_the_document_that_left_rank_20_is_named_with_both_ranks(deep: Project) -> None:
    record = deep.record("test_deep")
    assert record["queries"][3]["below"] == {"doc of query 3": 15}
    assert "below" not in record["queries"][30]
    # A harmless swap at the top of one query, and a fall below rank 20 of others.
    deep.rank({**dict.fromkeys(range(10), 15), 3: 27, 4: 33, 30: 2})
    out = deep.run().stdout.str()
    assert "doc of query 3 (grade 2)  15 -> 27" in out
    assert "doc of query 4 (grade 2)  15 -> 33" in out
    assert "2 relevant documents left the top 20" in out
    assert "doc of query 30" not in out


def test_what_was_below_stays_as_it_was_approved(deep: Project) -> None:
    before = deep.baseline_file("test_deep").read_bytes()
    deep.rank(dict.fromkeys(range(10), 18))
    assert deep.run("--snapshot-update").ret == 0
    assert deep.baseline_file("test_deep").read_bytes() == before
    assert deep.run("--rankcheck-approve", "no harm").ret == 0
    assert deep.record("test_deep")["queries"][3]["below"] == {"doc of query 3": 18}


def test_a_record_that_keeps_no_documents_keeps_no_ranks(deep: Project) -> None:
    deep.configure("rankcheck_kept_depth = 0")
    deep.baseline_file("test_deep").unlink()
    assert deep.run("--snapshot-update").ret == 0
    assert not any("below" in line for line in deep.record("test_deep")["queries"])
