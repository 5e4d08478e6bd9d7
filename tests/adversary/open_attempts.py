"""Attempts that are not blocked yet, each with what it waits for."""

from __future__ import annotations

OPEN: dict[str, str] = {}
