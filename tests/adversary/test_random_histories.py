"""Random histories of a baseline keep its promises; ``nox -s histories`` plays 10,000 steps."""

import json
from collections.abc import Callable

import pytest
from promises import Entry, broken_promises
from random_history import History, play

RECORD: Entry = {
    "metrics": {"RR": {"gate": "tolerance(abs=0.01)", "gated": True}},
    "approvals": [],
    "queries": [
        {"id": f"q{number}", "fingerprint": "f", "values": {"RR": 1.0}} for number in range(20)
    ],
}


@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        (0, 50),
        pytest.param(1, 150, marks=pytest.mark.nightly),
        pytest.param(2, 150, marks=pytest.mark.nightly),
        pytest.param(70001, 180, id="approves a mean without a value", marks=pytest.mark.nightly),
    ],
)
def test_the_promises_are_kept(seed: int, steps: int) -> None:
    play(steps, seed)


def lower_a_value(entry: Entry) -> None:
    entry["queries"][3]["values"]["RR"] = 0.99


def loosen_the_gate(entry: Entry) -> None:
    entry["metrics"]["RR"]["gate"] = "tolerance(abs=0.02)"


def forget_the_metric(entry: Entry) -> None:
    entry["metrics"] = {}


@pytest.mark.parametrize("edit", [lower_a_value, loosen_the_gate, forget_the_metric])
def test_a_broken_promise_is_noticed(edit: Callable[[Entry], None]) -> None:
    entry = json.loads(json.dumps(RECORD))
    assert not list(broken_promises(RECORD, entry))
    edit(entry)
    assert list(broken_promises(RECORD, entry))


@pytest.mark.nightly
def test_a_history_reaches_every_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Enough updates write, are refused and are approved that a broken promise would be seen."""
    history = History(tmp_path_factory.mktemp("history"), 7)
    for _ in range(150):
        history.step()
    record = json.loads(history.path.read_text("utf-8"))
    assert record["approvals"]
    assert {"update_while_killed", "tamper", "update_beside_another_session"} <= {*history.played}
