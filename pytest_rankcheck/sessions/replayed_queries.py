"""Replaying a log: search states become queries, and the selected documents their judgments.

A propensity is how likely a user looked at a rank; it corrects the position bias of a log.
Users select results that they look at and find good. They look at results further down less often,
so these are selected less often than they deserve. Each selection is weighted by one over the
propensity of its rank (inverse propensity scoring: Joachims, Swaminathan and Schnabel, Unbiased
learning-to-rank with biased feedback, WSDM 2017, section 4). Means are self-normalised (Swaminathan
and Joachims, The self-normalized estimator for counterfactual learning, NIPS 2015), and weights are
clipped (Strehl, Langford, Li and Kakade, Learning from logged implicit exploration data, NIPS
2010).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted
from pytest_rankcheck.files.plain_values import finite_number
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.log_replay import MAX_UNSEEN, Clipped, Replay
from pytest_rankcheck.golden.query import REPLAY, WEIGHT, Query
from pytest_rankcheck.golden.reranking_candidates import Candidates
from pytest_rankcheck.sessions.log_contents import (
    LogContents,
    final_events,
    ordered_selections,
)

Propensity = str | Mapping[int, float] | Sequence[float]
"""``"power(eta)"``, a table ``{rank: propensity}``, or the propensities from rank 1 on."""

CLIP = 0.05
"""Smaller propensities are raised to this, so no selection weighs more than 20."""

_POWER = re.compile(r"power\(\s*([0-9.eE+-]+)\s*\)")
_LONGEST = 160
"""A longer text of a table is replaced by its digest."""

_CLUSTER = "session"
"""The query attribute with the id of its session."""

States = Literal["last", "all", "prefixes"]
"""Which states are replayed: the one with the final selection, all with a selection, or all up to
the final selection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Which states of a log are replayed, and how; see `SessionLog.to_golden_set`."""

    states: States = "last"
    propensity: Propensity | None = None
    clip: float | None = None
    uncorrected: bool = False
    max_unseen: float = MAX_UNSEEN

    def __post_init__(self) -> None:
        if self.clip is not None and self.propensity is None:
            raise ConfigurationError(
                'clip= has no effect without a propensity; give propensity="power(1)", or a table'
            )

    def replay(self, propensities: FloatArray) -> Replay:
        """Return the description of the replay for the golden set.

        Args:
            propensities: ``[K]`` the propensities of the selections; ignored without a propensity.
        """
        if self.propensity is None:
            return Replay(uncorrected=self.uncorrected, max_unseen=float(self.max_unseen))
        clip = CLIP if self.clip is None else float(self.clip)
        weights, is_clipped = 1 / propensities, propensities < clip
        share = float(weights[is_clipped].sum() / weights.sum()) if len(weights) else 0.0
        return Replay(
            propensity=propensity_text(self.propensity),
            clip=clip,
            clipped=Clipped(int(is_clipped.sum()), len(propensities), share),
            max_unseen=float(self.max_unseen),
        )


@dataclass(frozen=True, slots=True)
class _Replayed:
    """A query of a replay."""

    id: str
    place: int
    """The event whose results are its candidates."""
    judged_by: int
    """The event whose selections judge it."""
    grades: Mapping[int, float]
    """The grades of these selections, by rank."""


def replayed_queries(
    log: LogContents, options: ReplayOptions, name: str, cluster_by: str | None = None
) -> Contents:
    """Return the queries, candidates and judgments of a replay.

    The independent units are the sessions, or the values of the attribute ``cluster_by``.

    Raises:
        SessionLogError: the log has no selections, or the results shown are unknown.
        ConfigurationError: the propensity is invalid.
    """
    replayed = list(_replayed(log, options, name))
    ranks = np.array([rank for state in replayed for rank in state.grades], dtype=np.int64)
    is_weighted = options.propensity is not None
    given = options.propensity
    propensities = np.ones(len(ranks)) if given is None else propensities_of(ranks, given)
    replay = options.replay(propensities)
    weights = (1.0 / np.maximum(propensities, replay.clip or 0.0)).tolist()
    units = None if cluster_by is None else log.units_by(cluster_by)
    builder, shown = ContentsBuilder(), list[tuple[str, str]]()
    sessions = log.events.column("session")
    for number, state in enumerate(replayed):
        session = int(sessions[state.place])
        attributes = {**log.attributes[session], _CLUSTER: log.session_ids[session]}
        if cluster_by is not None and units is not None:
            attributes[cluster_by] = units[session]
        if is_weighted:  # then each query has one selection
            attributes[WEIGHT] = weights[number]
        attributes[REPLAY] = replay.text
        builder.queries[state.id] = Query(state.id, log.queries[state.place], attributes)
        shown += [(state.id, doc_id) for doc_id in dict.fromkeys(log.results[state.place] or ())]
        builder.collected.add_all(state.id, _judgments(log, state))
    builder.candidates = Candidates.of(shown, {})
    return builder.built(
        cluster_by=cluster_by or _CLUSTER, weight_by=WEIGHT if is_weighted else None
    )


def _judgments(log: LogContents, state: _Replayed) -> dict[str, float]:
    """Return the grade of each selected document; the highest, if it was shown at several ranks."""
    shown = log.results[state.judged_by] or ()
    judged: dict[str, float] = {}
    for rank, grade in state.grades.items():
        doc_id = shown[rank - 1]
        judged[doc_id] = max(grade, judged.get(doc_id, 0.0))
    return judged


def _replayed(log: LogContents, options: ReplayOptions, name: str) -> Iterator[_Replayed]:
    """Yield the queries; with weights, each selection becomes a query of its own."""
    final = final_events(log)
    sessions = log.events.column("session")
    ids = state_ids(log)
    chosen = log.events.selections if options.states == "all" else ordered_selections(log)
    # A rank that was selected several times counts once, with its highest grade.
    chosen = chosen.assign(grade=chosen.groupby(["event", "rank"])["grade"].transform("max"))
    if options.states == "all":
        chosen = chosen.drop_duplicates(["event", "rank"])
    else:
        chosen = chosen.drop_duplicates("event", keep="last")
    by_event: dict[int, dict[int, float]] = defaultdict(dict)
    for event, rank, grade in chosen[["event", "rank", "grade"]].itertuples(index=False):
        by_event[event][rank] = grade
    for place in _places(log, options, final, name):
        judged_by = int(final[sessions[place]]) if options.states == "prefixes" else place
        grades = by_event[judged_by]
        if options.propensity is None or len(grades) == 1:
            yield _Replayed(ids[place], place, judged_by, grades)
        else:
            for rank, grade in grades.items():
                yield _Replayed(f"{ids[place]}/{rank}", place, judged_by, {rank: grade})


def _places(log: LogContents, options: ReplayOptions, final: IntArray, name: str) -> Sequence[int]:
    """Return the events to replay.

    Raises:
        SessionLogError: the log has no selections, or the results shown are unknown.
    """
    if options.states == "prefixes":
        chosen = np.flatnonzero(np.arange(len(log.events)) <= final[log.events.column("session")])
    elif options.states == "last":
        chosen = final[final >= 0]
    else:
        chosen = np.unique(log.events.selections["event"])
    if not len(chosen):
        raise SessionLogError(
            f"session log '{quoted(name)}' has no selections, so there is nothing to replay"
        )
    frame = log.events.frame.iloc[chosen]
    unknown = frame[frame["results"].isna()]
    if len(unknown):
        session, row = log.session_ids[unknown["session"].iat[0]], unknown["position"].iat[0]
        raise SessionLogError(
            f"session log '{quoted(name)}': the results shown are unknown, first in session "
            f"'{quoted(session)}', row {row}; a replay needs their ids (the column results)"
        )
    places: list[int] = chosen.tolist()
    return places


def state_ids(log: LogContents) -> Sequence[str]:
    """Return the query id of each event, ``session.event``, from its session and its index.

    If the log has no indexes that are whole numbers, the 1-based place in the session is used.
    """
    index = log.events.column("event")
    is_whole = bool((np.isfinite(index) & (index == np.floor(index))).all())
    numbers = index.astype(np.int64) if is_whole else log.places
    pairs = zip(log.events.column("session").tolist(), numbers.tolist(), strict=True)
    return [f"{log.session_ids[session]}.{number}" for session, number in pairs]


# --- propensities -----------------------------------------------------------------------------


def propensities_of(ranks: IntArray, propensity: Propensity) -> FloatArray:
    """Return the propensity of each of these ranks, ``[K]``.

    Raises:
        ConfigurationError: the propensity is invalid, or the table lacks a rank.
    """
    if isinstance(propensity, str):
        return np.asarray(ranks.astype(np.float64) ** -_exponent(propensity))
    table = _table(propensity)
    absent = sorted(set(ranks.tolist()) - set(table))
    if absent:
        raise ConfigurationError(
            f"the table of propensities lacks rank {absent[0]}, which occurs in the log; "
            "add it, or cut the log"
        )
    return np.array([table[rank] for rank in ranks.tolist()], dtype=np.float64)


def propensity_text(propensity: Propensity) -> str:
    """Return a propensity as records and messages show it; the same for the same numbers.

    Raises:
        ConfigurationError: the propensity is invalid.
    """
    if isinstance(propensity, str):
        return f"power({_exponent(propensity):g})"
    table = _table(propensity)
    text = f"{{{', '.join(f'{rank}: {table[rank]:.6g}' for rank in sorted(table))}}}"
    if len(text) <= _LONGEST:
        return text
    import hashlib  # loads OpenSSL, so only when needed

    digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
    return f"a table of {len(table)} ranks ({digest})"


def _exponent(propensity: str) -> float:
    """Return eta of ``power(eta)``."""
    match = _POWER.fullmatch(propensity.strip())
    exponent = finite_number(match[1]) if match else None
    if exponent is None or exponent < 0:
        raise _invalid(propensity)
    return exponent


def _invalid(propensity: object) -> ConfigurationError:
    return ConfigurationError(
        f"propensity={quoted(repr(propensity), 60)} is invalid; give power(1), power(0.5), ..., a "
        "table {rank: propensity}, or the propensities from rank 1 on"
    )


def _table(propensity: Mapping[int, float] | Sequence[float]) -> Mapping[int, float]:
    if not isinstance(propensity, (Mapping, Sequence)):
        raise _invalid(propensity)
    rows = propensity.items() if isinstance(propensity, Mapping) else enumerate(propensity, start=1)
    table = dict(rows)
    for rank, chance in table.items():
        if not (is_number(chance) and 0 < chance <= 1):
            raise ConfigurationError(
                f"the propensity of rank {quoted(rank)} is {quoted(chance)}; it must be above 0 "
                "and at most 1"
            )
    return {rank: float(chance) for rank, chance in table.items()}
