"""``python -m pytest_rankcheck resolve``: merge the records of two branches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_rankcheck.baselines.data_file import (
    DataFiles,
    leftover_data,
    named_data,
    sha256_of,
)
from pytest_rankcheck.baselines.merge_conflict import (
    Side,
    conflict_texts,
    data_in_commits,
    is_unmerged,
    target_side,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_merge import RecordMerge
from pytest_rankcheck.baselines.record_writer import record_texts, write_record
from pytest_rankcheck.command_line.measurement_options import BLOCKED, PASSED, Commands
from pytest_rankcheck.errors import BaselineError, RankcheckError, quoted
from pytest_rankcheck.files.folder_lock import locked_folder
from pytest_rankcheck.files.git_commands import git
from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.files.whole_files import write_whole

__all__ = ["add_resolve_command"]

_UNKNOWN_TARGET = (
    "which side is the target branch is unknown. Say it with --target ours (the branch that is "
    "checked out; in a rebase, the branch that commits are moved onto) or --target theirs"
)


def add_resolve_command(commands: Commands) -> None:
    """Add the command ``resolve`` to the parser."""
    resolve = commands.add_parser(
        "resolve",
        help="resolve a merge conflict in a baseline",
        description="Resolve a merge conflict in a baseline: take the record of the target "
        "branch, with the approvals and the higher best means of both branches.",
    )
    resolve.add_argument("file", type=Path, nargs="?", help="a baseline with a merge conflict")
    resolve.add_argument(
        "--target",
        choices=[str(side) for side in Side],
        help="the side of the branch that is merged into (default: found out from git)",
    )
    resolve.add_argument(
        "--driver",
        nargs=4,
        metavar=("BASE", "OURS", "THEIRS", "PATH"),
        help="work as a git merge driver, with the arguments %%O %%A %%B %%P",
    )
    resolve.set_defaults(run=_resolve)


def _resolve(chosen: argparse.Namespace) -> int:
    if chosen.driver is not None:
        return _drive(chosen)
    if chosen.file is None:
        raise BaselineError("no file; name a baseline with a merge conflict")
    path: Path = chosen.file
    if _is_data_in_conflict(path):
        return _restore(path)
    texts = conflict_texts(path)
    side = Side(chosen.target) if chosen.target else target_side(path.resolve().parent)
    if side is None:
        raise BaselineError(f"{quoted(path)}: {_UNKNOWN_TARGET}")
    merge = _merged(texts, side, str(path))
    _write(path, merge.record)
    print("\n".join(_lines(merge, side, str(path))))
    print(f"  next: {_git_add(path)}, then run pytest on the merged code")
    return PASSED


def _is_data_in_conflict(path: Path) -> bool:
    """Whether git has merged the header of a record, but not the lines of its queries."""
    try:
        if named_data(path) is None or is_unmerged(path):
            return False
    except ValueError:
        return False  # the header is in conflict
    try:
        Record.load(path)
    except BaselineError:
        return True
    return bool(leftover_data(path))


def _restore(path: Path) -> int:
    """Restore the lines that a header names, which a merge has mixed with those of the other side.

    Raises:
        BaselineError: no commit has them.
    """
    _write(path, Record.from_text(text_of(path, BaselineError), str(path), _data_files(path)))
    print(f"{quoted(path, 300)}: its data file has the lines that its header names again")
    print(f"  next: {_git_add(path)}")
    return PASSED


def _data_files(path: Path) -> DataFiles:
    return DataFiles(path, data_in_commits)


def _git_add(path: Path) -> str:
    """Return the command that adds a record; that of two files also removes the old lines."""
    if named_data(path) is None:
        return f"git add {quoted(path, 300)}"
    return f'git add --all "{quoted(path.with_suffix(""), 300)}.*"'


def _drive(chosen: argparse.Namespace) -> int:
    """Merge as git's driver: into OURS. What cannot be merged is left to git's own text merge."""
    base, ours, theirs, path = chosen.driver
    try:
        side = Side(chosen.target) if chosen.target else target_side(Path.cwd(), is_driver=True)
        if side is None:
            raise BaselineError(_UNKNOWN_TARGET)
        texts = {
            Side.OURS: text_of(Path(ours), BaselineError),
            Side.THEIRS: text_of(Path(theirs), BaselineError),
        }
        merge = _merged(texts, side, path)
        _write_driven(Path(ours), merge.record, texts[side])
    except RankcheckError as error:
        print(f"pytest_rankcheck resolve: {quoted(path, 300)}: {error}", file=sys.stderr)
        return _text_merge(base, ours, theirs)
    print("\n".join(_lines(merge, side, path)), file=sys.stderr)
    if named_data(Path(ours)) is not None:
        print(
            "  git may take the data files of both branches for one that both have renamed; then "
            f"run python -m pytest_rankcheck resolve {quoted(path, 300)}",
            file=sys.stderr,
        )
    return PASSED


def _text_merge(base: str, ours: str, theirs: str) -> int:
    """Merge as git does without a driver: with conflict markers in OURS."""
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    try:
        git(Path.cwd(), "merge-file", "--quiet", *labels, ours, base, theirs)
    except GitError:
        return BLOCKED
    return PASSED


def _merged(texts: Mapping[Side, str], side: Side, path: str) -> RecordMerge:
    """Return the merge of two texts of a baseline.

    Raises:
        BaselineError: a side is not a record; the message names it.
    """
    files = _data_files(Path(path))
    records = {
        each: Record.from_text(text, f"{path} ({each})", files) for each, text in texts.items()
    }
    return RecordMerge.of(records[side], records[side.other])


def _write(path: Path, record: Record) -> None:
    """Write a record under the lock of its folder."""
    try:
        with locked_folder(path.parent):
            write_record(path, record)
    except OSError as failure:
        raise _unwritable(str(path), failure) from None


def _write_driven(ours: Path, record: Record, target: str) -> None:
    """Write a merged header to the file of git's driver; git itself keeps the target's lines.

    Raises:
        BaselineError: the lines would change, or the file cannot be written.
    """
    texts = record_texts(record)
    if texts.data is not None and sha256_of(texts.data) not in target:
        raise BaselineError("the lines of its queries are written in another way")
    try:
        write_whole(ours, texts.header)
    except OSError as failure:
        raise _unwritable(str(ours), failure) from None


def _unwritable(path: str, failure: OSError) -> BaselineError:
    why = failure.strerror or failure
    return BaselineError(f"{quoted(path, 300)} cannot be written: {why}; it is unchanged")


def _lines(merge: RecordMerge, side: Side, path: str) -> Iterator[str]:
    """Yield what was taken from which side."""
    yield (
        f"{quoted(path, 300)}: merged; it has the record of the target branch ({side}) until "
        "the next update"
    )
    for approval in merge.added_approvals:
        yield f'  approval of the other branch kept: "{quoted(approval.reason)}"'
    if merge.higher_best:
        yield f"  best mean taken from the other branch: {', '.join(merge.higher_best)}"
    if merge.differences:
        yield (
            f"  the other branch measured differently ({', '.join(merge.differences)}), so its "
            "best means are left out"
        )
    if merge.left_out:
        yield f"  left out: {', '.join(merge.left_out)} of the other branch"
