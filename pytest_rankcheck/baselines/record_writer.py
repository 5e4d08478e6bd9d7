"""The text of a record's file: a header, then one line a metric, an approval and a query.

Written to be reviewed in a pull request: unchanged results are the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_rankcheck.baselines.record_contents import (
    BEST_DECIMALS,
    FORMAT_NAME,
    FORMAT_VERSION,
    TOP,
    RecordContents,
    RecordedQuery,
    SinceApproval,
    as_decimal,
    digest_of,
)
from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["record_text"]


def record_text(record: RecordContents) -> str:
    """Return the text of a record's file, with the digest of what it says."""
    return _text(record, digest_of(json.loads(_text(record, ""))))


def _text(record: RecordContents, digest: str) -> str:
    header: dict[str, object] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "digest": digest,
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
    parts = [f"{readable_json(key)}: {readable_json(value)}" for key, value in header.items()]
    parts.append(
        _lines("metrics", ("{", "}"), [_metric_line(record, name) for name in record.metrics])
    )
    parts.append(
        _lines("approvals", ("[", "]"), [readable_json(a.to_dict()) for a in record.approvals])
    )
    parts.append(
        _lines("queries", ("[", "]"), [_query_line(*item) for item in record.queries.items()])
    )
    body = ",\n  ".join(parts)
    return f"{{\n  {body}\n}}\n"


def _metric_line(record: RecordContents, name: str) -> str:
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
    return f"{readable_json(name)}: {readable_json(entry)}"


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


def _query_line(query_id: str, line: RecordedQuery) -> str:
    entry: dict[str, object] = {
        "id": query_id,
        "fingerprint": line.fingerprint,
        "values": dict(line.values),
        "top": list(line.top),
    }
    if line.weight is not None:
        entry["weight"] = line.weight
    if line.slices:
        entry["slices"] = {attribute: list(values) for attribute, values in line.slices.items()}
    return readable_json(entry)


def _lines(key: str, brackets: tuple[str, str], lines: Sequence[str]) -> str:
    """Return a key whose value has one line per item."""
    opening, closing = brackets
    if not lines:
        return f'"{key}": {opening}{closing}'
    body = ",\n    ".join(lines)
    return f'"{key}": {opening}\n    {body}\n  {closing}'
