"""Parts of a session log, evaluated one by one and merged, are measured like the whole log."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    GoldenSet,
    Metric,
    Run,
    RunError,
    SessionEvaluation,
    SessionLog,
    SessionLogError,
    evaluate,
    evaluate_part,
    evaluate_sessions,
)
from pytest_rankcheck.metrics.metric_registry import definitions

Event = dict[str, Any]


def events(sessions: int = 9, seed: int = 1) -> list[Event]:
    draw = random.Random(seed)
    found = []
    for number in range(sessions):
        for event in range(1, draw.randrange(2, 5)):
            shown = draw.sample([f"d{d}" for d in range(12)], 5)
            found.append(
                {
                    "session": f"s{number}",
                    "event": event,
                    "time": 1.7e9 + 1000.0 * number + event,
                    "query": f"text {draw.randrange(3)}",
                    "results": shown,
                    "selected_rank": draw.choice([None, 1, 2, 5]),
                    "user": f"u{number % 4}",
                    "topic": f"t{number % 2}",
                }
            )
    return found


EVENTS = events()
JUDGMENTS = GoldenSet.from_dict(
    {f"t{t}": {f"d{d}": (d + t) % 3 for d in range(12)} for t in range(2)}
)
METRICS = [
    Metric(f"{entry.name}{'(abandoned=exclude)' if required else ''}{at}")
    for entry in definitions().values()
    if entry.unit == "session"
    for required in [any(each.is_required for each in entry.parameters.values())]
    for at in {"cutoff": ["@3", ""], "recall": ["@0.5"], None: [""]}[entry.at]
]


def evaluated(some: Sequence[Event], **options: Any) -> SessionEvaluation:
    log = SessionLog.from_records(some, first_rank=1, name=options.pop("name", "part"))
    return evaluate_sessions(log, JUDGMENTS, judged_by="topic", **options)


WHOLE = evaluated(EVENTS)


def values(evaluation: Evaluation) -> dict[str, dict[str, bytes]]:
    """Return the bits of each session's value: sessions may be in another order."""
    return {
        str(metric): {
            session: value.tobytes()
            for session, value in zip(evaluation.query_ids, evaluation.values(metric), strict=True)
        }
        for metric in METRICS
    }


def test_there_are_many_metrics() -> None:
    assert len(METRICS) > 8
    assert any("sDCG" in str(metric) for metric in METRICS)


@given(data=st.data())
def test_any_division_into_whole_sessions_gives_the_same_bits(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4), label="parts")
    numbers = st.lists(st.integers(0, count - 1), min_size=1, max_size=2, unique=True)
    owners = {each: data.draw(numbers, label=each) for each in WHOLE.query_ids}
    parts = []
    for number in data.draw(st.permutations(range(count)), label="order"):
        own = [event for event in EVENTS if number in owners[event["session"]]]
        if own:
            parts.append(pickle.loads(pickle.dumps(evaluated(own))))
    merged = SessionEvaluation.merge(parts, expected=WHOLE.query_ids)
    assert isinstance(merged, SessionEvaluation)
    assert values(merged) == values(WHOLE)
    assert merged.unit == "session"
    assert merged.mean("SuccessRate") == WHOLE.mean("SuccessRate")
    for session in WHOLE.query_ids:
        assert merged.ranking(session) == WHOLE.ranking(session)
        assert merged.log.attributes(session) == WHOLE.log.attributes(session)
        assert merged.log.final_query(session) == WHOLE.log.final_query(session)
    assert merged.log.event_count == WHOLE.log.event_count
    copies = sum(map(len, owners.values())) - len(owners)
    assert any("repeated in another part" in note for note in merged.notes) == (copies > 0)


def parts_of(count: int = 3, **options: Any) -> list[SessionEvaluation]:
    return [
        evaluated(
            [each for each in EVENTS if int(each["session"][1:]) % count == number],
            name=f"part {number}",
            **options,
        )
        for number in range(count)
    ]


def test_clusters_and_slices_go_on() -> None:
    merged = SessionEvaluation.merge(parts_of(clustered="user"), name="week")
    whole = evaluated(EVENTS, clustered="user")
    assert merged.name == "week"
    assert merged.interval("SuccessRate") == pytest.approx(whole.interval("SuccessRate"))
    assert merged.slice_counts("topic") == whole.slice_counts("topic")


def test_a_session_that_was_cut_is_an_error_that_names_it() -> None:
    cut = next(place for place, each in enumerate(EVENTS) if each["event"] == 2)
    parts = [evaluated(EVENTS[:cut], name="one"), evaluated(EVENTS[cut:], name="two")]
    session = EVENTS[cut]["session"]
    message = rf"session '{session}' has different events in part 1 \('one'\) and part 2 \('two'\) "
    with pytest.raises(SessionLogError, match=message + r"\(1 such session in all\).*by session"):
        SessionEvaluation.merge(parts)


def test_an_attribute_that_changes_within_a_session_of_one_part_is_not_an_attribute() -> None:
    changed = [dict(each) for each in EVENTS]
    own = [each for each in changed if each["session"] == "s1"]
    assert len(own) > 1
    own[0]["user"] = "another"
    whole = evaluated(changed)
    parts = [
        evaluated([each for each in changed if (each["session"] == "s1") == chosen])
        for chosen in (True, False)
    ]
    merged = SessionEvaluation.merge(parts)
    assert "user" in parts[1].log.attribute_names
    assert merged.log.attribute_names == whole.log.attribute_names == ("topic",)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"reading": True},
            "different reading options: 'first_rank=1' and 'first_rank=1, drop_sessions_over=50';",
        ),
        ({"clusters": "user"}, "different clusters: 'None' and 'user';"),
        ({"judged": False}, "different judgments: '[0-9a-f]+' and '';"),
        ({"version": "0.0.1"}, r"different versions of pytest-rankcheck: '.+' and '0\.0\.1';"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(other: dict[str, Any], message: str) -> None:
    parts = parts_of()
    own = [each for each in EVENTS if int(each["session"][1:]) % 3 == 1]
    if "clusters" in other:
        parts[1] = evaluated(own, clustered="user")
    elif "judged" in other:
        parts[1] = evaluate_sessions(SessionLog.from_records(own, first_rank=1))
    elif "version" in other:
        parts[1]._version = "0.0.1"
    else:
        log = SessionLog.from_records(own, first_rank=1, drop_sessions_over=50)
        parts[1] = evaluate_sessions(log, JUDGMENTS, judged_by="topic")
    with pytest.raises(SessionLogError, match=message):
        SessionEvaluation.merge(parts)


def test_parts_that_all_have_another_version_are_refused() -> None:
    parts = parts_of()
    for part in parts:
        part._version = "0.0.1"
    with pytest.raises(SessionLogError, match=r"was made by pytest-rankcheck 0\.0\.1, but this is"):
        SessionEvaluation.merge(parts)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (3, "3 different parts were expected, but there are 2: part 0, part 1, part 0"),
        (["s0", "s2"], "1 expected session is in no part: s2"),
    ],
)
def test_parts_that_are_missing_are_an_error(expected: Any, message: str) -> None:
    first, second, _ = parts_of()
    with pytest.raises(SessionLogError, match=message):
        SessionEvaluation.merge([first, second, first], expected=expected)


def test_anything_but_parts_of_a_log_is_refused() -> None:
    golden = GoldenSet.from_dict({"q": {"d": 1}})
    run = Run.from_dict({"q": ["d"]})
    parts = parts_of()
    with pytest.raises(ConfigurationError, match="is not the evaluation of a part of a log"):
        SessionEvaluation.merge([*parts, evaluate_part(run, golden)])
    with pytest.raises(ConfigurationError, match="is not the evaluation of a part of a log"):
        SessionEvaluation.merge([*parts, parts[0].part([0], "some")])
    with pytest.raises(ConfigurationError, match="golden is for parts of a run"):
        SessionEvaluation.merge(parts, JUDGMENTS)
    with pytest.raises(ConfigurationError, match="is not a part"):
        Evaluation.merge([evaluate(run, golden)], golden)


def test_a_folder_of_parts_is_one_log(tmp_path: Path) -> None:
    for number in range(3):
        below = tmp_path / "week" / f"date=2026-11-2{number}"
        below.mkdir(parents=True)
        own = [each for each in EVENTS if int(each["session"][1:]) % 3 == number]
        text = "".join(f"{json.dumps(each)}\n" for each in own)
        (below / "part-0.jsonl").write_text(text)
        (below / "_SUCCESS").write_text("")
    log = SessionLog.load(tmp_path / "week", first_rank=1)
    assert log.name == "week"
    evaluation = evaluate_sessions(log, JUDGMENTS, judged_by="topic")
    assert values(evaluation) == values(WHOLE)
    assert evaluation.slice_counts("date") == {
        "2026-11-20": 3,
        "2026-11-21": 3,
        "2026-11-22": 3,
    }
    (tmp_path / "empty").mkdir()
    with pytest.raises(SessionLogError, match="empty has no parts"):
        SessionLog.load(tmp_path / "empty")
    (tmp_path / "week" / "part-1.jsonl").write_text("")
    with pytest.raises(SessionLogError, match=r"part-1\.jsonl is empty: was it written to the end"):
        SessionLog.load(tmp_path / "week", first_rank=1)


def test_a_folder_of_csv_parts(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"part-{number}.csv").write_text(
            f"session,event,query,selected_rank\ns{number},1,shoes,{number + 1}\nt{number},1,x,\n"
        )
    log = SessionLog.load(tmp_path, first_rank=1)
    assert sorted(log.session_ids) == ["s0", "s1", "t0", "t1"]
    assert evaluate_sessions(log).mean("SuccessRate") == 0.5


def test_files_without_rows_are_named(tmp_path: Path) -> None:
    parts = []
    for week in ("one", "two"):
        folder = tmp_path / week
        folder.mkdir()
        (folder / "part-0.csv").write_text(
            f"session,event,query,selected_rank\n{week},1,shoes,1\nt{week},1,x,\n"
        )
        (folder / "part-1.csv").write_text("session,event,query,selected_rank\n")
        parts.append(evaluate_sessions(SessionLog.load(folder, first_rank=1)))
    notes = [
        f"1 file has no rows (of 2 files): {tmp_path / week / 'part-1.csv'}"
        for week in ("one", "two")
    ]
    assert [each for part in parts for each in part.notes if "no rows" in each] == notes
    merged = SessionEvaluation.merge(parts)
    assert [each for each in merged.notes if "no rows" in each] == notes


def test_no_parts_of_a_log() -> None:
    with pytest.raises(
        RunError, match=r"no parts to merge; give the parts from evaluate_sessions\(log\)"
    ):
        SessionEvaluation.merge([])
