"""Irrelevant documents: their words share no sequence of three letters with any query."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_rankcheck.behaviour.record_fields import (
    Key,
    fields_of,
    ids_in,
    text_fields,
    with_fields,
    with_text,
)

__all__ = ["irrelevant_maker"]

_LETTERS = "bcdfghjklmnpqrstvwxz"
_WORDS = 200
_WORD_LENGTH = 7
_TRIES = 10_000


def irrelevant_maker(
    queries: Iterable[str], chosen: Sequence[str] | None, seed: int
) -> Callable[[Any, Key], Any]:
    """Return a function that makes an irrelevant document of the same length as a given one.

    Args:
        queries: the texts of the queries, which share no terms with the new documents.
        chosen: the fields whose texts are replaced; without them, all texts in a record.
        seed: the seed for the words.
    """
    drawn = random.Random(seed)
    words = _words(queries, drawn)

    def instead(value: object) -> object:
        """Return a value with the words of all its texts replaced."""
        if isinstance(value, str):
            return " ".join(words[int(drawn.random() * len(words))] for _ in value.split())
        if isinstance(value, Mapping):
            return {name: instead(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)(map(instead, value))
        return value

    def make(record: Any, key: Key) -> Any:
        texts = text_fields(record, chosen, key)
        if chosen or isinstance(record, str):
            return with_text(record, {name: str(instead(text)) for name, text in texts.items()})
        ids = ids_in(record, key)
        others = {name: each for name, each in fields_of(record).items() if name not in ids}
        return with_fields(record, {name: instead(value) for name, value in others.items()})

    return make


def _words(queries: Iterable[str], drawn: random.Random) -> Sequence[str]:
    """Return words without vowels that share no sequence of three letters with any query."""
    taken = {part for text in queries for part in _parts(text.casefold())}
    words: list[str] = []
    for _ in range(_TRIES):
        letters = [_LETTERS[int(drawn.random() * len(_LETTERS))] for _ in range(_WORD_LENGTH)]
        word = "".join(letters)
        if not taken.intersection(_parts(word)):
            words.append(word)
            if len(words) == _WORDS:
                break
    return words or ["bcdfghj"]


def _parts(text: str) -> Iterable[str]:
    return (text[start : start + 3] for start in range(len(text) - 2))
