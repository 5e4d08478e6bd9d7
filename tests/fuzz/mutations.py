"""Mutations of valid files: what editors, exports, crashes and attackers make of them.

A mutation is a list of steps, each three numbers: which change, where, and with what. The same
steps always change the same file in the same way, and a shorter list is a smaller change, so
hypothesis can shrink a failure to the one step that matters.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

__all__ = ["HOSTILE_TEXTS", "STEPS", "Step", "mutated", "mutated_text", "mutated_tree"]

Step = tuple[int, int, int]

_LARGEST = 1 << 16
_MOST_BYTES = 1 << 20
"""What a mutated file may have."""

STEPS = st.lists(
    st.tuples(
        st.integers(0, 255),
        st.integers(0, _LARGEST),
        st.integers(0, _LARGEST),
    ),
    min_size=1,
    max_size=4,
)
"""One to four steps."""

HUGE = "9" * 400

HOSTILE_TEXTS = [
    "",
    " ",
    "0",
    "-1",
    "1.5",
    "1e999",
    "-1e999",
    "1e-400",
    "1_000",
    "+1",
    "0x10",
    "1,5",
    "\u0663",  # a digit to Python, not to JSON
    HUGE,
    f"-{HUGE}",
    f"0.{HUGE}",
    f"{HUGE}e{HUGE}",
    "9" * 5000,  # Python refuses to read that many digits
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "null",
    "None",
    "true",
    "{0}",
    "{",
    "}",
    "{a.b[0]!r:>{w}}",
    "%s%n",
    "$x",
    "[",
    "]",
    "[[]]",
    '"',
    "'",
    "\\",
    "\\ud800",
    '"\\ud800"',
    "\ufeff",
    "\u2028",
    "\u202e",
    "\x00",
    "\x1b[2J",
    "\x85",
    "\r",
    "\n",
    "\t",
    "#",
    "//",
    "=1+1",
    "qid:",
    "1:1:1",
    "sep=;",
    "2026-11-21T14:30:05Z",
    "9999-12-31T23:59:59.999999+23:59",
    "0001-01-01",
    "nDCG@10",
    "../../etc/passwd",
    "q" * 20_000,
]
"""Texts that some reader, formatter, terminal or spreadsheet takes for more than text."""

_RAW = [
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",  # a lone surrogate
    b"\xef\xbb\xbf",
    b"\xf4\x90\x80\x80",  # beyond Unicode
    b"\xc0\x80",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x1a",
    b"\x1f\x8b",
    b"PAR1",
    b"PK\x03\x04",
    b"\xe2\x80\xa8",
]

_ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp037"]

_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**400,
    -(10**400),
    float("inf"),  # written as Infinity, which JSON does not have
    float("nan"),
    [],
    {},
    [[]],
    {"": None},
    [None],
    [1],
    ["d1"],
    {"d1": 1},
    {"from": 1, "to": float("inf")},
    "\ud800",
    *HOSTILE_TEXTS,
]

_TOKEN = re.compile(rb"[^\s,;|\"{}\[\]:()=@]+")


def mutated(data: bytes, steps: list[Step]) -> bytes:
    """Return a file after some steps; it stays below about a megabyte."""
    for change, place, argument in steps:
        data = _CHANGES[change % len(_CHANGES)](data, place, argument)[:_MOST_BYTES]
    return data


def mutated_text(text: str, steps: list[Step]) -> str:
    """Return a text after some steps."""
    changes = [
        _token_replaced,
        _token_renamed,
        _token_swapped,
        _span_deleted,
        _span_repeated,
        _cut,
        _inserted,
    ]
    for change, place, argument in steps:
        raw = text.encode("utf-8", "surrogatepass")
        raw = changes[change % len(changes)](raw, place, argument)[: 1 << 16]
        text = raw.decode("utf-8", "surrogateescape")
    return text


def mutated_tree(value: Any, steps: list[Step]) -> Any:
    """Return a value of dicts and lists after some steps; the given value stays as it is."""
    value = copy.deepcopy(value)
    for change, place, argument in steps:
        if isinstance(value, (dict, list)):
            value = _changed_tree(value, place, argument ^ change)
    return value


# --- bytes -------------------------------------------------------------------------------------


def _span(data: bytes, place: int, argument: int) -> tuple[int, int]:
    start = place * len(data) // (_LARGEST + 1)
    return start, min(len(data), start + 1 + argument % 64)


def _cut(data: bytes, place: int, argument: int) -> bytes:
    return data[: place * (len(data) + 1) // (_LARGEST + 1)]


def _span_deleted(data: bytes, place: int, argument: int) -> bytes:
    start, end = _span(data, place, argument)
    return data[:start] + data[end:]


def _span_repeated(data: bytes, place: int, argument: int) -> bytes:
    start, end = _span(data, place, argument)
    return data[:start] + data[start:end] * (2 + argument // 1024) + data[end:]


def _flipped(data: bytes, place: int, argument: int) -> bytes:
    start, _ = _span(data, place, argument)
    return (
        data[:start]
        + bytes(byte ^ (1 << argument % 8) for byte in data[start : start + 1])
        + data[start + 1 :]
    )


def _overwritten(data: bytes, place: int, argument: int) -> bytes:
    start, _ = _span(data, place, argument)
    return data[:start] + bytes([argument % 256]) + data[start + 1 :]


def _inserted(data: bytes, place: int, argument: int) -> bytes:
    start, _ = _span(data, place, argument)
    return data[:start] + _RAW[argument % len(_RAW)] + data[start:]


def _encoded_otherwise(data: bytes, place: int, argument: int) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(_ENCODINGS[argument % len(_ENCODINGS)], "replace")


def _packed(data: bytes, place: int, argument: int) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return packed if argument % 4 == 0 else _overwritten(packed, place, argument)


# --- lines and tokens --------------------------------------------------------------------------


def _at(items: list[Any], place: int) -> int:
    return place * len(items) // (_LARGEST + 1)


def _line_deleted(data: bytes, place: int, argument: int) -> bytes:
    lines = data.split(b"\n")
    del lines[_at(lines, place)]
    return b"\n".join(lines)


def _line_repeated(data: bytes, place: int, argument: int) -> bytes:
    lines = data.split(b"\n")
    index = _at(lines, place)
    lines[index:index] = [lines[index]] * (1 + argument % 8)
    return b"\n".join(lines)


def _line_swapped(data: bytes, place: int, argument: int) -> bytes:
    lines = data.split(b"\n")
    one, other = _at(lines, place), _at(lines, argument)
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _line_replaced(data: bytes, place: int, argument: int) -> bytes:
    lines = data.split(b"\n")
    lines[_at(lines, place)] = _hostile(argument)
    return b"\n".join(lines)


def _hostile(argument: int) -> bytes:
    return HOSTILE_TEXTS[argument % len(HOSTILE_TEXTS)].encode("utf-8", "surrogatepass")


def _token_replaced(data: bytes, place: int, argument: int) -> bytes:
    tokens = [match.span() for match in _TOKEN.finditer(data)]
    if not tokens:
        return _hostile(argument)
    start, end = tokens[_at(tokens, place)]
    return data[:start] + _hostile(argument) + data[end:]


def _token_renamed(data: bytes, place: int, argument: int) -> bytes:
    """Replace a token wherever it occurs, so that an id stays one id."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return data
    text = _hostile(argument)
    return data.replace(tokens[_at(tokens, place)], text, _most(text))


def _most(text: bytes) -> int:
    """Return how often a text may be inserted: a file of many short tokens would become huge."""
    return 1 + _MOST_BYTES // (1 + len(text))


def _token_swapped(data: bytes, place: int, argument: int) -> bytes:
    tokens = [match.span() for match in _TOKEN.finditer(data)]
    if not tokens:
        return data
    (start, end), (begin, stop) = sorted(
        [tokens[_at(tokens, place)], tokens[_at(tokens, argument)]]
    )
    if end > begin:
        return data
    return data[:start] + data[begin:stop] + data[end:begin] + data[start:end] + data[stop:]


def _column_deleted(data: bytes, place: int, argument: int) -> bytes:
    """Delete the same cell of every line, as a wrong export does."""
    separator = [b",", b"\t", b" ", b";"][argument % 4]
    column = place % 6

    def without(line: bytes) -> bytes:
        cells = line.split(separator)
        return separator.join(cells[:column] + cells[column + 1 :])

    return b"\n".join(map(without, data.split(b"\n")))


def _column_replaced(data: bytes, place: int, argument: int) -> bytes:
    """Replace the same cell of every line but the first."""
    separator = [b",", b"\t", b" ", b";"][place % 4]
    column, text = place // 4 % 6, _hostile(argument)
    first, *rest = data.split(b"\n")

    def replaced(line: bytes) -> bytes:
        cells = line.split(separator)
        return (
            separator.join(cells[:column] + [text] + cells[column + 1 :])
            if len(cells) > column
            else line
        )

    return b"\n".join([first, *map(replaced, rest[: _most(text)])])


# --- JSON --------------------------------------------------------------------------------------

_Change = Callable[[Any, Any, int], None]


def _json_changed(data: bytes, place: int, argument: int) -> bytes:
    """Change one value or key in a JSON document, or in one line of JSON lines."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        index = _at(lines, place)
        try:
            line = json.loads(lines[index])
        except (ValueError, RecursionError):
            return _token_replaced(data, place, argument)
        lines[index] = _dumped(_changed_tree(line, place * 31 % (_LARGEST + 1), argument))
        return b"\n".join(lines)
    return _dumped(_changed_tree(document, place, argument))


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # a whole number too long for Python to write, or too deep
        return b"[" + HUGE.encode() + b"]"


def _changed_tree(document: Any, place: int, argument: int) -> Any:
    root = {"": document}
    places = list(_places(root))
    holder, key = places[_at(places, place)]
    kind, argument = argument % 4, argument // 4
    value = copy.deepcopy(_VALUES[argument % len(_VALUES)])  # or it would end up in itself
    if kind <= 1:
        holder[key] = value
    elif kind == 2:
        del holder[key]
    elif isinstance(holder, dict):
        holder[HOSTILE_TEXTS[argument % len(HOSTILE_TEXTS)]] = holder.pop(key)
    else:
        holder.insert(key, holder[key])
    return root.get("")


def _places(root: Any) -> Any:
    """Yield each holder and key in a tree, which may be deeper than functions may call themselves."""
    pending = [root]
    while pending:
        node = pending.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        yield from ((node, key) for key in keys)
        pending += [node[key] for key in keys if isinstance(node[key], (dict, list))]


def _nested(data: bytes, place: int, argument: int) -> bytes:
    """Nest a value more deeply than Python's parser goes."""
    depth = [20, 2000, 200_000][argument % 3]
    tokens = [match.span() for match in _TOKEN.finditer(data)]
    start, end = tokens[_at(tokens, place)] if tokens else (0, 0)
    opening, closing = [(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")][place % 3]
    return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]


_CHANGES: list[Callable[[bytes, int, int], bytes]] = [
    _json_changed,
    _token_replaced,
    _json_changed,
    _token_replaced,
    _token_renamed,
    _token_renamed,
    _token_swapped,
    _cut,
    _span_deleted,
    _span_repeated,
    _flipped,
    _overwritten,
    _inserted,
    _line_deleted,
    _line_repeated,
    _line_swapped,
    _line_replaced,
    _column_deleted,
    _column_replaced,
    _nested,
    _encoded_otherwise,
    _packed,
]
