"""The architecture page cannot go stale: its rooms and its path are compared with the code."""

import json
import os
import re
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest
from project import Project
from test_architecture import HOUSE

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "architecture.md"

TRACED_TEST = """
import json
import sys
from pathlib import Path

import pytest_rankcheck
from pytest_rankcheck import assert_not_regressed

PACKAGE = Path(pytest_rankcheck.__file__).parent

def room_of(frame):  # of the nearest frame of the package; a test is in none
    while frame is not None and not frame.f_code.co_filename.startswith(str(PACKAGE)):
        frame = frame.f_back
    return frame and Path(frame.f_code.co_filename).relative_to(PACKAGE).parts[0]

def being_imported(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

def test_no_regression(evaluation, baseline):
    path = {}

    def on_event(frame, event, argument):
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(str(PACKAGE)) or file in path:
            return
        room, *module = Path(file).relative_to(PACKAGE).parts
        enters = room_of(frame) != room_of(frame.f_back)
        if module and room != "files" and enters and not being_imported(frame):
            path[file] = ".".join([room, *module]).removesuffix(".py")

    sys.setprofile(on_event)
    try:
        assert_not_regressed(evaluation, baseline, "nDCG@10", abs=0.01, by="locale")
    finally:
        sys.setprofile(None)
        Path("path.json").write_text(json.dumps(list(path.values())))
"""


def test_the_rooms_on_the_page_are_those_of_the_import_rule() -> None:
    table = PAGE.read_text("utf-8").partition("<!-- the rooms")[2].partition("<!-- end of rooms")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == HOUSE


@pytest.mark.slow
def test_the_path_on_the_page_is_the_one_that_is_taken(pytester: pytest.Pytester) -> None:
    """The modules that a failing assertion enters from another room. RANKCHECK_WRITE_DOCS=1 writes it."""
    project = Project(pytester)
    project.test(TRACED_TEST)
    assert project.run_apart("--snapshot-update").ret == 0
    project.rank(dict.fromkeys(range(20), 3))
    project.run_apart().assert_outcomes(failed=1)
    path = json.loads((project.path / "path.json").read_text())
    assert path[0] == "assertions.regression_assertion"
    assert len(path) <= 48, "it is short enough to be read"
    rooms = {module.split(".")[0] for module in path}
    assert {"evaluation", "baselines", "comparison", "gates", "statistics", "reports"} <= rooms

    rows = ["| room | entered at |", "|---|---|"]
    for room, modules in groupby((name.split(".", 1) for name in path), key=itemgetter(0)):
        rows.append(f"| `{room}` | {', '.join(f'`{module}`' for _, module in modules)} |")
    text, table = PAGE.read_text("utf-8"), "\n".join(rows) + "\n"
    markers = r"(<!-- the path of one assertion: [^\n]*-->\n).*?(<!-- end of path -->)"
    written, found = re.subn(
        markers, lambda match: f"{match[1]}{table}{match[2]}", text, flags=re.DOTALL
    )
    assert found == 1, "the page has no path"
    if os.environ.get("RANKCHECK_WRITE_DOCS"):
        PAGE.write_text(written, encoding="utf-8")
    assert text == written, "run this test with RANKCHECK_WRITE_DOCS=1"
