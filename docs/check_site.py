"""Check that every link and picture of the built site leads to a file, and every anchor to a place.

    python docs/check_site.py build/site

Zensical checks the links between pages. This also sees pictures and files that the site lacks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: dict[str, None] = {}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what can be linked, and what is."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links[value] = None


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what each link that leads nowhere is, and where."""
    for page in pages.values():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (page.path.parent / unquote(url.path)).resolve() if url.path else page.path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{page.path}: {link} is not on the site"
            elif target in pages and unquote(url.fragment) not in pages[target].anchors | {""}:
                yield f"{page.path}: {link} has no such anchor"


def main() -> None:
    """Check a site; exit with what is broken."""
    site = Path(sys.argv[1]).resolve()
    # The page of a missing page does not know where it will be shown.
    paths = [path for path in sorted(site.rglob("*.html")) if path != site / "404.html"]
    pages = {path: Page(path) for path in paths}
    if not pages:
        sys.exit(f"{site} has no pages")
    broken = list(broken_links(pages))
    if broken:
        sys.exit("\n".join(broken))
    links = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {links} links: none is broken")


if __name__ == "__main__":
    main()
