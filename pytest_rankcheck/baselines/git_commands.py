"""Running git: author and commit for approvals, and the records of another commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["GitError", "git", "git_line"]

_SECONDS = 60


class GitError(Exception):
    """Git is missing or failed; the text is its error message."""


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git in a folder.

    Raises:
        GitError: git cannot be run, or failed.
    """
    try:
        done = subprocess.run(
            ["git", "--literal-pathspecs", *arguments],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},  # error messages are matched
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


def git_line(folder: Path, *arguments: str) -> str | None:
    """Return the line that git prints, or None without git, a repository or output."""
    try:
        return git(folder, *arguments).strip() or None
    except GitError:
        return None
