"""JSON lines: one object per event, with a table's columns as keys; or one object per session.

{"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"]}
{"session_id": "s1", "event": 2, "time": 1.5, "query": "camel", "results": ["d3"],
 "selected": "d3"}

{"session": "s1", "start": 0.0, "events": [{"event": 1, "time": 0.5, "query": "cam",
 "results": ["d7", "d3"], "clicks": [{"rank": 2, "start": 2.5, "end": 9.0}]}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.text_files import lines_of, parse_json
from pytest_rankcheck.sessions.log_problems import LogSource, NumberedRow

__all__ = ["FORMAT"]


def read(source: LogSource) -> Iterator[NumberedRow]:
    """Yield the objects, with their lines; invalid lines become problems."""
    for number, line in lines_of(source.path, SessionLogError):
        try:
            yield number, parse_json(line, f"{source.path}:{number}", SessionLogError)
        except json.JSONDecodeError as failure:
            source.problems.add(number, None, "not JSON", f"not JSON: {quoted(failure)}")
        except SessionLogError as error:
            text = str(error).partition(": ")[2]
            source.problems.add(number, None, "not JSON", text)


def _recognises(sample: FileSample) -> bool:
    return sample.begins_object


FORMAT = Format(
    name="jsonl",
    description="one JSON object per line: an event, or a session with its events",
    recognises=_recognises,
    read=read,
    endings=(".jsonl", ".ndjson"),
)
