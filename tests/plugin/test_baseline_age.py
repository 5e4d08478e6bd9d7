"""The age of baselines: the commit that last changed their approved lines, in every summary."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from project import NEEDS_GIT, Project, git, text_of

from pytest_rankcheck.baselines.age_search import ages_of, uncommitted
from pytest_rankcheck.baselines.baseline_age import BaselineAge

pytestmark = NEEDS_GIT

WORSE: dict[int, int | None] = dict.fromkeys(range(20), 10)
APPROVED = "2024-05-01T12:00:00Z"
LATER = "2024-05-03T12:00:00Z"
NOW = datetime(2024, 5, 13, 13, tzinfo=UTC)


def commit(project: Project, date: str = LATER) -> str:
    """Commit everything and return the abbreviated hash."""
    git(project.path, "add", "-A", date=date)
    git(project.path, "commit", "-qm", "change", date=date)
    return git(project.path, "rev-parse", "--short", "HEAD").strip()


class Aged:
    """A project whose baseline is committed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.path = project.path
        project.rank({1: 2})
        project.test()
        project.write(".gitignore", "__pycache__/\n")
        git(project.path, "init", "-q", "-b", "main", "--template=")
        project.update()
        self.hash = commit(project, APPROVED)
        days = (datetime.now(UTC) - datetime.fromisoformat(APPROVED)).days
        self.age = f"{days:,} days old ({self.hash}, 2024-05-01)"

    def edit_header(self) -> None:
        """Retire the baseline, which changes nothing but the header."""
        file = self.project.baseline_file()
        text = file.read_text("utf-8")
        file.write_text(text.replace('"depth": 100', '"depth": 50'), "utf-8")


@pytest.fixture
def aged(project: Project) -> Aged:
    return Aged(project)


def one_age(project: Project, **options: Any) -> BaselineAge | None:
    file = project.baseline_file()
    return ages_of([file], project.path, now=NOW, **options).get(file)


def test_the_age_is_that_of_the_last_change_of_approved_lines(aged: Aged) -> None:
    assert one_age(aged.project) == BaselineAge(aged.hash, "2024-05-01", 12)
    aged.edit_header()
    commit(aged.project)
    assert one_age(aged.project) == BaselineAge(aged.hash, "2024-05-01", 12)
    file = aged.project.baseline_file()
    file.write_text(file.read_text("utf-8").replace('{"RR": 0.5}', '{"RR": 1.0}'), "utf-8")
    assert one_age(aged.project) == BaselineAge(aged.hash, "2024-05-01", 12), "not committed"
    assert uncommitted([file], aged.path) == {file}
    later = commit(aged.project)
    assert uncommitted([file], aged.path) == frozenset()
    assert one_age(aged.project) == BaselineAge(later, "2024-05-03", 10)
    assert one_age(aged.project, commit="HEAD~1") == BaselineAge(aged.hash, "2024-05-01", 12)


def test_the_last_change_may_be_on_a_merged_branch(aged: Aged) -> None:
    git(aged.path, "checkout", "-qb", "feature")
    file = aged.project.baseline_file()
    file.write_text(file.read_text("utf-8").replace('{"RR": 0.5}', '{"RR": 1.0}'), "utf-8")
    later = commit(aged.project)
    git(aged.path, "checkout", "-q", "main")
    aged.project.write("README", "other work")
    commit(aged.project)
    git(aged.path, "merge", "-q", "--no-ff", "feature", date="2024-05-09T00:00:00Z")
    assert one_age(aged.project) == BaselineAge(later, "2024-05-03", 10)


@pytest.mark.parametrize(
    "setting", ["log.showSignature=true", "color.ui=always", "diff.noprefix=true", "log.follow=1"]
)
def test_the_users_configuration_of_git_does_not_matter(aged: Aged, setting: str) -> None:
    git(aged.path, "config", *setting.split("="))
    assert one_age(aged.project) == BaselineAge(aged.hash, "2024-05-01", 12)


def test_a_shallow_clone_says_nothing_of_what_it_does_not_know(aged: Aged) -> None:
    file = aged.project.baseline_file()
    file.write_text(file.read_text("utf-8").replace('{"RR": 0.5}', '{"RR": 1.0}'), "utf-8")
    later = commit(aged.project)
    aged.edit_header()
    commit(aged.project)
    for depth, expected in ((1, None), (2, None), (3, BaselineAge(later, "2024-05-03", 10))):
        clone = aged.path / f"clone-{depth}"
        git(aged.path, "clone", "-q", f"--depth={depth}", aged.path.as_uri(), str(clone))
        copy = clone / file.relative_to(aged.path)
        assert ages_of([copy], clone, now=NOW).get(copy) == expected, depth


def test_files_that_git_does_not_know_have_no_age(aged: Aged, tmp_path: Path) -> None:
    new = aged.project.baseline_file("test_other")
    assert ages_of([new, tmp_path / "baselines" / "t" / "x.json"], aged.path) == {}
    assert ages_of([new], tmp_path) == {}
    assert uncommitted([new], tmp_path) == frozenset()


def test_no_git_means_no_age(aged: Aged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert ages_of([aged.project.baseline_file()], aged.path) == {}
    aged.project.rank({})
    text = text_of(aged.project.run())
    assert "RR 0.9938 -> 1.0000\n" in text
    assert "days old" not in text


def reported(aged: Aged, *arguments: str) -> Iterator[tuple[str, str]]:
    """Run pytest and yield each output by name, without the escapes of its format."""
    names = ("markdown", "html", "json")
    result = aged.project.run(*(f"--rankcheck-{name}=r.{name}" for name in names), *arguments)
    yield "terminal", text_of(result)
    for name in names:
        text = (aged.path / f"r.{name}").read_text("utf-8")
        yield name, re.sub(r"\\([^nu\"])", r"\1", text).replace("&gt;", ">")
        (aged.path / f"r.{name}").unlink()


@pytest.mark.parametrize("arguments", [(), ("--rankcheck-baseline-ref=main",)], ids=["", "ref"])
def test_a_failed_gate_shows_the_age_of_its_baseline(
    aged: Aged, arguments: tuple[str, ...]
) -> None:
    aged.project.rank(WORSE)
    for name, text in reported(aged, *arguments):
        assert "age of the baselines of failed gates" in text, name
        assert aged.age in text, name
        if name == "json":
            [gate] = json.loads(text)["gates"]
            assert (gate["age"]["commit"], gate["age"]["date"]) == (aged.hash, "2024-05-01")
            assert f"{gate['age']['days']:,} days old" in aged.age


def test_a_baseline_that_can_be_raised_or_is_raised_shows_its_age(aged: Aged) -> None:
    aged.project.rank({})
    for name, text in reported(aged):
        assert f"RR 0.9938 -> 1.0000; approved lines: {aged.age}" in text, name
    for name, text in reported(aged, "--snapshot-update"):
        assert f"RR 0.9938 -> 1.0000; approved lines before: {aged.age}" in text, name


def test_a_kept_baseline_shows_its_age(aged: Aged) -> None:
    aged.project.rank({1: 2, 2: 2})
    text = text_of(aged.project.run("--snapshot-update"))
    assert f"; approved lines: {aged.age}; to lower it: --rankcheck-approve" in text


def test_workers_of_xdist_do_not_ask_git(aged: Aged) -> None:
    pytest.importorskip("xdist")
    aged.project.rank(WORSE)
    text = text_of(aged.project.run_apart("-n2"))
    assert text.count(aged.age) == 1


def test_a_baseline_with_uncommitted_changes_has_no_age(aged: Aged) -> None:
    aged.project.rank({})
    aged.project.update()
    aged.project.rank(WORSE)
    text = text_of(aged.project.run())
    assert "RR regressed" in text
    assert "days old" not in text
