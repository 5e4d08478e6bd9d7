"""Make the screenshots of the manual: the report of the symbol-search example, in Chromium.

    pip install -e '.[test]'    # and a Chromium
    python docs/screenshots.py

The example is copied, so that what is approved for the second picture stays out of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "symbol_search"
WORSE = ("--rankcheck-ranker", "symbol_search.substring:search")


def tested(example: Path, name: str, *arguments: str) -> Path:
    """Run the example's tests; return the report."""
    report = example / f"{name}.html"
    command = [sys.executable, "-m", "pytest", "-q", f"--rankcheck-html={report}", *arguments]
    names = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ada"}
    names |= {"GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "ada@example.org"}
    env = {**os.environ, **names}
    subprocess.run(command, cwd=example, env=env, check=False, stdout=subprocess.DEVNULL)
    return report


def take(browser: Any, report: Path, pictures: Sequence[tuple[str, str | None, str]]) -> None:
    """Take pictures of a report: name, what to open, and what to show."""
    page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="light")
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(1000)
    for name, opened, shown in pictures:
        if opened is not None:
            page.fill("#search", opened)
            page.wait_for_timeout(400)
            page.locator("#rows button.open").first.click()
            page.wait_for_timeout(300)
        path = HERE / "images" / f"{name}.png"
        if opened is not None:
            page.locator(shown).screenshot(path=path)
            continue
        page.evaluate(f"document.querySelector('{shown}').scrollIntoView()")
        page.wait_for_timeout(200)
        page.screenshot(path=path)
    page.close()


def main() -> None:
    """Run the example, blocked and approved, and take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        example = Path(temporary) / "symbol_search"
        shutil.copytree(EXAMPLE, example)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        blocked = tested(example, "blocked", *WORSE)
        take(
            browser,
            blocked,
            [
                ("blocked", None, "header"),
                ("slices", None, "#slices"),
                ("rankings", "nl-29", "#queries .scroll"),
            ],
        )
        reason = "abbreviations go to another index from now on"
        approve = ("--snapshot-update", "--rankcheck-approve", reason)
        tested(example, "update", *WORSE, *approve)
        approved = tested(example, "approved", *WORSE, "-k", "regression or sacrificed")
        take(browser, approved, [("approved", None, "header"), ("history", None, "#history")])
        browser.close()


if __name__ == "__main__":
    main()
