"""The text of a baseline file: JSON to be reviewed, and every way in which it can be broken.

It has a header, then one line per metric, approval and query; unchanged results give the same
bytes. ``record.schema.json`` beside this module describes it. Anyone can edit the file, so its
content is checked by the types of the fields that it fills.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.files.packed_files import first_bytes
from pytest_rankcheck.files.whole_files import readable_json

FORMAT_NAME = "pytest-rankcheck baseline"
FORMAT_VERSION = 4

_BROKEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises if something is missing, of another type or out of range."""
_POINTER = "version https://git-lfs"
_DAMAGES = {
    r"(?m)^<{7}(?: |\r?$)": "unresolved merge conflict: two branches have changed this baseline",
    r"\0": "this is damaged: it has a NUL byte",
}
"""Lines that only a damaged file has, and what they mean."""


def text_of_content(content: Mapping[str, Any]) -> str:
    """Return the text of a file with this content; the digest is added."""
    named = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "digest": "", **content}
    named["digest"] = digest_of(named)
    parts = []
    for key, value in named.items():
        if key == "metrics":
            lines = (f"{readable_json(name)}: {readable_json(value[name])}" for name in value)
            parts.append(f'"{key}": {{{_lines(lines)}}}')
        elif isinstance(value, list):
            parts.append(f'"{key}": [{_lines(map(readable_json, value))}]')
        else:
            parts.append(f"{readable_json(key)}: {readable_json(value)}")
    body = ",\n  ".join(parts)
    return f"{{\n  {body}\n}}\n"


def _lines(lines: Iterable[str]) -> str:
    body = ",\n    ".join(lines)
    return f"\n    {body}\n  " if body else ""


@contextmanager
def content_of_text(text: str, path: str, remedy: Callable[[], object]) -> Iterator[dict[str, Any]]:
    """Yield the content of a file; errors in the block are reported with the file's name.

    Args:
        text: the text.
        path: the file as messages name it.
        remedy: returns what messages say to do; it is asked if something is wrong.

    Raises:
        BaselineError: it is not a baseline, one of another format version, or was edited by hand.
    """

    def refused(where: str, why: str) -> BaselineError:
        return BaselineError(f"{where}: {why}. The file is left as it is\n  {remedy()}")

    for pattern, why in _DAMAGES.items():
        damage = re.search(pattern, text)
        if damage is not None:
            line = text.count("\n", 0, damage.start()) + 1
            raise refused(f"{path}:{line}", why)
    if text.startswith(_POINTER):
        why = "this is a Git LFS pointer, not the record; keep baselines out of LFS"
        raise refused(path, why)
    try:
        content = _parsed(text)
        version = content["version"]
        if type(version) is not int or version < 1:
            raise ValueError(f"its version is {quoted(version)}")
        if version > FORMAT_VERSION:
            why = f"{path}: {_other_version(version)}. The file is left as it is"
            raise BaselineError(f"{why}; upgrade pytest-rankcheck")
        if version < FORMAT_VERSION:
            raise refused(path, _other_version(version))
        yield content
        if content["digest"] != digest_of(content):
            raise EditedError(
                f"its digest is {quoted(content['digest'], 40)}, but that of its content is another"
            )
    except BaselineError:
        raise
    except EditedError as error:
        why = f"this baseline was edited by hand, or combined by a merge: {error}"
        raise refused(path, why) from None
    except json.JSONDecodeError as error:
        cut = "" if text.rstrip().endswith("}") else "; the file was cut short"
        why = f"this is not a baseline: not JSON: {error.msg}{cut}"
        raise refused(f"{path}:{error.lineno}", why) from None
    except _BROKEN as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else quoted(error, 200)
        raise refused(path, f"this is not a baseline: {why}") from None


class EditedError(Exception):
    """The content of a baseline contradicts itself."""


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip():
        raise ValueError("it is empty")
    content = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(content, dict) or content.get("format") != FORMAT_NAME:
        raise ValueError(f'it has no "format": "{FORMAT_NAME}"')
    return content


def _refuse_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not a value that a baseline can have")


def _other_version(version: int) -> str:
    return (
        f"the baseline has format version {version}, this pytest-rankcheck reads {FORMAT_VERSION}"
    )


def digest_of(content: Mapping[str, object]) -> str:
    """Return the digest of a file's content, whatever its layout: 16 hexadecimal digits."""
    import hashlib  # loads OpenSSL, for those who have baselines

    digested = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(digested, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def with_line_feeds(text: str) -> str:
    """Return a text with the line ends that we write, even if git or an editor changed them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def is_foreign(text: str) -> bool:
    """Return whether a text is JSON of somebody else; a broken file may be ours."""
    if FORMAT_NAME in text:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_record(path: Path) -> bool:
    """Return whether a file says that it is a baseline; otherwise it may be a run."""
    with suppress(BaselineError):
        return f'"format": "{FORMAT_NAME}"'.encode() in first_bytes(path, 200, BaselineError)
    return False


# --- fields as JSON, and back --------------------------------------------------------------------

_LARGEST_COUNT = 2**53
"""The largest whole number up to which floats are exact; no count is larger."""

_NAMES = {str: "a text", bool: "true or false", dict: "an object", list: "an array"}
"""The types that JSON has too, with their names in messages."""


def encoded(value: Any) -> Any:
    """Return a value in JSON's types; fields with their default are left out."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {
            field.name: encoded(getattr(value, field.name))
            for field in fields(value)
            if getattr(value, field.name) != _default_of(field)
        }
    if isinstance(value, Mapping):
        return {name: encoded(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [encoded(each) for each in value]
    return value


def decoded(kind: Any, data: Any) -> Any:
    """Return a value of this type from what `encoded` made of it.

    Raises:
        ValueError: the data is of another type.
        KeyError: a field without a default is missing.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return data
    if isinstance(kind, UnionType):
        if (data is None and NoneType in arguments) or (isinstance(data, str) and str in arguments):
            return data
        others = [each for each in arguments if each not in (NoneType, str)]
        return decoded(others[0] if others else str, data)
    if origin is tuple:
        entries = _checked(data, list)
        if arguments[0] in _NAMES and set(map(type, entries)) <= {arguments[0]}:
            return tuple(entries)  # at once: a record has hundreds of thousands of texts
        return tuple(decoded(arguments[0], each) for each in entries)
    if origin is not None:
        entry = _checked(data, dict)
        return {name: decoded(arguments[1], each) for name, each in entry.items()}
    if hasattr(kind, "from_dict"):
        return kind.from_dict(_checked(data, dict))
    if is_dataclass(kind):
        return decoded_fields(kind, _checked(data, dict))
    if kind is float:  # a whole number, such as a count, stays whole
        is_finite = type(data) in (int, float) and abs(data) <= sys.float_info.max
        return data if is_finite else refuse(data, "a finite number")
    if kind is int:
        is_count = type(data) is int and 0 <= data <= _LARGEST_COUNT
        return data if is_count else refuse(data, "a whole number from 0 on")
    return _checked(data, kind)


def decoded_fields(kind: Any, entry: Mapping[str, Any], **given: object) -> Any:
    """Return a dataclass from the fields in an object, except those that are given.

    Raises:
        ValueError: a field is of another type.
        KeyError: a field without a default is missing.
    """
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in given and (field.name in entry or _default_of(field) is MISSING):
            given[field.name] = decoded(hints[field.name], entry[field.name])
    return kind(**given)


def refuse(value: object, expected: str) -> Any:
    """Refuse a value.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"'{quoted(value, 60)}' is not {expected}")


def _checked(data: Any, kind: type) -> Any:
    return data if isinstance(data, kind) else refuse(data, _NAMES[kind])


def _default_of(field: Any) -> Any:
    if field.default_factory is MISSING:
        return field.default
    return field.default_factory()
