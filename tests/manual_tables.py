"""Pages of the manual: the anchors of their headings, and tables that are generated."""

import os
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

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


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
