"""The lint rules of session logs: what would mislead a gate on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.lint.lint_rule import LintFinding, Rule, RuleResult, rule
from pytest_rankcheck.sessions.log_cells import is_placeholder
from pytest_rankcheck.sessions.log_notes import PAUSE, large_sessions, ranks_seem_shifted
from pytest_rankcheck.sessions.profile.log_profile import LogProfile

__all__ = ["log_findings", "log_rule_names", "log_rules"]

_FEW = 20
"""Fewer sessions may all have a single event by chance."""
_LARGE = 100
"""A session with fewer events is ordinary."""
_TIMES = 20
"""So many times the events of the median session are those of a bot."""
_MOST = 0.5
"""If sessions have a larger share of all events, most of the log would be dropped with them."""
_SHARE = 0.05
"""A smaller share of sessions or events moves no mean."""


@rule("error")
def refused_log(profile: LogProfile) -> RuleResult | None:
    """A log that is refused as it is read."""
    if not profile.refusals:
        return None
    return RuleResult(
        query_ids=(),
        what="; then: ".join(text.replace("\n", ". ") for text in profile.refusals),
        why="Tests cannot measure it",
        remedy="write what the message says, in rankcheck_session_reading or in the call",
    )


@rule("error")
def no_sessions(profile: LogProfile) -> RuleResult | None:
    """Rows without a column of sessions."""
    if "session" in profile.rows.roles or not profile.rows.count or profile.is_ubi:
        return None
    users = profile.rows.users
    remedy = "name the column with columns={'session': ...}"
    if users:
        column = quoted(users[0])
        remedy = f"if '{column}' is who searched, write session='{column}', session_gap='30min'"
    return RuleResult(
        query_ids=(),
        what="no column has session ids",
        why="Which events belong together is unknown",
        remedy=remedy,
    )


@rule("error")
def placeholder_sessions(profile: LogProfile) -> RuleResult | None:
    """Session ids such as null or unknown, which join the events of many people."""
    counts = profile.rows.sessions
    found = {name: counts[name] for name in counts if is_placeholder(name)}
    if not found:
        return None
    shown = ", ".join(f"'{quoted(name)}' ({plural(size, 'event')})" for name, size in found.items())
    return RuleResult(
        query_ids=(),
        what=f"placeholders instead of session ids: {shown}",
        why="They join the events of many people to one session",
        remedy="correct them, or read with lenient=True, which sets these rows aside",
    )


@rule("error")
def duplicate_rows(profile: LogProfile) -> RuleResult | None:
    """Rows that were delivered more than once."""
    rows = profile.rows
    is_settled = profile.is_ubi or profile.reading.get("duplicates") in ("drop", "keep")
    if not rows.duplicates or is_settled:
        return None
    return RuleResult(
        query_ids=(),
        what=f"{plural(rows.duplicates, 'row')} of {rows.count:,} "
        f"({rows.duplicates / rows.count:.1%}) are identical to an earlier one",
        why="Events that were delivered twice count twice",
        remedy='read the log with duplicates="drop", which drops and counts them',
    )


@rule("warning")
def dominant_sessions(profile: LogProfile) -> RuleResult | None:
    """Sessions with far more events than others: bots, tests or a constant id."""
    sizes = profile.session_sizes
    if not len(sizes):
        return None
    is_large = (sizes >= _LARGE) & (sizes >= _TIMES * np.median(sizes))
    is_large[large_sessions(sizes)] = True
    large, share = int(is_large.sum()), float(sizes[is_large].sum() / sizes.sum())
    if share < _SHARE:
        return None
    least = int(sizes[is_large].min())
    ids = [name for name, _ in profile.largest_sessions(min(large, 3))]
    return RuleResult(
        query_ids=(),
        what=f"{plural(large, 'session has', 'sessions have')} {least:,} events or more, "
        f"{share:.0%} of all events: {listed(ids)}",
        why="They are probably bots, tests, or one id for many people, and they move every mean",
        remedy="find out whose ids these are, and correct them"
        if share > _MOST
        else f"correct the ids, or read with drop_sessions_over={least - 1}",
    )


@rule("warning")
def long_pauses(profile: LogProfile) -> RuleResult | None:
    """Sessions with pauses, which are probably several sessions of one client."""
    pauses = [pause for pause in profile.pauses if pause.seconds > PAUSE]
    paused = len({pause.session_id for pause in pauses})
    sessions = len(profile.session_sizes)
    if not sessions or paused / sessions < _SHARE:
        return None
    return RuleResult(
        query_ids=(),
        what=f"{paused:,} of {plural(sessions, 'session')} have a pause of more than "
        f"{PAUSE / 60:g} minutes",
        why="Their ids are probably those of clients, and times and successes of several visits "
        "are taken together",
        remedy=f'read with session_gap="30min", which makes {sessions + len(pauses):,} sessions',
    )


@rule("warning")
def sessions_of_one_event(profile: LogProfile) -> RuleResult | None:
    """Sessions that all have a single event: the ids may be those of requests."""
    sizes = profile.session_sizes
    if len(sizes) < _FEW or (sizes > 1).any():
        return None
    return RuleResult(
        query_ids=(),
        what=f"each of the {plural(len(sizes), 'session')} has a single event",
        why="If the ids are those of requests, metrics of sessions are those of single searches",
        remedy="check which column has the session ids",
    )


@rule("error")
def no_selections(profile: LogProfile) -> RuleResult | None:
    """A log in which nothing is selected."""
    if profile.log is None or len(profile.selected_ranks):
        return None
    return RuleResult(
        query_ids=(),
        what="no event has a selection",
        why="Every session counts as abandoned",
        remedy="name the column of selections: columns={'selected': ...}",
    )


@rule("warning")
def unselected_first_rank(profile: LogProfile) -> RuleResult | None:
    """Ranks that are read with the wrong first rank: the first result is never selected."""
    ranks = profile.selected_ranks
    given = profile.reading.get("first_rank")
    if given != 0 or not ranks_seem_shifted(ranks):
        return None
    second = float((ranks == 2).mean())
    return RuleResult(
        query_ids=(),
        what="with first_rank=0, the first result is never selected, and the second in "
        f"{second:.0%} of {plural(len(ranks), 'selection')}",
        why="Ranks probably count from 1, so that all are too high by 1",
        remedy="read with first_rank=1",
    )


@rule("warning")
def repeated_users(profile: LogProfile) -> RuleResult | None:
    """Users with several sessions, which are not independent."""
    found = profile.log.repeated_users if profile.log else ()
    if not found:
        return None
    first = found[0]
    return RuleResult(
        query_ids=(),
        what=f"'{quoted(first.attribute)}' has {first.users:,} values in "
        f"{plural(first.sessions, 'session')}; one of them has {first.most:,}",
        why="Sessions of one user are not independent: intervals are too narrow, and gates block "
        "innocent changes",
        remedy=f'set rankcheck_session_clusters = "{quoted(first.attribute)}", or '
        f'evaluate_sessions(log, clustered="{quoted(first.attribute)}")',
    )


@rule("warning")
def skipped_sessions(profile: LogProfile) -> RuleResult | None:
    """A lenient reading that sets aside a large share of the sessions."""
    aside = profile.log.set_aside if profile.log else None
    if not aside or profile.log is None or profile.refusals:
        return None
    share = aside.sessions / (aside.sessions + len(profile.log))
    if share <= _SHARE:
        return None
    return RuleResult(
        query_ids=(),
        what=f"{aside.sessions:,} sessions ({share:.0%}) are set aside: {aside}",
        why="The sessions that are left may be different",
        remedy="correct the rows, or their causes",
    )


_RULES: Sequence[Rule[LogProfile]] = (
    refused_log,
    no_sessions,
    placeholder_sessions,
    duplicate_rows,
    no_selections,
    dominant_sessions,
    long_pauses,
    sessions_of_one_event,
    unselected_first_rank,
    repeated_users,
    skipped_sessions,
)


def log_rules() -> Sequence[Rule[LogProfile]]:
    """Return the rules of session logs, in the order in which they are listed."""
    return _RULES


def log_rule_names() -> Sequence[str]:
    """Return the names of the rules of session logs."""
    return [each.name for each in _RULES]


def log_findings(profile: LogProfile, options: LintOptions) -> list[LintFinding]:
    """Return the findings of all rules on a log, errors first.

    The levels in the options override those of the rules.
    """
    findings = []
    for each in _RULES:
        level = options.levels.get(each.name, each.level)
        result = None if level == "ignore" else each.look(profile)
        if result is not None:
            words = result.what, result.why, result.remedy
            findings.append(LintFinding((), *words, rule=each.name, level=level))
    return sorted(findings, key=lambda finding: finding.level != "error")
