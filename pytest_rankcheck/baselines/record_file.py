"""The text of a baseline file: JSON to be reviewed, and every way in which it can be broken.

A header, then one line a metric, an approval and a query; unchanged results are the same bytes.
``record.schema.json`` beside this module describes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.files.whole_files import readable_json

FORMAT_NAME = "pytest-rankcheck baseline"
FORMAT_VERSION = 4

_BROKEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises where something is missing, of another type or out of range."""
_CONFLICT = re.compile(r"^<{7}(?: |\r?$)", re.MULTILINE)


def text_of_content(content: Mapping[str, Any]) -> str:
    """Return the text of a file with this content; the digest is added."""
    named = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "digest": "", **content}
    named["digest"] = digest_of(named)
    parts = []
    for key, value in named.items():
        if key == "metrics":
            lines = [
                f"{readable_json(name)}: {readable_json(each)}" for name, each in value.items()
            ]
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
def content_of_text(text: str, path: str, remedy: str) -> Iterator[dict[str, Any]]:
    """Give the content of a file; what the block refuses in it is reported with the file's name.

    Args:
        text: the text.
        path: the file as messages name it.
        remedy: what messages say to do.

    Raises:
        BaselineError: it is not a baseline, one of another format version, or was edited by hand.
    """
    remedy = f"The file is left as it is; {remedy}"
    marker = _CONFLICT.search(text)
    if marker is not None:
        line = text.count("\n", 0, marker.start()) + 1
        raise BaselineError(
            f"{path}:{line}: unresolved merge conflict: two branches have changed this baseline. "
            f"{remedy}"
        )
    try:
        content = _parsed(text)
        _refuse_version(content["version"], path)
        yield content
        if content["digest"] != digest_of(content):
            raise EditedError(
                f"its digest is {quoted(content['digest'], 40)}, its content's is another"
            )
    except BaselineError:
        raise
    except EditedError as error:
        raise BaselineError(
            f"{path}: this baseline was edited by hand, or put together by a merge: {error}. "
            f"{remedy}"
        ) from None
    except json.JSONDecodeError as error:
        cut = "" if text.rstrip().endswith("}") else "; the file was cut short"
        raise BaselineError(
            f"{path}:{error.lineno}: this is not a baseline: not JSON: {error.msg}{cut}. {remedy}"
        ) from None
    except _BROKEN as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else quoted(error, 200)
        raise BaselineError(f"{path}: this is not a baseline: {why}. {remedy}") from None


class EditedError(Exception):
    """The content of a baseline does not agree with itself."""


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip():
        raise ValueError("it is empty")
    content = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(content, dict) or content.get("format") != FORMAT_NAME:
        raise ValueError(f'it has no "format": "{FORMAT_NAME}"')
    return content


def _refuse_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not a value that a baseline can have")


def _refuse_version(version: object, path: str) -> None:
    """Refuse another format version.

    Raises:
        BaselineError: an older or a newer version.
        ValueError: no version.
    """
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {quoted(version)}")
    if version != FORMAT_VERSION:
        to_do = (
            "upgrade pytest-rankcheck. The file is left as it is"
            if version > FORMAT_VERSION
            else "the file is left as it is. Record it anew: pytest TEST --rankcheck-approve "
            f'"a baseline of format {FORMAT_VERSION}"'
        )
        raise BaselineError(
            f"{path}: the baseline has format version {version}, this pytest-rankcheck reads "
            f"{FORMAT_VERSION}; {to_do}"
        )


def digest_of(content: Mapping[str, object]) -> str:
    """Return the digest of what a file says, not of how it is laid out: 16 hexadecimal digits."""
    import hashlib  # loads OpenSSL, for those who have baselines

    digested = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(digested, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
