"""Mutations of valid files: what editors, exports, crashes and attackers make of them.

A mutation is a list of steps, each three numbers: which change, where, and with what. The same
steps always change the same file in the same way, and a shorter list is a smaller change, so
hypothesis can shrink a failure to the one step that matters.
"""

import copy
import gzip
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

Step = tuple[int, int, int]

_LARGEST = 1 << 16
_MOST_BYTES = 1 << 20
"""What a mutated file may have."""

STEPS = st.lists(
    st.tuples(st.integers(0, 255), st.integers(0, _LARGEST), st.integers(0, _LARGEST)),
    min_size=1,
    max_size=4,
)
"""One to four steps."""

HUGE = "9" * 400

HOSTILE_TEXTS = [
    *("", " ", "0", "-1", "1.5", "1e999", "-1e999", "1e-400", "1_000", "+1", "0x10", "1,5"),
    "\u0663",  # a digit to Python, not to JSON
    *(HUGE, f"-{HUGE}", f"0.{HUGE}", f"{HUGE}e{HUGE}"),
    "9" * 5000,  # Python refuses to read that many digits
    *("nan", "NaN", "inf", "-Infinity", "null", "None", "true"),
    *("{0}", "{", "}", "{a.b[0]!r:>{w}}", "%s%n", "$x", "[", "]", "[[]]", '"', "'", "\\"),
    *("\\ud800", '"\\ud800"', "\ufeff", "\u2028", "\u202e", "\x00", "\x1b[2J", "\x85"),
    *("\r", "\n", "\t", "#", "//", "=1+1", "qid:", "1:1:1"),
    *("2026-11-21T14:30:05Z", "9999-12-31T23:59:59.999999+23:59", "0001-01-01"),
    *("nDCG@10", "../../etc/passwd", "q" * 20_000),
]
"""Texts that some reader, formatter, terminal or spreadsheet takes for more than text."""

_RAW = [
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xc0\x80", b"\r", b"\r\n", b"\n\n", b"\x1a"),
    b"\xed\xa0\x80",  # a lone surrogate
    b"\xf4\x90\x80\x80",  # beyond Unicode
    *(b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\xe2\x80\xa8"),
]

_ENCODINGS = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp037"]

_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**400, -(10**400), float("inf"), float("nan")),
    *([], {}, [[]], {"": None}, [None], [1], ["d1"], {"d1": 1}, {"from": 1, "to": float("inf")}),
    "\ud800",
    *HOSTILE_TEXTS,
]

_TOKEN = re.compile(rb"[^\s,;|\"{}\[\]:()=@]+")


def mutated(data: bytes, steps: list[Step]) -> bytes:
    """Return a file after some steps; it stays below about a megabyte."""
    for change, place, argument in steps:
        made = _CHANGES[change % len(_CHANGES)](data, place / (_LARGEST + 1), argument)
        data = made[:_MOST_BYTES]
    return data


def mutated_text(text: str, steps: list[Step]) -> str:
    """Return a text after some steps."""
    changes = [_token_changed, _spliced, _cut]
    for change, place, argument in steps:
        raw = text.encode("utf-8", "surrogatepass")
        raw = changes[change % len(changes)](raw, place / (_LARGEST + 1), argument)
        text = raw[: 1 << 16].decode("utf-8", "surrogateescape")
    return text


def mutated_tree(value: Any, steps: list[Step]) -> Any:
    """Return a value of dicts and lists after some steps; the given value stays as it is."""
    value = copy.deepcopy(value)
    for change, place, argument in steps:
        if isinstance(value, (dict, list)):
            value = _changed_tree(value, place / (_LARGEST + 1), argument ^ change)
    return value


def _hostile(argument: int) -> bytes:
    return HOSTILE_TEXTS[argument % len(HOSTILE_TEXTS)].encode("utf-8", "surrogatepass")


def _cut(data: bytes, at: float, argument: int) -> bytes:
    return data[: int(at * (len(data) + 1))]


def _spliced(data: bytes, at: float, argument: int) -> bytes:
    """Delete, repeat or overwrite some bytes, or insert others before them."""
    start = int(at * len(data))
    span = data[start : start + 1 + argument % 64]
    made = [b"", span * (2 + argument // 1024), bytes([argument % 256]) + span[1:]]
    made.append(_RAW[argument % len(_RAW)] + span)
    return data[:start] + made[argument // 64 % 4] + data[start + len(span) :]


def _line_changed(data: bytes, at: float, argument: int) -> bytes:
    """Delete, repeat, replace or move a line."""
    lines = data.split(b"\n")
    index = int(at * len(lines))
    line = lines[index]
    made = [[], [line] * (2 + argument % 8), [_hostile(argument // 4)]]
    made.append([lines[argument % len(lines)], line])
    lines[index : index + 1] = made[argument % 4]
    return b"\n".join(lines)


def _token_changed(data: bytes, at: float, argument: int) -> bytes:
    """Replace a token, rename it wherever it occurs, or nest it deeper than parsers go."""
    tokens = [match.span() for match in _TOKEN.finditer(data)]
    kind, argument = argument % 8, argument // 8
    text = _hostile(argument)
    if not tokens:
        return text
    start, end = tokens[int(at * len(tokens))]
    if kind >= 5:  # a short token may occur so often that the file would become huge
        return data.replace(data[start:end], text, 1 + _MOST_BYTES // (1 + len(text)))
    if kind == 0:
        opening, closing = [(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")][argument % 3]
        depth = [20, 2000, 200_000][argument // 3 % 3]
        text = opening * depth + data[start:end] + closing * depth
    return data[:start] + text + data[end:]


def _recoded(data: bytes, at: float, argument: int) -> bytes:
    if argument % 2:
        text = data.decode("utf-8", "replace")
        return text.encode(_ENCODINGS[argument // 2 % len(_ENCODINGS)], "replace")
    packed = gzip.compress(data, 1, mtime=0)
    return packed if argument % 8 == 0 else _spliced(packed, at, argument)


def _json_changed(data: bytes, at: float, argument: int) -> bytes:
    """Change one value or key in a JSON document, or in one line of JSON lines."""
    try:
        return _dumped(_changed_tree(json.loads(data), at, argument))
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        index = int(at * len(lines))
    try:
        line = json.loads(lines[index])
    except (ValueError, RecursionError):
        return _token_changed(data, at, argument)
    lines[index] = _dumped(_changed_tree(line, at * 31 % 1, argument))
    return b"\n".join(lines)


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # a whole number too long for Python to write, or too deep
        return b"[" + HUGE.encode() + b"]"


def _changed_tree(document: Any, at: float, argument: int) -> Any:
    root = {"": document}
    places = list(_places(root))
    holder, key = places[int(at * len(places))]
    kind, argument = argument % 4, argument // 4
    if kind <= 1:  # a copy, or the value would end up in itself
        holder[key] = copy.deepcopy(_VALUES[argument % len(_VALUES)])
    elif kind == 2:
        del holder[key]
    elif isinstance(holder, dict):
        holder[HOSTILE_TEXTS[argument % len(HOSTILE_TEXTS)]] = holder.pop(key)
    else:
        holder.insert(key, holder[key])
    return root.get("")


def _places(root: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each holder and key in a tree, which may be deeper than functions may call themselves."""
    pending = [root]
    while pending:
        node = pending.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        yield from ((node, key) for key in keys)
        pending += [node[key] for key in keys if isinstance(node[key], (dict, list))]


_CHANGES: list[Callable[[bytes, float, int], bytes]] = [
    *(_json_changed, _token_changed, _json_changed, _token_changed),
    *(_line_changed, _spliced, _cut, _recoded),
]
