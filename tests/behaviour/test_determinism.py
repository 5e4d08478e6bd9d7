"""A ranker answers the same: each condition broken by a ranker that breaks it."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Query,
    RankerError,
    RunError,
    assert_deterministic,
)
from pytest_rankcheck.behaviour import repeated_ranker
from pytest_rankcheck.rankers import batch, model, scorer
from pytest_rankcheck.reports.findings import Note, Topic
from tests.behaviour import faulty_rankers as faulty

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 1, "e": 0, "f": 0} for n in range(24)},
    {f"q{n}": f"text {n}" for n in range(24)},
    name="web",
)
NINE = GOLDEN.subset([f"q{n}" for n in range(9)])
FEW = GOLDEN.subset(["q1", "q2", "q3"])
MODULE = "tests.behaviour.faulty_rankers"


def failure_of(ranker: object, golden: GoldenSet = NINE, **how: Any) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_deterministic(ranker, golden, **how)
    return str(failure.value)


def cause(text: str) -> str:
    return text.partition("\n")[0].rpartition("deterministic: ")[2]


def constant(text: str) -> list[str]:
    return [text, "x", "y"]


# --- under which condition ---------------------------------------------------------------------


def test_a_ranker_that_draws_is_found_by_asking_again() -> None:
    calls = itertools.count()

    def draws(text: str) -> list[str]:
        turn = next(calls) // 9 % 2
        return ["b", "a"] if text in ("text 2", "text 7") and turn else ["a", "b"]

    text = failure_of(draws)
    assert cause(text) == "asked again"
    assert "  asked again       2 of 9 queries ranked differently (time 2, time 3)" in text
    assert "  order of queries  not checked: answers already differ" in text
    assert text.endswith(
        "  the queries that differ most\n"
        '    q2 "text 2"   time 2, RBO 0.900\n'
        "      first  1 a   2 b\n"
        "      then   1 b   2 a\n"
        '    q7 "text 7"   time 2, RBO 0.900\n'
        "      first  1 a   2 b\n"
        "      then   1 b   2 a"
    )


def test_the_query_that_differs_most_comes_first_and_from_where_it_differs() -> None:
    """RBO weights the top: of 9 documents, q3 swaps the last two, and q6 the first two."""
    calls = itertools.count()
    docs = [f"d{place}" for place in range(1, 10)]
    other = {"text 3": [*docs[:7], "d9", "d8"], "text 6": ["d2", "d1", *docs[2:]]}

    def draws(text: str) -> list[str]:
        return other.get(text, docs) if next(calls) // 9 % 2 else docs

    lines = failure_of(draws).splitlines()
    first, second = (n for n, line in enumerate(lines) if line.startswith("    q"))
    assert lines[first].startswith('    q6 "text 6"   time 2, RBO ')
    assert lines[second].startswith('    q3 "text 3"   time 2, RBO ')
    assert lines[second + 1 :] == [
        "      first  ...   7 d7   8 d8   9 d9",
        "      then   ...   7 d7   8 d9   9 d8",
    ]


def test_a_ranker_that_remembers_is_found_by_the_order_of_queries() -> None:
    class Remembers:
        """Swaps its answer to the query that follows query 8."""

        before = ""

        def __call__(self, text: str) -> list[str]:
            was, self.before = self.before, text
            return ["b", "a"] if was == "text 8" and text != "text 0" else ["a", "b"]

    assert cause(failure_of(Remembers(), insensitive_to=["order"])) == "order of queries"
    assert_deterministic(Remembers(), NINE, insensitive_to=[])


def test_a_batch_whose_queries_touch_each_other_is_found_by_its_size(entered: list[Note]) -> None:
    def padded(texts: list[str]) -> list[list[str]]:
        docs = [f"d{place}" for place in range(8)]
        swapped = [docs[0], docs[2], docs[1], *docs[3:]]
        return [swapped if len(texts) < 3 and text == "text 4" else docs for text in texts]

    text = failure_of(batch(padded, size=8))
    # RBO at p = 0.9 of two rankings of 8 that swap ranks 2 and 3: the agreement is 1/2 at depth 2
    # and 1 elsewhere, so it is 1 - 0.1 * 0.9 / 2 = 0.955.
    name = "test_a_batch_whose_queries_touch_each_other_is_found_by_its_size.<locals>.padded"
    assert text == (
        f"ranker '{name}' on golden set 'web' (9 queries) is not deterministic: batch size\n"
        "  asked again       9 queries ranked the same (time 2, time 3)\n"
        "  batch size        1 of 9 queries ranked differently (1 at once, 4 at once)\n"
        "  order of queries  not checked: answers already differ\n"
        "  new instance      not checked: answers already differ\n"
        "  new process       not checked: answers already differ\n"
        "  batch size: an answer depends on the rest of its batch: look for padding, for "
        "statistics over the batch, and for scores so close that rounding decides\n"
        "  the queries that differ most\n"
        '    q4 "text 4"   1 at once, RBO 0.955\n'
        "      first  1 d0   2 d1   3 d2   4 d3   5 d4   ... of 8\n"
        "      then   1 d0   2 d2   3 d1   4 d3   5 d4   ... of 8"
    )
    assert entered[-1].failure is not None
    assert entered[-1].text == entered[-1].failure.headline == text.partition("\n")[0]


def test_no_batch_is_larger_than_the_ranker_is_made_for() -> None:
    sizes = set()

    def seen(texts: list[str]) -> list[list[str]]:
        sizes.add(len(texts))
        return [["a"] for _ in texts]

    assert_deterministic(batch(seen, size=4), NINE, insensitive_to=["batch"])
    assert sizes == {4, 1, 2}  # nine queries are 4, 4, 1; one at once; and 2, 2, 2, 2, 1


def test_an_error_that_comes_later_is_a_difference() -> None:
    calls = itertools.count()

    def breaks(text: str) -> list[str]:
        if next(calls) == 13:
            raise ValueError("index\x1b lost")
        return ["a"]

    text = failure_of(breaks)
    assert "1 of 9 queries ranked differently (time 2, time 3)" in text
    assert '    q4 "text 4"   time 2\n      first  1 a\n      then   ValueError: index\\x1b' in text

    def breaks_at_once(texts: list[str]) -> list[list[str]]:
        if next(calls) > 14:
            raise MemoryError("full")
        return [["a"] for _ in texts]

    calls = itertools.count(14)
    assert "9 of 9 queries ranked diff" in failure_of(batch(breaks_at_once, size=9))


# --- a new instance ----------------------------------------------------------------------------


def test_a_cold_cache_with_colliding_keys_is_found_by_a_new_instance() -> None:
    # Keys are the length and the last character: 0 to 9 have keys of their own, 10 to 23 collide
    # in the pairs 10-20, 11-21, 12-22, 13-23. Each pair has the answer of the one asked first: in
    # reverse all eight answers change.
    assert_deterministic(faulty.ColdCache(), GOLDEN)  # all later answers agree with the first
    for ranker, fresh in (
        (faulty.ColdCache(), faulty.ColdCache),
        (faulty.ColdCache(), f"{MODULE}:ColdCache"),
        (faulty.ColdCache(), f"{MODULE}:ColdCache()"),
        (f"{MODULE}:ColdCache()", None),
    ):
        text = failure_of(ranker, GOLDEN, fresh=fresh)
        assert cause(text) == "new instance"
        assert "8 of 24 queries ranked differently (a new instance, in reverse)" in text
        assert "look for a cache whose keys collide" in text


def test_a_factory_that_returns_the_same_ranker_proves_nothing(entered: list[Note]) -> None:
    assert_deterministic(f"{MODULE}:get_the_one()", NINE, insensitive_to="fresh")
    assert "not checked: new instance" in entered[-1].text
    one = faulty.get_the_one()
    for ranker, fresh in ((one, lambda: one), (one.__call__, lambda: one.__call__)):
        with pytest.raises(ConfigurationError, match="fresh= returned the ranker that is being"):
            assert_deterministic(ranker, NINE, fresh=fresh)


def test_a_factory_that_fails_is_an_error() -> None:
    with pytest.raises(RankerError, match=r"fresh= failed: FileNotFoundError: models/current\\x1b"):
        assert_deterministic(faulty.sound, NINE, fresh=faulty.fails)
    with pytest.raises(RankerError, match="the ranker is int"):
        assert_deterministic(faulty.sound, NINE, fresh=lambda: 3)


# --- a new process -----------------------------------------------------------------------------


def test_an_order_that_depends_on_the_hash_seed_is_found_by_a_new_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for own in ("", "1", "0"):
        monkeypatch.setenv("PYTHONHASHSEED", own) if own else None
        text = failure_of(f"{MODULE}:iterates_over_a_set", insensitive_to="process")
        assert cause(text) == "new process"
        assert "9 of 9 queries ranked differently (another hash seed, in reverse)" in text
        assert "sort sets before they are iterated, do not use hash()" in text


def by_attribute(query: Query, candidates: list[str], k: int) -> list[str]:
    """Rank by all that a ranker sees."""
    salt = f"{query.id} {query.text} {sorted(query.attributes.items())} {k}"
    return sorted(candidates, key=lambda doc: faulty.ranked(salt + doc))[:k]


def shortened(doc_id: str) -> str:
    return doc_id.partition("#")[0]


class Estimator:
    def predict(self, rows: Any) -> Any:
        return rows[:, 0] * 2 - rows[:, 1]


def make_model() -> object:
    return model(Estimator(), features=["feature", "other"])


def test_queries_attributes_candidates_and_options_reach_the_new_process() -> None:
    here = "tests.behaviour.test_determinism"
    golden = GoldenSet.from_dict(
        {"q\n\x00": {"d1": 2, "d\u202e2": 0, "d3": -1}, "q\udcff": {"d1": 1, "d4": 0.5}, "é": {}},
        {"q\n\x00": "\x1bone", "é": "zwei"},
        attributes={"q\n\x00": {"locale": "de", "tags": ["a", "b"], "n": 3, "x": 0.1, "b": True}},
        name="odd\n",
        scale=4,
    )
    assert_deterministic(
        f"{here}:by_attribute", golden, depth=2, doc_id=[shortened, "strip"], retry_on=[OSError]
    )
    rows = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 0]}
    features = {"feature": [0.5, 2.0, 1.0], "other": [1.5, 0.1 + 0.2, 1e-300]}
    letor = GoldenSet.from_frame(pd.DataFrame({**rows, **features}))
    assert_deterministic(make_model(), letor, fresh=f"{here}:make_model")
    with pytest.raises(ConfigurationError, match="cannot be sent to a new process"):
        assert_deterministic(f"{here}:by_attribute", golden, doc_id=lambda doc_id: doc_id.lower())


def test_what_the_ranker_prints_and_leaves_running_does_not_matter() -> None:
    name = f"{MODULE}:prints_and_leaves_a_thread"
    assert_deterministic(name, FEW, insensitive_to="process")


def test_a_process_without_an_answer_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RankerError) as error:
        assert_deterministic(f"{MODULE}:dies_in_a_child", FEW)
    assert str(error.value) == (
        f"ranker '{MODULE}:dies_in_a_child' in a new process: it ended with exit status 137 and no "
        "answer\n  the last lines of its output:\n    out of \\x1b[31mmemory\n"
        '  to leave the new process out: insensitive_to= without "process"'
    )
    file = tmp_path / "short_lived.py"
    file.write_text("def search(text):\n    return [text]\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("short_lived")
    file.write_text("import not_there_at_all\n")
    with pytest.raises(RankerError, match=r"exit status 1 and no answer(?s:.*)not_there_at_all"):
        assert_deterministic("short_lived:search", FEW)


@pytest.mark.slow
def test_a_process_that_hangs_is_stopped_and_says_what_it_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeated_ranker, "_TIMEOUT", 8)
    with pytest.raises(RankerError, match="did not answer within 8 s and was stopped") as error:
        assert_deterministic(f"{MODULE}:hangs_in_a_child", FEW)
    assert "waiting for the index" in str(error.value)


def test_a_query_that_fails_only_in_a_new_process_is_a_difference() -> None:
    text = failure_of(f"{MODULE}:fails_in_a_child", GOLDEN, insensitive_to="process")
    assert "3 of 24 queries ranked differently" in text  # 3, 13, 23
    assert "then   RankerError: in the new process: ValueError: no\\x1b index" in text


def test_a_module_that_ranks_while_it_is_imported_does_not_start_processes_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eager.py").write_text(
        "from pytest_rankcheck import GoldenSet, assert_deterministic\n"
        "def search(text):\n    return [text]\n"
        "golden = GoldenSet.from_dict({'q': {'d': 1}}, {'q': 'text'})\n"
        "assert_deterministic('eager:search', golden)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert_deterministic("eager:search", FEW)


# --- what passes, and what is refused ----------------------------------------------------------


def test_what_passed_and_what_did_not_apply_is_said_in_a_line(entered: list[Note]) -> None:
    assert_deterministic(constant, GOLDEN.subset(["q1"]), 2, depth=2)
    assert entered[-1].topic is Topic.DETERMINISM
    assert not entered[-1].failed
    assert entered[-1].text == (
        "ranker 'constant' on golden set 'web' (1 query) is deterministic (asked again); not "
        "checked: batch size (the ranker is asked one query after the other), order of queries "
        "(there is only one query), new instance (give fresh=), new process (give the ranker, or "
        "fresh=, by its name)"
    )
    assert_deterministic(f"{MODULE}:sound", FEW)
    assert entered[-1].text.endswith(
        "is deterministic (asked again, order of queries, new process); not checked: batch size "
        "(the ranker is asked one query after the other), new instance "
        f"('{MODULE}:sound' is not a factory; give fresh=)"
    )


def test_the_options_of_rank_are_taken() -> None:
    asked = []

    def search(query: Query, k: int) -> list[str]:
        asked.append(k)
        return [f"d{place}" for place in range(k)]

    assert_deterministic(search, NINE, repeats=2, insensitive_to=(), depth=7)
    assert asked == [7] * 18
    # Ties are broken by id.
    assert_deterministic(scorer(lambda text, docs: np.ones(len(docs)).tolist()), NINE)


def test_invalid_arguments_are_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"repeats": 1}, "repeats=1 is invalid"),
        ({"repeats": True}, "repeats must be a whole number, not True"),
        ({"insensitive_to": "repeats"}, "insensitive_to=repeats is invalid; give one"),
        ({"insensitive_to": ["ordr"]}, "insensitive_to=ordr is invalid; did you mean 'order'"),
        (
            {"insensitive_to": ["fresh", "process"]},
            r"can be checked \(fresh: give fresh=; process: give the ranker",
        ),
        ({"fresh": 3}, "fresh=3 is invalid; give a function or class"),
        ({"fresh": "engine"}, "does not name a ranker"),
        ({"fresh": constant}, "fresh=<function constant.* is invalid; give a function or class"),
        ({"fresh": f"{MODULE}:sound"}, "fresh='tests.*:sound' is invalid"),
        ({"detph": 3}, "unknown option 'detph'; did you mean 'depth'"),
    ]
    for arguments, message in refused:
        with pytest.raises(ConfigurationError, match=message):
            assert_deterministic(**{"ranker": constant, "golden_set": NINE, **arguments})
    for ranker, message in (
        (3, "the ranker is int"),
        (lambda text: 1 / 0, "failed on 9 of 9 queries, first on 'q0'"),
    ):
        with pytest.raises(RankerError, match=message):
            assert_deterministic(ranker, NINE)
    with pytest.raises(RunError, match="every ranking is empty"):
        assert_deterministic(lambda text: [], NINE)


def test_foreign_text_in_rankings_is_harmless() -> None:
    calls = itertools.count()
    golden = GoldenSet.from_dict({"q\n": {"d": 1}}, {"q\n": "\u202etext"})
    text = failure_of(lambda text: [f"\x1b[2J{next(calls)}"], golden)
    assert "\x1b" not in text
    assert "\u202e" not in text
