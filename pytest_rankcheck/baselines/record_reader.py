"""Reading a baseline file: every way in which it can be broken gets its message."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.data_file import DataFiles, DataSummary, checked_sha256
from pytest_rankcheck.baselines.data_lines import queries_of
from pytest_rankcheck.baselines.entry_values import (
    as_cluster,
    as_count,
    as_list,
    as_mapping,
    as_means,
    as_number,
    as_number_or_nan,
    as_text,
    as_text_or_none,
)
from pytest_rankcheck.baselines.record_contents import (
    FORMAT_NAME,
    FORMAT_VERSION,
    TOP,
    RecordContents,
    RecordedMetric,
    SinceApproval,
    digest_of,
)
from pytest_rankcheck.baselines.recorded_clusters import RecordedClusters
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries, RecordedQuery
from pytest_rankcheck.errors import BaselineError, ConfigurationError, MetricError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = ["contents_from_text"]

_CONFLICT = re.compile(r"^<{7}(?: |\r?$)", re.MULTILINE)
_MEND = (
    "The file is left as it is. Restore it from version control, or delete it and run "
    "pytest --snapshot-update to record a new one, which a reviewer will see"
)


def contents_from_text(text: str, path: str, data: DataFiles | None = None) -> RecordContents:
    """Return what the text of a baseline file says.

    Args:
        text: the text.
        path: the file as messages name it.
        data: where the data file of a large record is.

    Raises:
        BaselineError: it is not a baseline, or one of a newer version; ``path`` is named.
        MissingDataError: it names a data file that is missing.
    """
    entry = _parsed(text, path)
    try:
        record = _record(entry, path, data)
        _refuse_edited(entry, record, path)
        return record
    except BaselineError:
        raise
    except KeyError as missing:
        _broken(path, f"it lacks {missing}")
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        _broken(path, quoted(error, 200))


def _parsed(text: str, path: str) -> dict[str, Any]:
    def not_finite(token: str) -> NoReturn:
        line = next(
            (number for number, line in enumerate(text.splitlines(), 1) if token in line), 1
        )
        raise BaselineError(
            f"{path}:{line}: {token} is not a value that a baseline can have. {_MEND}"
        )

    if not text.strip():
        _broken(path, "it is empty")
    _refuse_conflict(text, path)
    try:
        entry = json.loads(text, parse_constant=not_finite)
    except BaselineError:
        raise
    except json.JSONDecodeError as failure:
        cut = "" if text.rstrip().endswith("}") else "; the file was cut short"
        _broken(path, f"not JSON: {failure.msg}{cut}", failure.lineno)
    except (RecursionError, ValueError) as failure:
        _broken(path, f"not JSON: {failure}")
    if not isinstance(entry, dict) or entry.get("format") != FORMAT_NAME:
        _broken(path, f'it has no "format": "{FORMAT_NAME}"')
    version = entry.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _broken(path, f"its version is {quoted(version)}")
    if version < FORMAT_VERSION:
        raise BaselineError(
            f"{path}: the baseline has format version {version}, this pytest-rankcheck reads "
            f"{FORMAT_VERSION} only. The file is left as it is. To record it anew, check out the "
            "commit that it was approved at, delete the file there, run pytest --snapshot-update, "
            "and commit the new file"
        )
    if version > FORMAT_VERSION:
        raise BaselineError(
            f"{path}: the baseline has format version {version}, this pytest-rankcheck reads up to "
            f"{FORMAT_VERSION}; upgrade pytest-rankcheck. The file is left as it is"
        )
    return entry


def _refuse_conflict(text: str, path: str) -> None:
    """Refuse a file in which git has left a conflict for a person to resolve."""
    marker = _CONFLICT.search(text)
    if marker is not None:
        line = text.count("\n", 0, marker.start()) + 1
        raise BaselineError(
            f"{path}:{line}: unresolved merge conflict: two branches have changed this baseline. "
            f"Run python -m pytest_rankcheck resolve {path}"
        )


def _record(entry: Mapping[str, Any], path: str, data: DataFiles | None) -> RecordContents:
    golden = as_mapping(entry["golden_set"])
    metrics = {str(_metric(name, path)): detail for name, detail in entry["metrics"].items()}
    depth = entry["depth"]
    details = sorted(metrics.items(), key=lambda metric: (not metric[1]["gated"], metric[0]))
    names = [name for name, _ in details]
    if "data" in entry:
        queries = _queries_of_data(entry, names, path, data)
    else:
        queries = _queries_of_lines(entry["queries"], names, path)
    return RecordContents(
        golden_name=as_text(golden["name"]),
        golden_queries=as_count(golden["queries"]),
        golden_judgments=as_count(golden["judgments"]),
        golden_fingerprint=as_text(golden["fingerprint"]),
        depth=None if depth is None else as_count(depth),
        conventions=Conventions.from_dict(entry["conventions"]),
        kept={name: _kept(detail) for name, detail in details},
        queries=queries,
        approvals=tuple(_approval(approval) for approval in as_list(entry["approvals"])),
        slices={
            attribute: _counts(values)
            for attribute, values in as_mapping(entry.get("slices", {})).items()
        },
        kept_depth=as_count(entry.get("top", TOP)),
        test=as_text(entry["test"]),
        golden_scale=as_number(golden["scale"]),
        since_approval=_since_approval(entry["since_approval"]),
        world={name: as_text(value) for name, value in entry.get("world", {}).items()},
        retired=_approval(entry["retired"]) if "retired" in entry else None,
        clusters_kept=_clusters_kept(entry["clusters"]) if "clusters" in entry else None,
        is_merged=bool(entry.get("merged", False)),
        stability=_stability(entry["stability"]) if "stability" in entry else (),
    )


def _stability(entry: object) -> tuple[StabilityLimits, ...]:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

    try:
        return tuple(StabilityLimits.from_dict(as_mapping(each)) for each in as_list(entry))
    except ConfigurationError as error:
        raise ValueError(f"the limits on its rankings: {error}") from None


def _clusters_kept(entry: Mapping[str, Any]) -> RecordedClusters:
    key = entry.get("key")
    return RecordedClusters(as_text(entry["by"]), None if key is None else as_text(key))


def _kept(detail: Mapping[str, Any]) -> RecordedMetric:
    noise = detail["noise"]
    return RecordedMetric(
        bool(detail["gated"]),
        as_number_or_nan(detail["best"]),
        None if noise is None else as_number(noise),
        as_text_or_none(detail["gate"]),
        bool(detail.get("lower_is_better", False)),
    )


def _since_approval(entry: Mapping[str, Any]) -> SinceApproval:
    return SinceApproval(
        queries=as_count(entry["queries"]),
        counted=_counts(entry["counted"]),
        added=as_count(entry["added"]),
        removed=as_count(entry["removed"]),
        edited=as_count(entry["edited"]),
        uncounted=_counts(entry["uncounted"]),
        mean_change={
            name: as_number_or_nan(change) for name, change in entry["mean_change"].items()
        },
    )


def _counts(entry: object) -> dict[str, int]:
    return {name: as_count(count) for name, count in as_mapping(entry).items()}


def _refuse_edited(entry: Mapping[str, Any], record: RecordContents, path: str) -> None:
    """Refuse a record that something else than an update has written."""
    problem = None
    for name, detail in entry["metrics"].items():
        mean = record.mean(Metric.parse(name))
        written_mean = as_number_or_nan(detail["mean"])
        are_both_nan = math.isnan(mean) and math.isnan(written_mean)
        if not are_both_nan and not abs(mean - written_mean) <= SLACK:
            problem = f"its mean of {name} is {written_mean:g}, but its queries give {mean:.6f}"
            break
    else:
        if entry["digest"] != digest_of(entry):
            problem = f"its digest is {quoted(entry['digest'], 40)}, its content's is another"
    if problem:
        raise BaselineError(
            f"{path}: this baseline was edited by hand, or put together by a merge: {problem}. "
            f"{_MEND}"
        )


def _queries_of_data(
    entry: Mapping[str, Any], names: Sequence[str], path: str, data: DataFiles | None
) -> RecordedQueries:
    """Return the queries in the data file of a record."""
    if "queries" in entry:
        raise ValueError("it has both queries and a data file")
    if data is None:
        raise ValueError("its queries are in a data file; read it with Record.load(path)")
    summary = DataSummary(
        checked_sha256(entry["data"]["sha256"]),
        as_count(entry["data"]["lines"]),
        tuple(map(as_text, as_list(entry["data"]["columns"]))),
    )
    queries = queries_of(data.text(summary, path), summary.columns, names)
    if len(queries) != summary.lines:
        raise ValueError(f"its data file has {len(queries):,} lines, not {summary.lines:,}")
    return queries


def _queries_of_lines(
    lines: Sequence[Mapping[str, Any]], names: Sequence[str], path: str
) -> RecordedQueries:
    """Return the queries in the lines of a record in one file."""
    canonical: dict[str, str] = {}
    queries = {}
    for line in as_list(lines):
        query_id = as_text(line["id"])
        if query_id in queries:
            _broken(path, f"duplicate query '{quoted(query_id)}'")
        for name in line["values"]:
            if name not in canonical:
                canonical[name] = str(Metric.parse(name))
        try:
            queries[query_id] = _query_line(line, names, canonical)
        except ValueError as error:
            raise ValueError(f"query '{quoted(query_id)}': {error}") from None
    order = [name for name in canonical.values() if name in names]
    return RecordedQueries.of(queries, dict.fromkeys((*order, *names)))


def _query_line(
    line: Mapping[str, Any], names: Sequence[str], canonical: Mapping[str, str]
) -> RecordedQuery:
    values = {canonical[name]: value for name, value in line["values"].items()}
    for name in names:
        try:
            as_number_or_nan(values[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    weight = line.get("weight")
    if weight is not None and not as_number(weight) > 0:
        raise ValueError(f"its weight is {weight}, not above 0")
    slices = {
        attribute: tuple(map(as_text, as_list(values)))
        for attribute, values in as_mapping(line.get("slices", {})).items()
    }
    top = tuple(map(as_text, as_list(line["top"])))
    cluster = as_cluster(line["cluster"]) if "cluster" in line else None
    return RecordedQuery(as_text(line["fingerprint"]), values, top, weight, slices, cluster)


def _metric(name: str, path: str) -> Metric:
    """Return a metric of the record, which may be one that a project registers."""
    try:
        return Metric.parse(name)
    except MetricError as failure:
        why = str(failure).partition("; known metrics")[0]
        raise BaselineError(
            f"{path}: its metric '{quoted(name)}' cannot be read: {quoted(why, 200)}. If it is one "
            "of yours, import the module that registers it with @metric, in a conftest for "
            "example. The file is left as it is"
        ) from None


def _approval(entry: Mapping[str, Any]) -> Approval:
    reason = as_text(entry["reason"])
    if not reason.strip():
        raise ValueError(f"the approval of {quoted(entry['date'])} has no reason")
    return Approval(
        reason=reason,
        date=as_text(entry["date"]),
        commit=as_text_or_none(entry["commit"]),
        author=as_text_or_none(entry["author"]),
        fall=as_means(entry["fall"]),
        change=as_text_or_none(entry.get("change")),
        raised=as_means(entry.get("raised", {})),
    )


def _broken(path: str, why: str, line: int | None = None) -> NoReturn:
    where = path if line is None else f"{path}:{line}"
    raise BaselineError(f"{where}: this is not a baseline: {why}. {_MEND}") from None
