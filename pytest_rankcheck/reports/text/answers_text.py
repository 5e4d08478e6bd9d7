"""The queries whose answers differ most, as text: what was asked, expected and answered."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice

from pytest_rankcheck.behaviour.expectation_check import ExpectationResult
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.explanation.explanation import Answer, AnsweredQuery, Explanation
from pytest_rankcheck.reports.text.wording import named, number_text, packed

_QUERY, _DEEP = " " * 4, " " * 6
_MOST_LINES = 3
"""The most lines of an answer."""
_NAMED = 5
"""How many of the queries that are not shown are named."""
_RANKS = 8
_ONE_LINE = 60
"""The longest pair of texts to show on one line, in characters."""
_LONGEST = 80
"""How much of a text is shown, in characters."""
_LONGEST_TEXT = 800


def answered_lines(explanation: Explanation, room: int | None = None) -> Iterator[str]:
    """Yield the queries whose answers differ, as many as fit, and how many more there are.

    Args:
        explanation: of a check.
        room: how many lines there may be; None: any number.
    """
    queries = explanation.answered
    if not queries:
        return
    blocks = [_query_text(each) for each in queries]
    lines = None if room is None else max(1, room - 2)
    fit = (lines is None or end <= lines for end in accumulate(map(len, blocks)))
    shown = max(1, sum(fit))
    is_expected = any(query.broken for query in queries)
    yield "  not ranked as expected" if is_expected else "  the queries that differ most"
    yield from islice(chain.from_iterable(blocks[:shown]), lines)
    names = [*(query.id for query in queries[shown:]), *explanation.others][:_NAMED]
    if names:
        rest = explanation.fallen - shown - len(names)
        yield f"{_QUERY}and {listed(names)}{f' and {rest:,} more' if rest else ''}"


def answered_title(query: AnsweredQuery) -> str:
    """Return what was asked and how much the answers differ, in one line."""
    text = f' "{quoted(query.text, _LONGEST)}"' if query.text not in ("", query.id) else ""
    if query.becomes is not None:
        before, after = shown_change(query.text, query.becomes)
        is_short = len(before) + len(after) <= _ONE_LINE
        text = f' "{before}" -> "{after}"' if is_short else ""
    place = f"  ({quoted(query.place, 200)})" if query.place else ""
    moves = (*_attributes(query), ", ".join(_numbers(query)))
    return "   ".join(filter(None, (f"{quoted(query.id, 60)}{text}{place}", *moves)))


def _query_text(query: AnsweredQuery) -> Sequence[str]:
    """Return the title, with the texts if they are long; what was expected; and the answers."""
    rows: list[tuple[str, Sequence[str]]] = []
    if query.becomes is not None:
        before, after = shown_change(query.text, query.becomes)
        if len(before) + len(after) > _ONE_LINE:
            rows = [("text", [f'"{before}"']), ("becomes", [f'"{after}"'])]
    for result in query.broken:
        rows += _expected(result, query)
    labels = [*(label for label, _ in rows), *(answer.label for answer in query.answers)]
    width = max(map(len, labels))
    indent = len(_DEEP) + width + 2
    rows += ((answer.label, _ranking(answer, query, indent)) for answer in query.answers)
    lines = [f"{_QUERY}{answered_title(query)}"]
    for label, said in rows:
        lines.append(f"{_DEEP}{label:{width}}  {said[0]}")
        lines += [f"{' ' * indent}{line}" for line in said[1:]]
    return lines


def _attributes(query: AnsweredQuery) -> Iterator[str]:
    for name, (old, new) in query.attributes.items():
        yield f"{quoted(name, 40)}: {quoted(old, 40)} -> {quoted(new, 40)}"


def _numbers(query: AnsweredQuery) -> Iterator[str]:
    """Yield how the query was asked, and how much its answers differ."""
    if query.how:
        yield query.how
    yield from (f"{name} {number_text(like, 3)}" for name, like in query.similarity.items())
    for name, (before, now) in query.values.items():
        yield f"{name} {number_text(before, 3)} -> {number_text(now, 3)}"


def _expected(
    result: ExpectationResult, query: AnsweredQuery
) -> Iterator[tuple[str, Sequence[str]]]:
    yield "expected", [str(result.expectation)]
    if result.expectation.reason:
        yield "because", [quoted(result.expectation.reason, 300)]
    ranks = ranks_in(result, query.titles)
    if ranks:
        yield "but", [*islice(packed(ranks, indent=0, gap=", "), _MOST_LINES)]


def ranks_in(result: ExpectationResult, titles: Mapping[str, str | None]) -> Sequence[str]:
    """Return the ranks of the documents in an expectation, the offending ones first."""
    ranks = [
        f"{named(doc, titles.get(doc))} {'is not ranked' if rank is None else f'is at {rank}'}"
        for doc, rank in result.ranks.items()
    ]
    hidden = len(ranks) - _RANKS
    return [*ranks[:_RANKS], f"and {hidden:,} more"] if hidden > 0 else ranks


def _ranking(answer: Answer, query: AnsweredQuery, indent: int) -> Sequence[str]:
    """Return the documents of an answer with their ranks; ``...`` stands for the others."""
    if answer.failure:
        return [answer.failure]
    ranks = enumerate(answer.documents, answer.first)
    items = [f"{rank} {named(doc, query.titles.get(doc))}" for rank, doc in ranks]
    if not answer.size:
        items = ["nothing"]
    elif answer.first > 1:
        items.insert(0, "...")
    of = f"... of {answer.size:,}"
    others = [of] if answer.size >= answer.first + len(answer.documents) else []
    while len(lines := [*packed([*items, *others], indent, gap="   ")]) > _MOST_LINES:
        del items[-1]
        others = [of]
    return lines


def shown_change(before: str, after: str) -> tuple[str, str]:
    r"""Return two versions of a text as escaped single lines.

    If both look alike, such as with a decomposed *é* or another space, they are in ASCII
    (``\u0301``).
    """
    if _look(before) == _look(after):
        before, after = ascii(before)[1:-1], ascii(after)[1:-1]
    return quoted(before, _LONGEST_TEXT), quoted(after, _LONGEST_TEXT)


def _look(text: str) -> str:
    """Return what people see of a text, without its spaces."""
    visible = (char for char in unicodedata.normalize("NFKC", text) if char.isprintable())
    return "".join(visible).replace(" ", "")
