"""Valid files of every format that is read (in ``files``), small enough to try thousands a second."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_rankcheck import GoldenSet, Record, Run, evaluate
from pytest_rankcheck.baselines.record_file import digest_of
from pytest_rankcheck.metrics.metric_names import Metric

FILES = Path(__file__).parent / "files"
OPENED = {"web": "web.qrels", "lightgbm": "rank.test", "beir": "."}
"""By folder of golden sets in several files, the path that is opened."""


@dataclass(frozen=True)
class Sample:
    """A valid file, or several of which one is mutated."""

    name: str
    kind: str
    """What reads it: a key of ``READERS``."""
    files: Mapping[str, bytes]
    """By path."""
    mutated: str
    opened: str
    finish: Callable[[bytes], bytes] = bytes
    """What is done after the mutation, such as sealing an edited record."""

    def __str__(self) -> str:
        return self.name


GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d2": 1}, "q3": {"d3": 3, "d1": 1}}
TEXTS = {"q1": "red shoes", "q2": "heat", "q3": "\u00fcber"}


@cache
def golden_set() -> GoldenSet:
    """Return the golden set that runs, records and reports are about."""
    attributes = {query: {"locale": "en"} for query in GRADES}
    return GoldenSet.from_dict(GRADES, queries=TEXTS, attributes=attributes, name="web")


def _evaluation(**rankings: list[str]) -> Any:
    usual = {"q1": ["d1", "d2"], "q2": ["d9", "d2"], "q3": ["d3"]}
    return evaluate(Run.from_dict({**usual, **rankings}), golden_set())


@cache
def record() -> str:
    """Return the text of a baseline."""
    gates = {
        Metric.parse("nDCG@10"): "tolerance(abs=0.01)",
        Metric.parse("RR"): "noninferior(margin=0.1)",
    }
    more = [Metric.parse("P@1")]
    return Record.of(_evaluation(), gates, more, attributes=["locale"]).text


def sealed(data: bytes) -> bytes:
    """Return an edited record with the digest of its new content, if it can have one."""
    try:
        entry = json.loads(data)
        entry["digest"] = digest_of(entry)
        return json.dumps(entry).encode("ascii")
    except Exception:
        return data


_JUDGED = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d2"], "relevance": [2, 0, 1]}
COLUMNS: dict[str, dict[str, list[Any]]] = {
    "golden": {**_JUDGED, "query": ["red", "red", "heat"], "locale": ["en"] * 3},
    "run": {**_JUDGED, "score": [2.5, 0.5, 1.0], "rank": [1, 2, 1]},
    "log": {
        "session_id": ["s1", "s1", "s2"],
        "event": [1, 2, 1],
        "time": [1763735405, 1763735409, 1763735500],
        "query": ["cam", "camel", "x"],
        "results": [["d7", "d3"], ["d3"], ["d1"]],
        "selected": [None, "d3", None],
    },
}
"""By what reads it, what is in files of columns."""


def _of_one_file(name: str, kind: str, data: bytes, **more: Any) -> Sample:
    return Sample(name, kind, {name: data}, name, name, **more)


def _samples() -> list[Sample]:
    samples = [
        _of_one_file(path.name, path.parent.name, path.read_bytes())
        for path in sorted(FILES.glob("*/*"))
        if path.is_file()
    ]
    for folder in sorted((FILES / "folders").iterdir()):
        found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        files = {str(path.relative_to(folder)): path.read_bytes() for path in found}
        samples += [Sample(name, "golden", files, name, OPENED[folder.name]) for name in files]
    samples += [
        _of_one_file("baseline.json", "record", record().encode("utf-8")),
        _of_one_file("sealed.json", "record", record().encode("utf-8"), finish=sealed),
    ]
    return samples


SAMPLES = _samples()
