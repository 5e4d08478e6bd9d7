"""Tables of the manual that are generated, and compared with what would be generated now."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["DOCS", "check_table"]

DOCS = Path(__file__).parent.parent / "docs"


def check_table(name: str, kind: str, table: str) -> None:
    """Compare a table of a page with a generated one; RANKCHECK_WRITE_DOCS=1 writes it."""
    page = DOCS / name
    text = page.read_text("utf-8")
    pattern = rf"(<!-- table of {kind}:[^\n]*-->\n).*?(<!-- end of table -->)"
    made, count = re.subn(
        pattern, lambda match: f"{match[1]}{table}{match[2]}", text, flags=re.DOTALL
    )
    assert count == 1
    if os.environ.get("RANKCHECK_WRITE_DOCS"):
        page.write_text(made, encoding="utf-8")
    assert text == made, "run this test with RANKCHECK_WRITE_DOCS=1"
