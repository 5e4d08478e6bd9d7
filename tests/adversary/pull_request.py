"""A pull request in a real git repository, and what becomes of it in CI.

The table in ``attempts`` says what each branch does, and what must happen.
"""

import html
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from project import REGRESSION_TEST, Project, git
from record_entries import Entry, read_entry, write_entry

from pytest_rankcheck.command_line.main import main as command_line

Lines = list[dict[str, Any]]
Ranks = Mapping[int, int | None]

MAIN_RANKS: Ranks = dict.fromkeys(range(70, 80), 2)
"""On main ten of the 80 queries find their document second: the mean reciprocal rank is 0.9375."""
FALLEN = range(20)
"""The queries that the worse ranker gets wrong; all of them are English."""
WORSE_RANKS: Ranks = {**MAIN_RANKS, **dict.fromkeys(FALLEN, 10)}
"""The worse ranker: 20 queries fall to rank 10, the mean reciprocal rank to 0.7125."""

REPORTS = {"markdown": "report.md", "html": "report.html", "json": "report.json"}


@dataclass(frozen=True)
class Outcome:
    """What a pytest run printed and reported."""

    exit_code: int
    terminal: str
    reports: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.exit_code == 0


class PullRequest:
    """A branch of a repository whose main has approved baselines."""

    ci_arguments: tuple[str, ...] = ()
    """What CI gives to pytest besides the reference."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.path = project.path
        self.write = project.write
        self.lines: Lines = project.queries()
        self.main_ranks = MAIN_RANKS

    # --- what a branch does ------------------------------------------------------------------

    def rank(self, ranks: Ranks) -> None:
        """Set the rank of the relevant document of some queries; for all others it is first."""
        self.project.rank(dict(ranks))

    def golden(self, lines: Lines, name: str = "web") -> None:
        """Write a golden set; later changes start from it."""
        self.lines = lines
        self.project.golden(lines, f"golden/{name}.jsonl")

    def drop(self, queries: Iterable[int]) -> None:
        """Remove queries from the golden set."""
        ids = {f"q{query:03}" for query in queries}
        self.golden([line for line in self.lines if line["query_id"] not in ids])

    def edit_queries(self, queries: Iterable[int], edit: Callable[[Entry], Entry]) -> None:
        """Replace the lines of some queries of the golden set; ``edit`` gives their new keys."""
        ids = {f"q{query:03}" for query in queries}
        self.golden([line | edit(line) if line["query_id"] in ids else line for line in self.lines])

    def test(self, text: str = REGRESSION_TEST, path: str = "tests/test_ranking.py") -> None:
        """Write a test module."""
        self.write(path, text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file; it must be there."""
        text = (self.path / path).read_text("utf-8")
        assert old in text, f"{old!r} is not in {path}"
        self.write(path, text.replace(old, new))

    def configure(self, *lines: str) -> None:
        """Add lines to pytest's configuration; a name that is already there is replaced."""
        names = {line.partition("=")[0].strip() for line in lines}
        text = (self.path / "pyproject.toml").read_text("utf-8")
        kept = [line for line in text.splitlines() if line.partition("=")[0].strip() not in names]
        self.write("pyproject.toml", "\n".join([*kept, *lines, ""]))

    def move(self, source: str, target: str) -> None:
        """Rename a file or a folder."""
        (self.path / target).parent.mkdir(parents=True, exist_ok=True)
        (self.path / source).rename(self.path / target)

    def delete(self, path: str) -> None:
        """Delete a file or a folder."""
        target = self.path / path
        is_folder = target.is_dir() and not target.is_symlink()
        shutil.rmtree(target) if is_folder else target.unlink()

    # --- baselines ---------------------------------------------------------------------------

    def records(self) -> Mapping[str, Path]:
        """Return the baseline files by their path below the project."""
        files = sorted(self.path.glob("**/baselines/*/*.json"))
        return {file.relative_to(self.path).as_posix(): file for file in files}

    @property
    def record_path(self) -> str:
        """The first baseline file."""
        return next(iter(self.records()))

    def record(self, path: str | None = None) -> Entry:
        """Return what a baseline file says."""
        return read_entry(self.path / (path or self.record_path))

    def edit_record(self, edit: Callable[[Entry], object], path: str | None = None) -> None:
        """Edit a baseline by hand, cleverly: the means and the digest agree with the rest."""
        path = path or self.record_path
        entry = self.record(path)
        edit(entry)
        for name, metric in entry["metrics"].items():
            values = [line["values"][name] for line in entry["queries"]]
            counted = [value for value in values if value is not None]
            metric["mean"] = round(sum(counted) / len(counted), 6)
        write_entry(self.path / path, entry)

    def forget_records(self) -> None:
        """Delete all baseline files."""
        for file in self.records().values():
            file.unlink()

    def record_anew(self, *arguments: str) -> None:
        """Delete all baselines and record them again."""
        self.forget_records()
        outcome = self.update(*arguments)
        assert outcome.passed, outcome.terminal

    def retire(self, reason: str, *arguments: str, path: str | None = None) -> None:
        """Retire a baseline, or the first one, with the command for it."""
        command = ["retire", path or self.record_path, "--reason", reason, *arguments]
        assert command_line(command) == 0

    # --- what people and CI run --------------------------------------------------------------

    def run(self, *arguments: str) -> Outcome:
        """Run pytest on the branch as it is."""
        result = self.project.run("-q", *arguments)
        text = "\n".join(result.outlines + result.errlines)
        return Outcome(int(result.ret), text, self._reports())

    def update(self, *arguments: str) -> Outcome:
        """Run ``pytest --snapshot-update``."""
        return self.run("--snapshot-update", *arguments)

    def approve(self, reason: str, *arguments: str) -> None:
        """Update the baselines with a reason."""
        outcome = self.update("--rankcheck-approve", reason, *arguments)
        assert outcome.passed, outcome.terminal

    def ci(self, *arguments: str) -> Outcome:
        """Commit everything and run the tests on the commit as CI does, against main."""
        self.commit()
        git(self.path, "clean", "-fdxq")
        return self.run("--rankcheck-baseline-ref=main", *arguments, *self.ci_arguments)

    def ci_with_reports(self) -> Outcome:
        """Do the same, and write every report."""
        return self.ci(*(f"--rankcheck-{kind}={name}" for kind, name in REPORTS.items()))

    def commit(self) -> None:
        """Commit everything on the branch."""
        git(self.path, "add", "-A")
        git(self.path, "commit", "-qm", "change", "--allow-empty")

    def tag(self, name: str) -> None:
        """Commit everything and tag the commit."""
        self.commit()
        git(self.path, "tag", "-f", name)

    def merge(self) -> None:
        """Merge the pull request, which CI must have passed, and start the next one."""
        outcome = self.ci()
        assert outcome.passed, outcome.terminal
        git(self.path, "branch", "-f", "main")

    def _reports(self) -> Mapping[str, str]:
        texts = {}
        for name in REPORTS.values():
            with suppress(FileNotFoundError):
                texts[name] = (self.path / name).read_text("utf-8")
                (self.path / name).unlink()
        return texts


# --- main ------------------------------------------------------------------------------------

Main = Callable[[PullRequest], None]
"""Writes the files of main; their baselines are recorded afterwards."""


def one_gate(main: PullRequest) -> None:
    """RR with a tolerance of 0.01, on the golden set 'web'."""
    main.test()


class Repositories:
    """Makes each main once and copies it for each pull request.

    Args:
        templates: a folder that all tests of this process share.
    """

    _lines: ClassVar[dict[str, Lines]] = {}
    """The golden set of each main that was made, by the name of its copy."""

    def __init__(self, project: Project, templates: Path) -> None:
        self._project = project
        self._templates = templates

    def branch_of(self, main: Main) -> PullRequest:
        """Return a new branch of a repository with this main."""
        template = self._templates / f"{main.__module__}.{main.__name__}"
        if template.name not in self._lines:
            self._lines[template.name] = self._make(main, template)
        else:
            shutil.copytree(template, self._project.path, symlinks=True, dirs_exist_ok=True)
        pull_request = PullRequest(self._project)
        pull_request.lines = self._lines[template.name]
        return pull_request

    def _make(self, main: Main, template: Path) -> Lines:
        """Make a repository, keep a copy of it, and return its golden set."""
        pull_request = PullRequest(self._project)
        pull_request.rank(MAIN_RANKS)
        git(self._project.path, "init", "-q", "-b", "main", "--template=")
        git(self._project.path, "config", "user.name", "Ada")
        git(self._project.path, "config", "user.email", "ada@example.org")
        main(pull_request)
        outcome = pull_request.update()
        assert outcome.passed, outcome.terminal
        pull_request.commit()
        git(self._project.path, "checkout", "-q", "-b", "feature")
        shutil.copytree(self._project.path, template, symlinks=True)
        return pull_request.lines


def readable(name: str, text: str) -> str:
    """Return what a reader of a report sees, without the escapes of its format."""
    if name.endswith(".md"):
        return html.unescape(text.replace("\\", ""))
    if name.endswith(".json"):
        return "\n".join(_strings(json.loads(text)))
    return html.unescape(text)


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for item in value:
            yield from _strings(item)
    else:
        yield str(value)
