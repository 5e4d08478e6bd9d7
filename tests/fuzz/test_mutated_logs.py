"""Broken dicts of session logs and of User Behavior Insights, and the profiles of broken files."""

from __future__ import annotations

from typing import Any

import pytest
from bounds import examples, loads_or_refuses
from hypothesis import HealthCheck, given, settings
from mutations import STEPS, Step, mutated, mutated_tree
from samples import SAMPLES, Sample
from test_mutated_objects import is_harmless

from pytest_rankcheck import SessionLog, evaluate_sessions
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.reports.text.log_profile_text import profile_lines
from pytest_rankcheck.sessions.profile.log_profile import LogProfile
from pytest_rankcheck.sessions.profile.log_rules import log_findings

TIME = "2026-11-16T09:00:0{}Z"
INPUTS: dict[str, Any] = {
    "records": [
        {"session_id": "a", "time": TIME.format(1), "results": ["x", "y"], "selected": "y"},
        {"session_id": "a", "time": TIME.format(4), "results": "x|y", "more": {"group": "A"}},
        {"session_id": "b", "events": [{"time": TIME.format(5), "clicks": [{"rank": 1}]}]},
    ],
    "queries": [
        {
            "query_id": "q1",
            "client_id": "ann",
            "timestamp": TIME.format(1),
            "user_query": "hat",
            "query_response_hit_ids": ["a", "b"],
            "query_attributes": {"group": "A", "page": 1},
        },
        {"query_id": "q2", "client_id": "bob", "timestamp": TIME.format(2), "session_id": "s"},
    ],
    "events": [
        {
            "query_id": query_id,
            "action_name": "click",
            "timestamp": TIME.format(3),
            "event_attributes": {"object": {"object_id": "b"}, "position": {"ordinal": 2}},
        }
        for query_id in ("q1", "q2")
    ],
}


def measure(log: SessionLog) -> None:
    evaluate_sessions(log).mean("SessionRR(abandoned=zero)")
    for note in log.notes:
        assert is_harmless(note)


@pytest.mark.parametrize("name", INPUTS)
@given(steps=STEPS)
@settings(max_examples=examples(2))
def test_broken_dicts_are_read_or_refused(name: str, steps: list[Step]) -> None:
    broken = {**INPUTS, name: mutated_tree(INPUTS[name], steps)}
    if isinstance(broken[name], str) or (
        isinstance(broken[name], list) and all(isinstance(each, str) for each in broken[name])
    ):
        return  # the names of files, which messages show as they are given
    for lenient in (True, False):
        with loads_or_refuses():
            if name == "records":
                reading: dict[str, Any] = {"attributes": ["more.group"], "lenient": lenient}
                measure(SessionLog.from_records(broken["records"], **reading))
            else:
                measure(SessionLog.from_ubi(broken["queries"], broken["events"], lenient=lenient))


LOGS = [sample for sample in SAMPLES if sample.kind == "log"]


@pytest.mark.parametrize("sample", LOGS, ids=str)
@given(steps=STEPS)
@settings(
    max_examples=examples(5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_profile_of_a_broken_file(sample: Sample, steps: list[Step], tmp_path) -> None:
    path = tmp_path / sample.mutated
    path.write_bytes(sample.finish(mutated(sample.files[sample.mutated], steps)))
    with loads_or_refuses():
        profile = LogProfile.of(path, {})
        for line in profile_lines(profile):
            assert is_harmless(line)
        for finding in log_findings(profile, LintOptions()):
            str(finding).encode("utf-8")
