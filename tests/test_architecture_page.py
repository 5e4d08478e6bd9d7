"""The architecture page cannot go stale: its rooms and its path are compared with the code."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_architecture import HOUSE, PACKAGE

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"

PROJECT = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        pythonpath = ["."]
        rankcheck_golden = "golden.jsonl"
        rankcheck_ranker = "engine:search"
    """,
    "engine.py": """
        import os

        def search(text):
            best, second = f"best of {text}", f"second of {text}"
            worse = os.environ.get("WORSE") and int(text) < 20
            return ["unjudged", second, best] if worse else [best, second]
    """,
    "golden.jsonl": "".join(
        json.dumps(
            {
                "query_id": f"q{number}",
                "query": str(number),
                "relevance": {f"best of {number}": 2, f"second of {number}": 1},
                "locale": "en" if number < 30 else "de",
            }
        )
        + "\n"
        for number in range(60)
    ),
    "test_ranking.py": """
        import json
        import sys
        from pathlib import Path

        import pytest_rankcheck
        from pytest_rankcheck import assert_not_regressed

        PACKAGE = Path(pytest_rankcheck.__file__).parent

        def test_no_regression(evaluation, baseline):
            first_calls = {}

            def on_event(frame, event, argument):
                file = frame.f_code.co_filename
                if event == "call" and file.startswith(str(PACKAGE)) and file not in first_calls:
                    if not being_imported(frame):
                        first_calls[file] = frame.f_code.co_qualname

            sys.setprofile(on_event)
            try:
                assert_not_regressed(evaluation, baseline, "nDCG@10", abs=0.01, by="locale")
            finally:
                sys.setprofile(None)
                path = [
                    (".".join(Path(file).relative_to(PACKAGE).with_suffix("").parts), function)
                    for file, function in first_calls.items()
                ]
                Path("path.json").write_text(json.dumps(path))

        def being_imported(frame):
            while frame is not None:
                if frame.f_code.co_filename.startswith("<frozen importlib"):
                    return True
                frame = frame.f_back
            return False
    """,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Return the modules that one failing assertion enters, each with its first function."""
    folder = tmp_path_factory.mktemp("traced")
    for name, text in PROJECT.items():
        lines = text.splitlines()
        (folder / name).write_text("\n".join(line.removeprefix(" " * 8) for line in lines) + "\n")
    assert "1 passed" in run_pytest(folder, "--snapshot-update")
    assert "1 failed" in run_pytest(folder, WORSE="1")
    return [(module, call) for module, call in json.loads((folder / "path.json").read_text())]


def run_pytest(folder: Path, *arguments: str, **variables: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=clean | variables, capture_output=True, text=True, check=False
    )
    return done.stdout


def test_the_rooms_on_the_page_are_those_of_the_import_rule() -> None:
    table = PAGE.read_text("utf-8").partition("<!-- the rooms")[2].partition("<!-- end of rooms")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == HOUSE


def test_the_path_on_the_page_is_the_one_that_is_taken(path: list[tuple[str, str]]) -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write it."""
    text = PAGE.read_text("utf-8")
    start, end = (
        "<!-- the path of one assertion: written by tests/test_architecture_page.py -->\n",
        ("<!-- end of path -->"),
    )
    before, marker, rest = text.partition(start)
    assert marker, "the page has no path"
    written = before + start + table_of(path) + end + rest.partition(end)[2]
    if os.environ.get("RANKCHECK_WRITE_DOCS"):
        PAGE.write_text(written, encoding="utf-8")
    assert text == written, "run this test with RANKCHECK_WRITE_DOCS=1"


def table_of(path: list[tuple[str, str]]) -> str:
    """Return the path as a table: module, first function, and the module's own description."""
    rows = ["| module | first call | what the module holds |", "|---|---|---|"]
    rows += [f"| `{name}` | `{call}` | {summary_of(name)} |" for name, call in path]
    return "\n".join(rows) + "\n"


def summary_of(module: str) -> str:
    """Return the first sentence of a module's docstring."""
    source = PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(source))
    assert docstring, f"{module} has no docstring"
    return docstring.partition("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|")


def test_the_path_leads_through_the_house(path: list[tuple[str, str]]) -> None:
    """The trace is of a real assertion: its arguments are checked, then it is entered."""
    assert path[:3] == [
        ("argument_checks", "checked_arguments.<locals>.checked"),
        ("argument_kinds", "_is.<locals>.accepts"),
        ("assertions.regression_assertion", "assert_not_regressed"),
    ]
    modules = [module for module, _ in path]
    assert "metrics.families.gain" in modules
    rooms = {module.split(".")[0] for module in modules}
    assert {"evaluation", "baselines", "comparison", "gates", "statistics", "reports"} <= rooms
