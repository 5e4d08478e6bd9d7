"""``resolve``: merge conflicts in baselines, in real git repositories."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rankcheck import BaselineError, GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.data_file import leftover_data, named_data
from pytest_rankcheck.baselines.record_writer import write_record
from pytest_rankcheck.command_line.main import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILE = Path("tests/baselines/test_web/test_mrr--web.json")
DRIVER = """
import sys
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.command_line.main import main

data_file.COMPACT_FROM = {compact_from}
sys.exit(main(["resolve", "--driver", *sys.argv[1:]]))
"""


@pytest.fixture(params=[1000, 10], ids=["one file", "two files"], autouse=True)
def compact_from(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """From how many queries on a record is two files; these have 40."""
    number: int = request.param
    monkeypatch.setattr(data_file, "COMPACT_FROM", number)
    return number


class Repository:
    """A git repository whose only baseline is changed on two branches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")

    def git(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def record(
        self,
        wrong: int,
        *,
        best: float = 1.0,
        reasons: tuple[str, ...] = (),
        queries: int = 40,
        depth: int | None = None,
    ) -> Record:
        """Write the record of a ranker that has some queries wrong; their RR is 0.5."""
        names = [f"q{index:02}" for index in range(queries)]
        golden = GoldenSet.from_dict({name: {"good": 2} for name in names}, name="web")
        answers = {
            name: ["bad", "good"] if index < wrong else ["good"] for index, name in enumerate(names)
        }
        run = Run.from_dict(answers)
        record = Record.of(
            evaluate(run if depth is None else run.top(depth), golden),
            [Metric.parse("RR")],
            approvals=tuple(
                Approval(
                    reason, "2024-05-01T12:00:00Z", None, "Ada", {"RR": {"from": 1.0, "to": 0.9}}
                )
                for reason in reasons
            ),
            test="test_mrr",
        )
        kept = {name: replace(metric, best=best) for name, metric in record.kept.items()}
        return self.write(replace(record, kept=kept))

    def write(self, record: Record) -> Record:
        file = self.folder / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        write_record(file, record)
        return record

    def commit_as_told(self, out: str) -> None:
        """Commit with the command that was printed, which must leave nothing behind."""
        (command,) = re.findall(r"next: (git add .*?)(?:, then .*)?\n", out)
        subprocess.run(command, cwd=self.folder, shell=True, check=True)
        self.git("-c", "core.editor=true", "commit", "-q", "-m", "merged")
        assert self.git("status", "--porcelain") == ""
        data = named_data(FILE)
        folder = [FILE.name, *([] if data is None else [data.name])]
        assert sorted(path.name for path in FILE.parent.iterdir()) == sorted(folder)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


@pytest.fixture
def repository(folder: Path, tmp_path: Path) -> Repository:
    """A repository on branch ``feature``, whose record and main's were both approved to fall."""
    repository = Repository(folder)
    repository.record(2, best=0.98, reasons=("old",))
    repository.commit("base")
    repository.git("checkout", "-q", "-b", "feature")
    repository.record(10, best=0.995, reasons=("old", "on the feature"))
    repository.commit("feature")
    repository.git("checkout", "-q", "main")
    repository.record(6, best=0.98, reasons=("old", "on main"))
    repository.commit("main")
    repository.git("checkout", "-q", "feature")
    return repository


def check_merged(mean: float, *reasons: str) -> None:
    """Check that the file is a record with this mean, all approvals and the higher best."""
    record = Record.load(FILE)
    assert record.mean(Metric.parse("RR")) == pytest.approx(mean)
    assert [approval.reason for approval in record.approvals] == list(reasons)
    assert record.kept["RR"].best == 0.995
    assert record.is_merged
    assert json.loads(FILE.read_text("utf-8"))["merged"] is True


MAIN_IS_TARGET = (1 - 6 / 80, "old", "on main", "on the feature")
FEATURE_IS_TARGET = (1 - 10 / 80, "old", "on the feature", "on main")


def test_main_is_the_target_when_it_is_merged_into_a_branch(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("merge", "main", code=1)
    with pytest.raises(BaselineError, match="unresolved merge conflict"):
        Record.load(FILE)
    assert main(["resolve", str(FILE)]) == 0
    out = capsys.readouterr().out
    assert f"{FILE}: merged; it has the record of the target branch (theirs) until the next" in out
    assert 'approval of the other branch kept: "on the feature"' in out
    assert "best mean taken from the other branch: RR" in out
    check_merged(*MAIN_IS_TARGET)
    repository.commit_as_told(out)


@pytest.mark.parametrize("checked_out", ["main", "feature"])
@pytest.mark.parametrize("how", [(), ("--squash",)], ids=["merge", "squash"])
def test_main_is_the_target_whichever_branch_is_checked_out(
    repository: Repository, checked_out: str, how: tuple[str, ...]
) -> None:
    repository.git("checkout", "-q", checked_out)
    repository.git("merge", *how, "feature" if checked_out == "main" else "main", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_main_is_the_target_when_ci_merges_into_its_commit(repository: Repository) -> None:
    repository.git("checkout", "-q", "--detach", "main")
    repository.git("merge", "feature", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_main_is_the_target_of_a_rebase(repository: Repository, backend: str) -> None:
    repository.git("rebase", backend, "main", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_the_branch_that_is_checked_out_is_the_target_of_a_cherry_pick(
    repository: Repository,
) -> None:
    repository.git("cherry-pick", "main", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*FEATURE_IS_TARGET)


def test_the_upstream_is_the_target_of_a_pull(repository: Repository) -> None:
    repository.git("branch", "shared", "main")
    repository.git("branch", "-q", "-D", "main")
    repository.git("branch", "-q", "--set-upstream-to", "shared")
    repository.git("merge", "shared", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_the_default_branch_of_the_remote_is_the_target(repository: Repository) -> None:
    repository.git("branch", "-q", "-m", "main", "develop")
    repository.git("update-ref", "refs/remotes/origin/develop", "develop")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
    repository.git("merge", "develop", code=1)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_both_branches_may_have_added_the_baseline(repository: Repository) -> None:
    new = FILE.with_name("test_new--web.json")
    for branch, wrong, best in (("main", 6, 0.98), ("feature", 10, 0.995)):
        repository.git("checkout", "-q", "-f", branch)
        repository.record(wrong, best=best, reasons=(branch,))
        FILE.rename(new)
        repository.git("add", str(new))
        repository.git("commit", "-q", "-m", "added", str(new))
        repository.git("checkout", "-q", "-f", branch)
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(new)]) == 0
    record = Record.load(new)
    assert [approval.reason for approval in record.approvals] == ["main", "feature"]
    assert record.kept["RR"].best == 0.995


def test_the_folder_may_have_been_renamed_on_one_branch(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    new = Path("tests/baselines/test_shop") / FILE.name
    FILE.parent.rename(new.parent)
    repository.commit("renamed")
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(new)]) == 0, capsys.readouterr().err
    record = Record.load(new)
    assert [approval.reason for approval in record.approvals] == list(MAIN_IS_TARGET[1:])


def test_an_unknown_target_has_to_be_named(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("branch", "-q", "-m", "main", "another")
    repository.git("merge", "another", code=1)
    conflict = FILE.read_bytes()
    assert main(["resolve", str(FILE)]) == 2
    assert "which side is the target branch is unknown. Say it with --target ours" in (
        capsys.readouterr().err
    )
    assert FILE.read_bytes() == conflict
    assert main(["resolve", str(FILE), "--target", "ours"]) == 0
    check_merged(*FEATURE_IS_TARGET)
    assert main(["resolve", str(FILE), "--target", "theirs"]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_sides_are_read_from_conflict_markers_without_a_merge_in_progress(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = (repository.git("show", f"{name}:{FILE}") for name in ("feature", "main"))
    FILE.write_text(
        f"<<<<<<< HEAD\n{ours}||||||| base\nx\n=======\n{theirs}>>>>>>> main\n", "utf-8"
    )
    repository.commit("committed with conflict markers")
    assert main(["resolve", str(FILE)]) == 2
    assert "--target" in capsys.readouterr().err
    assert main(["resolve", str(FILE), "--target", "theirs"]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_markers_around_a_part_of_a_record_do_not_make_a_record(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """What git has merged outside the markers is of both sides: neither can be restored."""
    repository.git("checkout", "-q", "main")
    text = FILE.read_text("utf-8")
    digest = json.loads(text)["digest"]
    line = next(line for line in text.splitlines() if digest in line)
    torn = line.replace(digest, "0" * 16)
    FILE.write_text(
        text.replace(line, f"<<<<<<< HEAD\n{torn}\n=======\n{line}\n>>>>>>> main"), "utf-8"
    )
    repository.commit("torn")
    assert main(["resolve", str(FILE), "--target", "ours"]) == 2
    assert f"{FILE} (ours): this baseline was edited by hand, or put together by a merge" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [({"queries": 41}, "golden set"), ({"depth": 5}, "depth")],
)
def test_a_best_mean_that_was_measured_differently_is_left_out(
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
    changed: Mapping[str, int],
    says: str,
) -> None:
    repository.record(10, best=0.995, reasons=("old", "on the feature"), **changed)  # type: ignore[arg-type]
    repository.commit("measured differently")
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(FILE)]) == 0
    record = Record.load(FILE)
    assert record.kept["RR"].best == 0.98
    assert [approval.reason for approval in record.approvals] == list(MAIN_IS_TARGET[1:])
    assert f"the other branch measured differently ({says})" in capsys.readouterr().out


def test_a_metric_that_only_the_other_branch_gates_is_named(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    record = Record.load(FILE)
    lines = {
        name: replace(line, values={**line.values, "P@1": 1.0})
        for name, line in record.queries.items()
    }
    kept = {**record.kept, "P@1": record.kept["RR"]}
    repository.write(replace(record, kept=kept, queries=lines))
    repository.commit("another metric")
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(FILE)]) == 0
    assert "left out: the gate on P@1 of the other branch" in capsys.readouterr().out


def test_records_of_different_tests_are_not_merged(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(replace(Record.load(FILE), test="test_other"))
    repository.commit("another test")
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(FILE)]) == 2
    assert "records of different tests, 'test_mrr' and 'test_other'" in capsys.readouterr().err


def test_a_file_without_a_conflict_is_an_error(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    before = FILE.read_bytes()
    for arguments, says in (
        (["resolve"], "no file; name a baseline"),
        (["resolve", "nothere.json"], "nothere.json is missing"),
        (["resolve", str(FILE)], "has no merge conflict; nothing was changed"),
    ):
        assert main(arguments) == 2
        assert says in capsys.readouterr().err
    assert FILE.read_bytes() == before


def test_a_baseline_that_one_branch_deleted_is_an_error(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("rm", "-q", str(FILE))
    repository.git("commit", "-q", "-m", "deleted")
    repository.git("merge", "main", code=1)
    assert main(["resolve", str(FILE)]) == 2
    assert "one branch has deleted this baseline (ours)" in capsys.readouterr().err


@pytest.fixture
def driven(repository: Repository, tmp_path: Path, compact_from: int) -> Repository:
    """A repository whose baselines are merged by the driver."""
    driver = tmp_path.with_name(f"{tmp_path.name}-driver.py")
    driver.write_text(DRIVER.format(compact_from=compact_from), "utf-8")
    command = f"'{sys.executable}' '{driver}' %O %A %B %P"
    repository.git("config", "merge.rankcheck.driver", command)
    repository.folder.joinpath(".git/info/attributes").write_text(
        "baselines/**/*.json merge=rankcheck\n**/baselines/**/*.json merge=rankcheck\n", "utf-8"
    )
    return repository


@pytest.mark.parametrize(("checked_out", "merged"), [("feature", "main"), ("main", "feature")])
def test_the_driver_merges_both_ways(
    driven: Repository, checked_out: str, merged: str, compact_from: int
) -> None:
    driven.git("checkout", "-q", checked_out)
    printed = driven.git("merge", "--no-edit", "-X", "find-renames=100%", merged)
    assert "approval of the other branch kept" in printed
    check_merged(*MAIN_IS_TARGET)
    assert driven.git("status", "--short", "--untracked-files=no") == ""
    # The lines of the other branch are not used: the next update removes them.
    assert len(leftover_data(FILE)) == (compact_from == 10)


@pytest.mark.parametrize(("checked_out", "merged"), [("feature", "main"), ("main", "feature")])
@pytest.mark.parametrize("compact_from", [10], indirect=True)
def test_lines_that_git_has_mixed_are_restored_after_the_driver(
    driven: Repository, checked_out: str, merged: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Git takes the data files of two branches for one that both have renamed, and merges them."""
    driven.git("checkout", "-q", checked_out)
    printed = driven.git("merge", "--no-edit", merged, code=1)
    assert f"then run python -m pytest_rankcheck resolve {FILE}" in printed
    with pytest.raises(BaselineError, match=f"put it together .*pytest_rankcheck resolve {FILE}"):
        Record.load(FILE)
    assert main(["resolve", str(FILE)]) == 0
    check_merged(*MAIN_IS_TARGET)
    driven.commit_as_told(capsys.readouterr().out)
    assert main(["resolve", str(FILE)]) == 2, "nothing is left to resolve"
    assert "has no merge conflict" in capsys.readouterr().err


def test_the_driver_works_in_a_rebase_and_a_cherry_pick(driven: Repository) -> None:
    driven.git("branch", "copy")
    driven.git("rebase", "-X", "find-renames=100%", "main")
    check_merged(*MAIN_IS_TARGET)
    driven.git("checkout", "-q", "copy")
    driven.git("cherry-pick", "-X", "find-renames=100%", "main")
    check_merged(*FEATURE_IS_TARGET)


def test_the_driver_leaves_conflict_markers_where_the_target_is_unknown(
    driven: Repository,
) -> None:
    driven.git("branch", "-q", "-m", "main", "another")
    printed = driven.git("merge", "another", code=1)
    assert "which side is the target branch is unknown" in printed
    assert "<<<<<<< ours" in FILE.read_text("utf-8")
    assert main(["resolve", str(FILE), "--target", "theirs"]) == 0
    check_merged(*MAIN_IS_TARGET)


def test_the_driver_leaves_other_files_to_git(driven: Repository) -> None:
    other = driven.folder / "tests/baselines/other.json"
    for branch, line in (("main", "1"), ("feature", "2")):
        driven.git("checkout", "-q", branch)
        other.write_text(f"[\n{line}\n]\n", "utf-8")
        driven.commit(branch)
    printed = driven.git("merge", "-X", "find-renames=100%", "main", code=1)
    assert "other.json: " in printed
    assert other.read_text("utf-8") == "[\n<<<<<<< ours\n2\n=======\n1\n>>>>>>> theirs\n]\n"
    check_merged(*MAIN_IS_TARGET)
