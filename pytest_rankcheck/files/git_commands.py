"""Running git: author and commit for approvals, records of other commits, ignored files."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_rankcheck.errors import GitError

_SECONDS = 60
_ELSEWHERE = re.compile(
    "GIT_(DIR|WORK|COMMON|INDEX|OBJECT|GRAFT|ALTERNATE|REPLACE|NAMESPACE|SHALLOW)"
)
"""Variables that select a repository other than the folder's; a conftest may set them."""
_LITERAL = "--literal-pathspecs"
_WITHOUT_LITERAL = ("check-ignore", "--glob-pathspecs")
"""A command that takes paths literally without the option for it, and the opposite option."""


def git(folder: Path, *arguments: str, input: str | None = None) -> str:
    """Return the output of git in a folder.

    Args:
        folder: where git runs.
        arguments: the command and its options; paths are taken literally, unless the first one is
            ``--glob-pathspecs``.
        input: the standard input of the command; None: empty.

    Raises:
        GitError: git cannot be run, or failed.
    """
    try:
        done = subprocess.run(
            ["git", *([] if arguments[0] in _WITHOUT_LITERAL else [_LITERAL]), *arguments],
            cwd=folder,
            input=None if input is None else input.encode("utf-8", "surrogateescape"),
            env=_environment(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.CalledProcessError as failure:
        message = failure.stderr.decode("utf-8", "replace").strip()
        raise GitError(message or f"git failed with exit code {failure.returncode}") from None
    except (OSError, subprocess.SubprocessError) as failure:
        raise GitError(str(failure)) from None
    return done.stdout.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not _ELSEWHERE.match(name)}
    return {**kept, "LC_ALL": "C"}  # English, because error messages are matched


def git_blobs(folder: Path, ids: Iterable[str]) -> Iterator[str]:
    """Yield the texts of blobs, one after the other; their number is not limited by memory.

    Raises:
        GitError: git does not have one of them, and cannot fetch it.
    """
    asked_ids = "".join(f"{each}\n" for each in ids)
    if git_line(folder, "config", "--get-regexp", r"^remote\..*\.promisor$"):
        # For a pack, a partial clone fetches all that it lacks at once; for a batch, one by one.
        git_line(folder, "pack-objects", "--stdout", input=asked_ids)
    with tempfile.TemporaryFile() as asked:
        asked.write(asked_ids.encode())
        asked.seek(0)
        with subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=folder,
            stdin=asked,
            stdout=subprocess.PIPE,
            env=_environment(),
        ) as batch:
            assert batch.stdout is not None
            while head := batch.stdout.readline().split():
                if len(head) != 3:
                    raise GitError(f"git does not have {head[0].decode('ascii', 'replace')}")
                yield batch.stdout.read(int(head[2])).decode("utf-8", "replace")
                batch.stdout.read(1)  # the line feed after it


def git_line(folder: Path, *arguments: str, input: str | None = None) -> str | None:
    """Return the line that git prints; None without git, a repository or output."""
    try:
        return git(folder, *arguments, input=input).strip() or None
    except GitError:
        return None


def ignored_files(folder: Path, paths: Iterable[str]) -> list[str]:
    """Return which files, relative to a folder, git ignores; empty without git or a repository."""
    try:
        output = git(folder, "check-ignore", "-z", "--stdin", input="\0".join(paths))
    except GitError:  # also if no file is ignored
        return []
    return output.rstrip("\0").split("\0")
