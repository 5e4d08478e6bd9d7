"""The pages of "How to" stay short: a task, one example, and what to do next."""

import re
from pathlib import Path

import pytest
from test_docs import blocks_of, links_of

HOW_TO = sorted((Path(__file__).parent.parent / "docs" / "how-to").glob("*.md"))


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_page_is_one_task_in_300_words(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(text.split()) <= 300
    assert len(links_of(page)) <= 2
    assert re.findall(r"^#+ ", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M) == ["# "]
    blocks = blocks_of(page)
    assert {"console", "python"} & {block.language for block in blocks if not block.title}


def test_every_task_has_its_page() -> None:
    assert len(HOW_TO) >= 20
