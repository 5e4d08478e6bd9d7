"""The six facts about syrupy that shape the store (DESIGN section 5), each tested on syrupy."""

from pathlib import Path

import pytest
from project import Project, text_of

from pytest_rankcheck.baselines.syrupy_store import BaselineExtension

TWO_TESTS = """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline)

def test_other(evaluation, baseline):
    {before}
    assert_mrr_not_regressed(evaluation, baseline)
"""


def test_1_an_update_never_deletes_a_baseline(project: Project) -> None:
    both = TWO_TESTS.format(before="")
    project.test(both)
    project.update()
    kept = {path: path.read_bytes() for path in project.path.rglob("baselines/**/*.json")}
    assert len(kept) == 2
    for test, arguments in (
        (TWO_TESTS.format(before="raise RuntimeError('before the assertion')"), ()),
        (both, ("-k", "test_mrr")),
        (both, ("-k", "nothing_at_all")),
        (both, ("tests/test_ranking.py::test_mrr",)),
        (f"def test_first():\n    assert False\n{both}", ("-x",)),
        (both.partition("def test_other")[0], ()),
    ):
        project.test(test)
        result = project.run("--snapshot-update", *arguments)
        assert "unused" not in text_of(result)
        found = {path: path.read_bytes() for path in project.path.rglob("baselines/**/*.json")}
        assert found == kept, arguments


def test_2_baselines_are_beside_the_test_module_not_in_snapshots(project: Project) -> None:
    project.test(path="tests/deep/test_ranking.py")
    project.run("--snapshot-update").assert_outcomes(passed=1)
    found = [str(path.relative_to(project.path)) for path in project.path.rglob("*.json")]
    assert "tests/deep/baselines/test_ranking/test_mrr--web.json" in found
    assert not list(project.path.rglob("__snapshots__"))


def test_4_the_file_is_replaced_as_a_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test()
    before = project.update()
    seen = []
    replace = Path.replace

    def spy(self: Path, target: Path) -> Path:
        if str(target).endswith("test_mrr--web.json"):
            seen.append((self.parent == Path(target).parent, Path(target).read_bytes() == before))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", spy)
    project.rank({0: 4})
    project.run("--snapshot-update", "--rankcheck-approve", "why").assert_outcomes(passed=1)
    assert seen == [(True, True)]
    assert [path.name for path in project.baseline_file().parent.iterdir()] == [
        "test_mrr--web.json"
    ]


def test_4_hooks_take_arguments_that_later_versions_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from syrupy.data import Snapshot, SnapshotCollection

    collection = SnapshotCollection(location=str(tmp_path / "record.json"))
    collection.add(Snapshot(name="record", data="text\n"))
    monkeypatch.setattr(BaselineExtension, "awaited", {collection.location})
    BaselineExtension.write_snapshot_collection(
        snapshot_collection=collection, name_order={"record": 0}, of_a_later_version=True
    )
    assert (tmp_path / "record.json").read_text("utf-8") == "text\n"
    assert not list(BaselineExtension().discover_snapshots(test_location=None, later=True))


@pytest.mark.parametrize("arguments", [("--assert=plain",), ("--tb=short",), ()])
def test_5_the_failure_text_is_our_own(project: Project, arguments: tuple[str, ...]) -> None:
    project.test()
    project.update()
    project.rank({0: 4, 1: 4})
    result = project.run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*AssertionError: RR regressed on golden set 'web'*", '*q000 "query 0"   1.000 -> 0.250']
    )


def test_3_and_6_syrupy_counts_baselines_and_a_veto(project: Project) -> None:
    project.test()
    project.run("--snapshot-update").stdout.fnmatch_lines(["*1 snapshot generated*"])
    project.run().stdout.fnmatch_lines(["*1 snapshot passed*"])
    project.rank({0: 4, 1: 4})
    project.run().stdout.fnmatch_lines(["*1 snapshot failed*"])
    before = project.baseline_file().read_bytes()
    project.run("--snapshot-update").stdout.fnmatch_lines(["*1 snapshot failed*"])
    assert project.baseline_file().read_bytes() == before, "3: an exception in matches is a veto"
    project.run("--snapshot-update", "--rankcheck-approve", "why").stdout.fnmatch_lines(
        ["*1 snapshot updated*"]
    )


def test_baselines_and_other_snapshots_of_one_project_live_side_by_side(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline, snapshot):
    assert_mrr_not_regressed(evaluation, baseline)
    assert {"some": "thing"} == snapshot
"""
    )
    project.run("--snapshot-update").assert_outcomes(passed=1)
    assert (project.path / "tests/__snapshots__/test_ranking.ambr").exists()
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*2 snapshots passed*"])


def test_without_syrupys_plugin_the_fixture_says_so(project: Project) -> None:
    project.test()
    result = project.run("-p", "no:syrupy")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*needs syrupy's plugin*remove -p no:syrupy*"])
