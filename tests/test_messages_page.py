"""The page of messages quotes what the package says, so that a changed message breaks a test."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GAP = "\0"
"""Stands for a value that a message fills in."""


def messages_of_the_page() -> list[str]:
    """Return the first cell of each row: the words of a message, ``...`` for what varies."""
    page = (ROOT / "docs" / "messages.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)


@cache
def texts_of_the_package() -> str:
    """Return every text of the package but docstrings, each on a line of its own."""
    files = sorted((ROOT / "pytest_rankcheck").rglob("*.py"))
    found = [text for file in files for text in texts_of(ast.parse(file.read_text("utf-8")))]
    return "\n".join(text.replace("\n", " ") for text in found)


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a tree; an f-string is one text, and so is a template of `format`."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant()):
                continue  # a docstring
            case ast.Constant(value=str(text)):
                yield re.sub(r"\{\w+\}", GAP, text)
            case ast.JoinedStr(values=parts):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else GAP for part in parts
                )
        yield from texts_of(child)


def is_said(message: str, texts: str) -> bool:
    """Return whether one text has the words of a message in their order.

    What the page leaves open must be filled in by the package, and what the package fills in must
    be left open by the page. A few words that could be in any text must be a whole one.
    """
    if len(message) < 20 and "..." not in message:
        return message in texts.split("\n")
    parts = (re.escape(part) for part in message.strip(" .").split("..."))
    return re.search(f"[^\n{GAP}]*{GAP}[^\n]*".join(parts), texts) is not None


@pytest.mark.parametrize("message", messages_of_the_page())
def test_a_message_of_the_page_is_one_of_the_package(message: str) -> None:
    assert is_said(message, texts_of_the_package())


def test_the_page_has_the_messages_that_users_meet_most() -> None:
    messages = messages_of_the_page()
    assert 35 <= len(messages) == len(set(messages))
