"""The error that git is missing or failed; catching it imports nothing else."""

from __future__ import annotations

__all__ = ["GitError"]


class GitError(Exception):
    """Git is missing or failed; the text is its error message."""
