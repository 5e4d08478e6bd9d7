"""The search of git's history for the commits that last changed the lines of baselines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from pytest_rankcheck.baselines.baseline_age import BaselineAge
from pytest_rankcheck.files.git_commands import git, git_pieces, repository
from pytest_rankcheck.files.git_error import GitError

__all__ = ["ages_of", "uncommitted"]

_QUERY_LINE = r'^[[:space:]]*(\{"id"|"data"): '
"""The line of a query in a record, or the line of its header that names the data file. The header's
other lines, such as its approvals, do not match."""
_MARK = "\x01"
_SECONDS = 2.0
"""How long git may search the history; what it has not found in that time stays unknown."""
_LONGEST_COMMAND = 20_000
_SECONDS_OF_A_DAY = 86_400


def ages_of(
    paths: Iterable[Path], folder: Path, commit: str = "HEAD", now: datetime | None = None
) -> Mapping[Path, BaselineAge]:
    """Return the age of each baseline that git knows. One search serves all of them.

    Changes to the header alone, such as a retirement, do not count. A shallow clone does not know
    what its oldest commits changed, so nothing is returned for a baseline that is older.

    Args:
        paths: the baseline files.
        folder: a folder in the repository.
        commit: where the search starts.
        now: the time to count from; None: the present.
    """
    try:
        root, boundary = repository(folder)
    except GitError:
        return {}
    wanted = _inside(paths, root)
    seconds = (now or datetime.now(UTC)).timestamp()
    ages: dict[Path, BaselineAge] = {}
    arguments = (
        *("log", commit, "-z", "--format=%x01%H %h %ct %cs", "--name-only", "--no-renames"),
        *("--no-color", "--no-ext-diff", "--no-textconv", "--text", f"-G{_QUERY_LINE}"),
    )
    age: BaselineAge | None = None
    with closing(git_pieces(root, *arguments, "--", *_folders(wanted), seconds=_SECONDS)) as pieces:
        for piece in map(str.strip, pieces):
            if piece.startswith(_MARK):
                whole_hash, short_hash, time, date = piece.removeprefix(_MARK).split()
                days = int((seconds - int(time)) // _SECONDS_OF_A_DAY)
                is_known = whole_hash not in boundary
                age = BaselineAge(short_hash, date, max(0, days)) if is_known else None
            elif piece in wanted:
                path = wanted.pop(piece)
                if age is not None:
                    ages[path] = age
            if not wanted:
                break
    return ages


def uncommitted(paths: Iterable[Path], folder: Path) -> frozenset[Path]:
    """Return which baselines differ from those of the commit that is checked out."""
    try:
        root, _ = repository(folder)
        wanted = _inside(paths, root)
        names = git(root, "diff", "--name-only", "-z", "HEAD", "--", *_folders(wanted)).split("\0")
    except GitError:
        return frozenset()
    return frozenset(wanted[name] for name in names if name in wanted)


def _inside(paths: Iterable[Path], root: Path) -> dict[str, Path]:
    """Return the files of a repository by their names in git."""
    top = os.path.realpath(root)
    real = ((Path(os.path.realpath(path)), path) for path in paths)
    return {
        name.relative_to(top).as_posix(): path for name, path in real if name.is_relative_to(top)
    }


def _folders(names: Iterable[str]) -> Sequence[str]:
    """Return the folders of the test modules' baselines; the whole repository if there are many."""
    folders = sorted({Path(name).parent.parent.as_posix() for name in names})
    return folders if sum(map(len, folders)) < _LONGEST_COMMAND else ["."]
