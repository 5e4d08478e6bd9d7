"""The parts of the manual that benchmarks write."""

import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from manual_parts import DOCS, write_part  # noqa: E402

PAGE = "before\n<!-- a (b): written by a test -->\nold\n<!-- end of a (b) -->\nafter\n"
MARKER = re.compile(r"<!-- ([^\n:]+): written by benchmarks/(\w+\.py) -->")


def test_only_the_part_between_its_two_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    write_part(page, "a (b)", "\\1 new\n")
    assert page.read_text() == PAGE.replace("old", "\\1 new")
    for text, found in (("", 0), (PAGE.replace("end of", "end"), 0), (PAGE + PAGE, 2)):
        page.write_text(text)
        with pytest.raises(
            SystemExit, match=rf"page\.md must have .*end of a \(b\).*found {found}"
        ):
            write_part(page, "a (b)", "new\n")
        assert page.read_text() == text


def test_every_written_part_of_the_manual_has_its_end_and_its_benchmark() -> None:
    parts = [
        (page, *match)
        for page in sorted(DOCS.rglob("*.md"))
        for match in MARKER.findall(page.read_text("utf-8"))
    ]
    assert len(parts) >= 11
    for page, name, script in parts:
        assert page.read_text("utf-8").count(f"<!-- end of {name} -->") == 1, (page.name, name)
        source = (BENCHMARKS / script).read_text("utf-8")
        assert f'"{name}"' in source or f'"{name.partition(", ")[0]}, {{name}}"' in source, name
