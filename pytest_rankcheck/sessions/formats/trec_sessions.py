"""The XML files of the TREC session tracks, 2011 to 2014: one ``<session>`` after the other.

Each ``<interaction>`` is an event, with its results and its clicks. Times are in seconds; those of
2011 and 2012 are of the day, such as ``09:54:27.674484``. The number of the topic (2011: its title)
and the user are attributes. The ``<currentquery>``, which was never run, is not read::

    <sessiontrack2013>
      <session num="1" starttime="0">
        <topic num="1"><desc>...</desc></topic>
        <interaction num="1" starttime="99.396003">
          <query>US civil war causes</query>
          <results>
            <result rank="1"><clueweb12id>clueweb12-1400wb-08-23845</clueweb12id></result>
          </results>
          <clicked>
            <click num="1" starttime="143.512957" endtime="152.601789"><rank>1</rank></click>
          </clicked>
        </interaction>
        <currentquery starttime="170.432768"><query>...</query></currentquery>
      </session>
    </sessiontrack2013>

A file is untrusted: a document type declaration, which could define entities, is refused. The file
of 2012 has bare ampersands, so those that begin no entity of XML are taken for text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.json_rows import layouts_of_objects
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.sessions.log_problems import LogSource

__all__ = ["FORMAT"]

_BLOCK = 1 << 18
_ROOT = "sessiontrack"
_DOCUMENT = re.compile(r"clueweb\d*id|docno|docid")
_MISSING = ("", "na", "null")
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
_LONGEST_ENTITY = 12
_DAY = 86_400.0

Object = dict[str, object]


def read(source: LogSource) -> Table:
    """Read a file; each session is a row.

    Raises:
        SessionLogError: the file is not XML, or XML of another kind.
    """
    source.problems.times_are_seconds = True
    lines: list[int] = []

    def batches(*_: object) -> Iterator[Batch]:
        parser = _Parser(source, lines)
        with failures_named(source.path, SessionLogError), opened(source.path) as file:
            is_end, rest = False, b""
            while not is_end:
                block = file.read(_BLOCK)
                is_end, block = not block, rest + block
                cut = -1 if is_end else block.rfind(b"&", max(0, len(block) - _LONGEST_ENTITY))
                block, rest = (block, b"") if cut < 0 else (block[:cut], block[cut:])
                parser.feed(_BARE.sub(b"&amp;", block), is_end=is_end)
                found = parser.taken()
                last = len(lines)
                yield from layouts_of_objects(range(last - len(found) + 1, last + 1), found)
        if parser.unused:
            sessions = plural(parser.unused, "session")
            source.problems.notes.append(f"{sessions} without an interaction ignored")

    return Table(["session", "events"], Numbering(str(source.path), lines=lines), batches)


class _Parser:
    """Collects the sessions of a file that is fed in blocks."""

    def __init__(self, source: LogSource, lines: list[int]) -> None:
        self.unused = 0
        """How many sessions have no interaction."""
        self._path = source.path
        self._lines = lines
        self._sessions: list[Mapping[str, object]] = []
        self._texts: list[str] = []
        self._is_inside = False
        self._session: Object = {}
        self._line = 0
        self._events: list[Object] = []
        self._event: Object | None = None
        self._results: dict[str, str | None] = {}
        self._clicks: list[Object] = []
        self._rank = ""
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._texts.append
        parser.StartDoctypeDeclHandler = self._refuse_declaration

    def feed(self, block: bytes, *, is_end: bool) -> None:
        """Parse the next bytes.

        Raises:
            SessionLogError: they are not XML, or not of a session track.
        """
        try:
            self._parser.Parse(block, is_end)
        except SessionLogError:
            raise
        except expat.ExpatError as failure:
            reason = expat.errors.messages.get(failure.code, "not well-formed")
            raise SessionLogError(
                f"{self._path}:{failure.lineno}: not XML: {reason}, column {failure.offset + 1}"
            ) from None
        except (LookupError, ValueError) as failure:  # of the encoding in the declaration
            raise SessionLogError(f"{self._path}: not XML that can be read: {failure}") from None

    def taken(self) -> list[Mapping[str, object]]:
        """Return the sessions that are complete, once."""
        found, self._sessions = self._sessions, []
        return found

    def _refuse_declaration(self, *_: object) -> None:
        raise SessionLogError(
            f"{self._where()}: the file has a document type declaration, which could define "
            "entities without end and is not read; remove it"
        )

    def _where(self) -> str:
        return f"{self._path}:{self._parser.CurrentLineNumber}"

    def _start(self, tag: str, marks: dict[str, str]) -> None:
        self._texts.clear()
        if not self._is_inside:
            if not tag.startswith(_ROOT):
                raise SessionLogError(
                    f"{self._where()}: XML of another kind: its root is '{quoted(tag, 60)}'; only "
                    f"files of the TREC session tracks, such as <{_ROOT}2014>, are read"
                )
            self._is_inside = True
        elif tag == "session":
            self._line = self._parser.CurrentLineNumber
            self._events = []
            self._session = {"session": marks.get("num"), "start": _seconds(marks.get("starttime"))}
            if "userid" in marks:
                self._session["user"] = marks["userid"]
        elif tag == "topic" and "num" in marks:
            self._session["topic"] = marks["num"]
        elif tag == "interaction":
            self._event = {"event": marks.get("num"), "time": self._time(marks)}
            self._results, self._clicks = {}, []
        elif tag == "result":
            self._rank = marks.get("rank", str(len(self._results) + 1))
            self._results.setdefault(self._rank, None)
        elif tag == "click":
            self._clicks.append({"start": self._time(marks)})

    def _time(self, marks: dict[str, str]) -> object:
        """Return the start of an interaction or a click; a time of day may be of the next day."""
        text = marks.get("starttime")
        seconds, start = _seconds(text), self._session.get("start")
        if text and ":" in text and isinstance(seconds, float) and isinstance(start, float):
            return seconds + _DAY * (seconds < start)
        return seconds

    def _end(self, tag: str) -> None:
        written = "".join(self._texts)
        text = written.strip()
        if tag == "title" and self._event is None:
            self._session.setdefault("topic", text)
        elif tag == "interaction" and self._event is not None:
            self._end_event(self._event)
        elif tag == "session":
            self._end_session()
        elif self._event is None:
            return
        elif tag == "query":
            self._event["query"] = written
        elif _DOCUMENT.fullmatch(tag):
            self._results[self._rank] = text
        elif tag == "url":
            self._results[self._rank] = self._results.get(self._rank) or text
        elif tag == "rank" and self._clicks:
            self._clicks[-1]["rank"] = text

    def _end_event(self, event: Object) -> None:
        """Add an event. A click names the rank of a result, which need not be its place."""
        places = {rank: place for place, rank in enumerate(self._results, start=1)}
        for click in self._clicks:
            rank = str(click.get("rank", ""))
            click["rank"] = places.get(rank, f"{rank}, which no result has")
        self._events.append(event | {"results": list(self._results.values())})
        self._events[-1]["clicks"] = self._clicks
        self._event = None

    def _end_session(self) -> None:
        if not self._events:
            self.unused += 1
            return
        self._sessions.append(self._session | {"events": self._events})
        self._lines.append(self._line)


def _seconds(text: str | None) -> object:
    """Return a time in seconds: a number, or hours, minutes and seconds; None for a missing one.

    Anything else is returned as it is, for the reader of the log to refuse.
    """
    if text is None or text.strip().lower() in _MISSING:
        return None
    try:
        numbers = [float(part) for part in text.split(":")]
    except ValueError:
        return text
    return float(sum(number * 60**power for power, number in enumerate(reversed(numbers))))


FORMAT = Format(
    name="trec-xml",
    description="an XML file of the TREC session tracks",
    recognises=lambda sample: sample.line.lstrip().startswith(("<?xml", f"<{_ROOT}")),
    read=read,
)
