"""Annotations of GitHub Actions: the failure text at the line of the assertion."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

__all__ = ["annotation_lines"]

_LONGEST = 4000
"""Characters; GitHub cuts what is longer."""
_OTHER_PLUGIN = "pytest_github_actions_annotate_failures"


def annotation_lines(failures: Sequence[pytest.TestReport], config: pytest.Config) -> Iterator[str]:
    """Yield a workflow command a failed gate, where GitHub Actions runs the session.

    None where the plugin that annotates every failure is there.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    if config.pluginmanager.hasplugin(_OTHER_PLUGIN):
        return
    top = os.environ.get("GITHUB_WORKSPACE") or str(config.rootpath)
    for report in failures:
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is None:
            continue
        path = Path(config.rootpath, crash.path)
        try:
            shown = path.relative_to(top).as_posix()
        except ValueError:
            shown = path.as_posix()
        text = crash.message.removeprefix("AssertionError: ")[:_LONGEST]
        title = text.partition("\n")[0]
        yield (
            f"::error file={_value(shown)},line={crash.lineno},title={_value(title)}::{_data(text)}"
        )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
