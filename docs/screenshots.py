"""Take the pictures of the README and the manual, in Chromium.

    pip install -e '.[browser]'    # and a Chromium
    python docs/screenshots.py
    python docs/screenshots.py FOLDER    # the whole report, narrow, wide, light and dark

They show the HTML report of the symbol-search example, with a ranker that only finds substrings.
The script works on a copy of the example, because one picture needs an approved fall.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "symbol_search"
WORSE = ("--rankcheck-ranker", "symbol_search.substring:search")


def run_pytest(example: Path, *arguments: str) -> str:
    """Run the example's tests; return what they print."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    names = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ada"}
    names |= {"GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "ada@example.org"}
    env = {**os.environ, **names, "COLUMNS": "116"}
    done = subprocess.run(command, cwd=example, env=env, check=False, stdout=subprocess.PIPE)
    return done.stdout.decode()


def tested(example: Path, name: str, *arguments: str) -> Path:
    """Run the example's tests; return the report."""
    report = example / f"{name}.html"
    run_pytest(example, f"--rankcheck-html={report.name}", *arguments)
    return report


def take(
    browser: Any,
    report: Path,
    pictures: Sequence[tuple[str, str | None, str]],
    scheme: str = "light",
) -> None:
    """Take pictures of a report: name, what to open, and what to show."""
    page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme=scheme)
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


def look(browser: Any, report: Path, folder: Path) -> None:
    """Take pictures of a whole report, narrow and wide, light and dark: look at all of them."""
    for width, scheme in product((400, 1400), ("light", "dark")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(1000)
        page.screenshot(path=folder / f"report-{width}-{scheme}.png", full_page=True)
        page.close()


def main() -> None:
    """Run the example, blocked and approved, and take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        example = Path(temporary) / "symbol_search"
        shutil.copytree(EXAMPLE, example)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        blocked = tested(example, "blocked", *WORSE)
        if len(sys.argv) > 1:
            look(browser, blocked, Path(sys.argv[1]))
            return
        take(
            browser,
            blocked,
            [
                ("blocked", None, "header"),
                ("failures", None, "#failures"),
                ("slices", None, "#slices"),
                ("rankings", "nl-29", "#queries .scroll"),
            ],
        )
        take(browser, blocked, [("dark", None, "#slices")], scheme="dark")
        reason = "abbreviations go to another index from now on"
        approve = ("--rankcheck-approve", reason)
        tested(example, "update", *WORSE, *approve)
        approved = tested(example, "approved", *WORSE, "-k", "regression or sacrificed")
        take(browser, approved, [("approved", None, "header"), ("history", None, "#history")])
        browser.close()


if __name__ == "__main__":
    main()
