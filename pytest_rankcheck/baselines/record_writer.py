"""The text of a record's file: a header, then one line a metric, an approval and a query.

Written to be reviewed in a pull request: unchanged results are the same bytes. The lines of the
queries of a large record are in a file of their own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.data_lines import columns_of, lines_text
from pytest_rankcheck.baselines.record_contents import (
    BEST_DECIMALS,
    FORMAT_NAME,
    FORMAT_VERSION,
    TOP,
    RecordContents,
    SinceApproval,
    as_decimal,
    digest_of,
)
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["RecordTexts", "record_text", "record_texts", "write_record", "write_texts"]


@dataclass(frozen=True, slots=True)
class RecordTexts:
    """The files of a record."""

    header: str
    """The text of the file that is reviewed; the only one of a small record."""
    data: bytes | None = None
    """The lines of the queries of a large record."""


def record_texts(record: RecordContents) -> RecordTexts:
    """Return the files of a record: two if it has at least `COMPACT_FROM` queries."""
    if len(record.queries) < data_file.COMPACT_FROM:
        return RecordTexts(record_text(record))
    data = lines_text(record.lines).encode("utf-8")
    summary = {
        "sha256": data_file.sha256_of(data),
        "lines": len(record.queries),
        "columns": columns_of(record.lines),
    }
    return RecordTexts(_with_digest({**_header(record), "data": summary}), data)


def write_texts(path: Path, texts: RecordTexts, write_header: Callable[[], object]) -> None:
    """Write the files of a record; the caller holds the lock of the folder.

    The lines of a large record are written first. The header that names them counts from the
    moment when it replaces the old one; only then are the old lines removed. So a process that is
    killed leaves the old record or the new one.

    Raises:
        OSError: a file cannot be written.
    """
    if texts.data is not None:
        data_file.write_data(path, texts.data)
    write_header()
    data_file.remove_superseded(path)


def write_record(path: Path, record: RecordContents) -> None:
    """Write a record; the caller holds the lock of the folder: see `write_texts`."""
    texts = record_texts(record)
    write_texts(path, texts, lambda: write_whole(path, texts.header))


def record_text(record: RecordContents) -> str:
    """Return the text of a record in one file."""
    return _with_digest({**_header(record), "queries": list(_query_entries(record.lines))})


def _with_digest(entry: dict[str, object]) -> str:
    """Return the text of a file, with the digest of what it says."""
    entry["digest"] = digest_of(entry)
    parts = []
    for key, value in entry.items():
        if isinstance(value, dict) and key == "metrics":
            lines = [
                f"{readable_json(name)}: {readable_json(each)}" for name, each in value.items()
            ]
            parts.append(_lines(key, ("{", "}"), lines))
        elif isinstance(value, list):
            parts.append(_lines(key, ("[", "]"), list(map(readable_json, value))))
        else:
            parts.append(f"{readable_json(key)}: {readable_json(value)}")
    body = ",\n  ".join(parts)
    return f"{{\n  {body}\n}}\n"


def _header(record: RecordContents) -> dict[str, object]:
    """Return what a record says except for its queries, as it comes back from a file."""
    header: dict[str, object] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "digest": "",
        "test": record.test,
        "golden_set": {
            "name": record.golden_name,
            "queries": record.golden_queries,
            "judgments": record.golden_judgments,
            "scale": record.golden_scale,
            "fingerprint": record.golden_fingerprint,
        },
        "depth": record.depth,
        "conventions": record.conventions.to_dict(),
        "slices": {name: dict(values) for name, values in record.slices.items()},
    }
    if record.clusters_kept is not None:
        kept = record.clusters_kept
        header["clusters"] = {"by": kept.by, **({"key": kept.key} if kept.key else {})}
    if record.kept_depth != TOP:
        header["top"] = record.kept_depth
    if record.since_approval is not None:
        header["since_approval"] = _since_approval(record.since_approval)
    if record.world:
        header["world"] = dict(sorted(record.world.items()))
    if record.retired is not None:
        header["retired"] = record.retired.to_dict()
    if record.is_merged:
        header["merged"] = True
    if record.stability:
        header["stability"] = [limits.to_dict() for limits in record.stability]
    header["metrics"] = {name: _metric_entry(record, name) for name in record.metrics}
    header["approvals"] = [approval.to_dict() for approval in record.approvals]
    read_back: dict[str, object] = json.loads(readable_json(header))
    return read_back


def _metric_entry(record: RecordContents, name: str) -> dict[str, object]:
    kept = record.kept[name]
    entry: dict[str, object] = {
        "mean": as_decimal(record.mean(Metric.parse(name))),
        "gated": kept.gated,
        "best": as_decimal(kept.best, BEST_DECIMALS),
        "noise": kept.noise,
        "counted": record.counted(Metric.parse(name)),
        "gate": kept.gate,
    }
    if kept.lower_is_better:
        entry["lower_is_better"] = True
    return entry


def _since_approval(changes: SinceApproval) -> dict[str, object]:
    return {
        "queries": changes.queries,
        "counted": dict(sorted(changes.counted.items())),
        "added": changes.added,
        "removed": changes.removed,
        "edited": changes.edited,
        "uncounted": dict(sorted(changes.uncounted.items())),
        "mean_change": {
            name: as_decimal(change) for name, change in sorted(changes.mean_change.items())
        },
    }


def _query_entries(queries: RecordedQueries) -> Iterator[dict[str, object]]:
    columns = [
        [None if math.isnan(value) else value for value in column.tolist()]
        for column in queries.values_of.values()
    ]
    weights = None if queries.weights is None else queries.weights.tolist()
    rows = zip(queries.ids, queries.fingerprints, queries.tops, strict=True)
    for place, (query_id, fingerprint, top) in enumerate(rows):
        entry: dict[str, object] = {
            "id": query_id,
            "fingerprint": fingerprint,
            "values": {
                name: column[place] for name, column in zip(queries.values_of, columns, strict=True)
            },
            "top": list(top),
        }
        if weights is not None:
            entry["weight"] = weights[place]
        if queries.slices is not None and queries.slices[place]:
            entry["slices"] = {name: list(each) for name, each in queries.slices[place].items()}
        if queries.clusters is not None:
            entry["cluster"] = queries.clusters[place]
        yield entry


def _lines(key: str, brackets: tuple[str, str], lines: Sequence[str]) -> str:
    """Return a key whose value has one line per item."""
    opening, closing = brackets
    if not lines:
        return f'"{key}": {opening}{closing}'
    body = ",\n    ".join(lines)
    return f'"{key}": {opening}\n    {body}\n  {closing}'
