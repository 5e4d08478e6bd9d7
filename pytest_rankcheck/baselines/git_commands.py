"""Asking git: who and where for approvals, and the records of another commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["GitError", "asked", "git"]

_SECONDS = 60


class GitError(Exception):
    """Git is not there, or said no; the text is what it said."""


def git(folder: Path, *arguments: str) -> str:
    """Return what git answers in a folder.

    Raises:
        GitError: it cannot be run, or failed.
    """
    try:
        answer = subprocess.run(
            ["git", "--literal-pathspecs", *arguments],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},  # what it says is looked at
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.CalledProcessError as failure:
        said = failure.stderr.decode("utf-8", "replace").strip()
        raise GitError(said or f"git failed with {failure.returncode}") from None
    except (OSError, subprocess.SubprocessError) as failure:
        raise GitError(str(failure)) from None
    return answer.stdout.decode("utf-8", "replace")


def asked(folder: Path, *arguments: str) -> str | None:
    """Return the line that git answers, or None where there is no git, repository or answer."""
    try:
        return git(folder, *arguments).strip() or None
    except GitError:
        return None
