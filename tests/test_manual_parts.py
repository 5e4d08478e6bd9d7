"""The parts of the manual that benchmarks write."""

import re
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from manual_parts import DOCS  # noqa: E402

PAGE = "before\n<!-- a (b): written by a test -->\nold\n<!-- end of a (b) -->\nafter\n"
MARKER = re.compile(r"<!-- ([^\n:]+): written by benchmarks/(\w+\.py) -->")


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
