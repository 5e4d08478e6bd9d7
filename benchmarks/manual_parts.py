"""The parts of the manual that benchmarks write, between markers with the part's name."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["DOCS", "write_part"]

DOCS = Path(__file__).resolve().parents[1] / "docs"


def write_part(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name: ... -->`` and ``<!-- end of name -->``.

    Args:
        page: the file of the manual.
        name: the part's name, as in its markers.
        text: whole lines.

    Raises:
        SystemExit: the page does not have the two markers exactly once.
    """
    marker = re.escape(name)
    made, found = re.subn(
        rf"(<!-- {marker}: [^\n]*-->\n).*?(<!-- end of {marker} -->)",
        lambda match: f"{match[1]}{text}{match[2]}",
        page.read_text("utf-8"),
        flags=re.DOTALL,
    )
    if found != 1:
        raise SystemExit(
            f"{page.name} must have <!-- {name}: ... --> and <!-- end of {name} --> once each; "
            f"found {found}"
        )
    page.write_text(made, encoding="utf-8")
