"""Faults that one instance in one process does not show: caches, hash seeds, rebuilt indexes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    ConfigurationError,
    Expectation,
    GoldenSet,
    Query,
    RankerError,
    assert_deterministic,
    rank,
)
from pytest_rankcheck.behaviour import process_surroundings
from pytest_rankcheck.behaviour.process_surroundings import is_locale_varied, surroundings
from pytest_rankcheck.golden.golden_transfer import golden_from_data, golden_to_data
from pytest_rankcheck.rankers import batch, model
from pytest_rankcheck.reports.notes import Note
from tests.behaviour import faulty_rankers as faulty

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n % 12}": 1} for n in range(24)},
    {f"q{n}": f"text {n}" for n in range(24)},
    name="web",
)
FEW = GOLDEN.subset(["q1", "q2"])
MODULE = "tests.behaviour.faulty_rankers"


def failure_of(ranker: object, golden: GoldenSet = GOLDEN, **how: Any) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_deterministic(ranker, golden, **how)
    return str(failure.value)


def headline(text: str) -> str:
    return text.partition("\n")[0].rpartition("deterministic: ")[2]


def only_fresh(**how: Any) -> dict[str, Any]:
    return {"insensitive_to": "fresh", **how}


def only_processes(**how: Any) -> dict[str, Any]:
    return {"insensitive_to": "processes", **how}


def slow(*values: Any) -> Any:
    """Return the values of a test that asks more than ten new processes."""
    return pytest.param(*values, marks=pytest.mark.slow)


# --- a new instance --------------------------------------------------------------------------


def test_a_cold_cache_with_colliding_keys_is_found_by_a_new_instance_and_named() -> None:
    # Keys are the length and the last character: 0 to 9 have keys of their own, 10 to 23 collide
    # in the pairs 10-20, 11-21, 12-22, 13-23. Each pair has the answer of the one asked first: in
    # reverse all eight answers change.
    text = failure_of(faulty.ColdCache(), fresh=faulty.ColdCache)
    assert headline(text) == "new instance"
    assert "new instance         8 of 24 queries ranked differently (a new instance, in r" in text
    assert "look for a cache whose keys collide" in text
    assert "asked again: different in 5 of 5 requests this way, and in 0 of 5 as the" in text
    assert_deterministic(faulty.ColdCache(), GOLDEN)  # all later answers agree with the first


def test_of_225_queries_every_one_that_shares_a_key_is_found() -> None:
    """Answers are cached under the first word: one key for all queries with the same first word.

    Worked by hand: 107 queries are asked after another one with their first word, and get its
    answer; 118 words come once or first. In reverse, the last of each group is asked first instead.
    So all queries with a word in common differ: 107 and the first of each of the 53 groups.
    """
    shared = [f"shared{n % 53} {n}" for n in range(160)]
    single = [f"single{n} x" for n in range(65)]
    golden = GoldenSet.from_dict(
        {text: {"d1": 1} for text in [*shared, *single]},
        {text: text for text in [*shared, *single]},
    )

    class ByFirstWord:
        def __init__(self) -> None:
            self.cache: dict[str, list[str]] = {}

        def __call__(self, text: str) -> list[str]:
            return self.cache.setdefault(text.partition(" ")[0], [text, "d1"])

    first = rank(ByFirstWord(), golden)
    assert sum(first[text][0] != text for text in first) == 107
    assert_deterministic(ByFirstWord(), golden, threads=2)
    text = failure_of(ByFirstWord(), golden, **only_fresh(fresh=ByFirstWord))
    assert "new instance         160 of 225 queries ranked differently" in text
    assert "look for a cache whose keys collide" in text


def test_an_index_that_is_built_at_random_is_named_and_a_seeded_one_passes() -> None:
    text = failure_of(faulty.RandomProjections(1), **only_fresh(fresh=faulty.RandomProjections))
    assert headline(text) == "new instance"
    assert "no two new instances rank alike: the ranker is built with randomness" in text
    assert_deterministic(
        faulty.RandomProjections(1), GOLDEN, fresh=lambda: faulty.RandomProjections(1)
    )


def test_a_new_instance_that_differs_in_any_order_is_not_blamed_on_a_cache() -> None:
    text = failure_of(faulty.RandomProjections(1), **only_fresh(fresh=lambda: faulty.sound))
    assert "a new instance ranks differently, even in the same order of queries" in text


def test_a_factory_can_be_given_by_name() -> None:
    text = failure_of(faulty.ColdCache(), **only_fresh(fresh=f"{MODULE}:ColdCache"))
    assert headline(text) == "new instance"
    text = failure_of(faulty.ColdCache(), **only_fresh(fresh=f"{MODULE}:ColdCache()"))
    assert headline(text) == "new instance"


def test_a_new_instance_is_made_of_a_ranker_whose_name_ends_with_brackets() -> None:
    text = failure_of(f"{MODULE}:ColdCache()", **only_fresh())
    assert headline(text) == "new instance"


def test_a_factory_that_returns_the_same_ranker_is_not_taken_for_a_check(
    entered: list[Note],
) -> None:
    assert_deterministic(f"{MODULE}:get_the_one()", GOLDEN, **only_fresh())
    assert "not checked: " in entered[-1].text
    one = faulty.get_the_one()
    with pytest.raises(ConfigurationError, match="fresh= returned the ranker that is being check"):
        assert_deterministic(one, GOLDEN, fresh=lambda: one)
    with pytest.raises(ConfigurationError, match="fresh= returned the ranker that is being check"):
        assert_deterministic(one.__call__, GOLDEN, fresh=lambda: one.__call__)


def test_a_function_by_name_says_why_there_is_no_new_instance(entered: list[Note]) -> None:
    assert_deterministic(f"{MODULE}:sound", GOLDEN, processes=0)
    assert "new instance" in entered[-1].text.partition("not checked")[2]
    text = failure_of(f"{MODULE}:iterates_over_a_set", processes=1)
    assert (
        f"  new instance         not checked: '{MODULE}:iterates_over_a_set' is not a factory"
        in text
    )


def test_a_factory_that_fails_is_an_error() -> None:
    with pytest.raises(RankerError, match=r"fresh= failed: FileNotFoundError: models/current\\x1b"):
        assert_deterministic(faulty.sound, GOLDEN, fresh=faulty.wanted_in_the_child)
    with pytest.raises(RankerError, match="the ranker is int"):
        assert_deterministic(faulty.sound, GOLDEN, fresh=lambda: 3)


# --- new processes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "decisive"),
    [
        ("iterates_over_a_set", "the hash seed decides (PYTHONHASHSEED)"),
        slow("depends_on_threads", "the number of threads decides (OMP_NUM_THREADS)"),
        slow("depends_on_the_locale", "the locale decides (LC_ALL)"),
        slow("depends_on_the_time_zone", "the time zone decides (TZ)"),
        slow("cached_in_the_module", "which queries a new process is asked first decides"),
        slow("depends_on_the_process", "no two new processes rank alike"),
    ],
)
def test_what_a_new_process_changes_is_named(name: str, decisive: str) -> None:
    faulty._CACHE.clear()
    text = failure_of(f"{MODULE}:{name}")
    assert headline(text) == "new processes"
    (advice,) = [line for line in text.splitlines() if line.startswith("  new processes: ")]
    assert advice.startswith(f"  new processes: {decisive}")
    assert ";" not in advice  # nothing else is blamed
    (state,) = [line for line in text.splitlines() if line.startswith("  new processes  ")]
    assert state.partition(";")[0].endswith("(process 1 in reverse, process 2") or state.endswith(
        "(process 1 in reverse, process 2)"
    )
    assert "\n    process 1: PYTHONHASHSEED=1, OMP_NUM_THREADS=1, " in text
    assert text.count("PYTHONHASHSEED=1") == 1
    assert '"   process 1 in reverse, RBO' in text


def test_a_single_new_process_is_asked_in_reverse_and_finds_keys_that_collide() -> None:
    faulty._CACHE.clear()
    text = failure_of(f"{MODULE}:cached_in_the_module", **only_processes(processes=1))
    assert "which queries a new process is asked first decides" in text


def test_a_ranker_by_name_is_asked_in_two_new_processes(entered: list[Note]) -> None:
    assert_deterministic(f"{MODULE}:sound", GOLDEN, insensitive_to=["fresh", "processes"])
    assert "(asked again, new processes)" in entered[-1].text
    assert "5 calls per query" in entered[-1].text  # 3 runs, 2 processes


def test_a_function_is_asked_in_new_processes_if_that_is_requested(entered: list[Note]) -> None:
    assert_deterministic(faulty.sound, GOLDEN, insensitive_to=["order", "processes"])
    assert "not checked: new processes (give processes=)" in entered[-1].text
    assert_deterministic(faulty.sound, GOLDEN, **only_processes(processes=1))
    assert "(asked again, new processes)" in entered[-1].text
    text = failure_of(faulty.iterates_over_a_set, **only_processes(processes=1))
    assert headline(text) == "new processes"


@pytest.mark.slow
def test_a_new_process_makes_the_ranker_with_fresh() -> None:
    text = failure_of(
        faulty.RandomProjections(1),
        processes=1,
        insensitive_to=["fresh", "processes"],
        fresh=faulty.RandomProjections,
    )
    assert headline(text) in ("new instance", "new instance, new processes")
    assert_deterministic(
        faulty.make_sound(),
        GOLDEN,
        fresh=f"{MODULE}:make_sound",
        insensitive_to=["fresh", "processes"],
    )


@pytest.mark.parametrize(
    "ranker",
    [lambda text: [text], faulty.ColdCache(), faulty.ColdCache().__call__],
    ids=["lambda", "object", "method"],
)
def test_what_a_new_process_cannot_import_is_an_error(ranker: object) -> None:
    with pytest.raises(ConfigurationError, match="processes=2: a new process cannot import"):
        assert_deterministic(ranker, GOLDEN, processes=2)
    with pytest.raises(ConfigurationError, match=r"a new process cannot import fresh '.*lambda>'"):
        assert_deterministic(ranker, GOLDEN, processes=2, fresh=lambda: faulty.sound)


def test_what_the_ranker_prints_does_not_damage_the_answers(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert_deterministic(f"{MODULE}:prints", GOLDEN, **only_processes())
    assert "loading" in capfd.readouterr().out  # of this process


@pytest.mark.slow
def test_a_process_that_hangs_is_stopped_and_says_what_it_printed() -> None:
    with pytest.raises(RankerError) as error:
        assert_deterministic(f"{MODULE}:hangs_in_a_child", GOLDEN, process_timeout=8)
    text = str(error.value)
    assert text.startswith(
        f"ranker '{MODULE}:hangs_in_a_child' in a new process (PYTHONHASHSEED=1, OMP_NUM_THREADS=1"
    )
    assert "did not answer within 8 s and was stopped (process_timeout=" in text
    assert "waiting for the index" in text


def test_an_answer_is_taken_although_the_ranker_leaves_a_thread() -> None:
    assert_deterministic(
        f"{MODULE}:leaves_a_thread_in_a_child",
        FEW,
        insensitive_to="processes",
        processes=1,
        process_timeout=60,
    )


def test_a_new_process_ends_when_the_one_that_started_it_is_killed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        script = (
            "from tests.behaviour.test_fresh_and_processes import FEW, MODULE, assert_deterministic;"
            "assert_deterministic(f'{MODULE}:connects_and_hangs_in_a_child', FEW,"
            " insensitive_to='processes', processes=1)"
        )
        environment = {**os.environ, "TEST_PORT": str(server.getsockname()[1])}
        home = Path(pytest_rankcheck.__file__).parents[1]
        with subprocess.Popen(
            [sys.executable, "-c", script], cwd=home, env=environment, stdin=subprocess.DEVNULL
        ) as started:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(60)
                assert connection.recv(100) == b"started"  # the ranker's standard input is empty
                started.kill()
                assert connection.recv(100) == b""  # the new process is gone


@pytest.mark.skipif(os.name != "posix", reason="there are no signals")
def test_a_process_that_is_killed_names_the_signal() -> None:
    with pytest.raises(RankerError, match="it was killed by signal SIGSEGV and gave no answer"):
        assert_deterministic(
            f"{MODULE}:is_killed_in_a_child", FEW, insensitive_to="processes", processes=1
        )


@pytest.mark.parametrize("ranker", [faulty.ColdCache(), batch(lambda texts: [])])
def test_an_instance_is_not_called_undefined(ranker: object) -> None:
    with pytest.raises(ConfigurationError) as error:
        assert_deterministic(ranker, FEW, processes=1)
    assert "cannot import the ranker, an object that this process made; give fresh=" in (
        str(error.value)
    )
    assert "_Batch" not in str(error.value)


@pytest.mark.parametrize("fresh", [faulty.sound, faulty.ColdCache(), f"{MODULE}:sound"])
def test_a_ranker_is_not_mistaken_for_a_factory(fresh: Any) -> None:
    with pytest.raises(ConfigurationError, match="fresh= must return a ranker; '"):
        assert_deterministic(faulty.sound, FEW, fresh=fresh)


def test_a_process_that_dies_is_one_clear_error() -> None:
    with pytest.raises(RankerError) as error:
        assert_deterministic(f"{MODULE}:dies_in_a_child", GOLDEN)
    text = str(error.value)
    assert "it ended with exit status 137 and no answer" in text
    assert "the last lines of its output:\n    out of \\x1b[31mmemory" in text
    assert text.endswith("to leave new processes out: processes=0")


@pytest.mark.slow
def test_a_query_that_fails_only_in_a_new_process_is_a_difference() -> None:
    text = failure_of(f"{MODULE}:fails_in_a_child", **only_processes())
    assert "3 of 24 queries ranked differently, 3 of them with an error" in text  # 3, 13, 23
    assert "then   RankerError: in the new process: ValueError: no\\x1b index" in text
    assert "  new processes: it raises in every new process: ValueError: no\\x1b index\n" in text


def test_a_missing_module_in_the_new_process_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "short_lived.py"
    file.write_text("def search(text):\n    return [text]\n")
    monkeypatch.syspath_prepend(tmp_path)
    import importlib

    importlib.import_module("short_lived")
    file.write_text("import not_there_at_all\n")
    with pytest.raises(RankerError, match=r"exit status 1 and no answer(?s:.*)not_there_at_all"):
        assert_deterministic("short_lived:search", GOLDEN)


@pytest.mark.slow
def test_a_module_that_ranks_while_it_is_imported_does_not_start_processes_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eager.py").write_text(
        textwrap.dedent(
            """
            from pytest_rankcheck import GoldenSet, assert_deterministic

            def search(text):
                return [text]

            golden = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "text"})
            assert_deterministic(search, golden, processes=1)
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert_deterministic("eager:search", GOLDEN)


def test_a_module_off_the_path_is_found_by_its_file(tmp_path: Path) -> None:
    """As test modules and conftest.py are with --import-mode=importlib."""
    import importlib.util

    (tmp_path / "far.py").write_text("def search(text):\n    return [text]\n")
    spec = importlib.util.spec_from_file_location("conftest_of_far", tmp_path / "far.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conftest_of_far"] = module
    try:
        spec.loader.exec_module(module)
        assert_deterministic(module.search, GOLDEN, **only_processes(processes=1))
    finally:
        del sys.modules["conftest_of_far"]


def test_the_surroundings_differ_from_those_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "C")
    first, second = surroundings(2)
    assert dict(first.variables) == {
        "PYTHONHASHSEED": "2",
        "OMP_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "America/New_York",
    }
    assert second.variables["PYTHONHASHSEED"] == "3"
    assert (first.is_reversed, second.is_reversed) == (True, False)


@pytest.mark.parametrize(
    ("own", "installed", "others"),
    [
        (None, "C\nC.utf8\nPOSIX\nen_US.utf8\ntr_TR.utf8\n", ["tr_TR.utf8", "en_US.utf8"]),
        ("C.UTF-8", "C\nC.utf8\nda_DK.utf8\n", ["da_DK.utf8", "C"]),
        ("en_US.UTF-8", "C\nde_DE.utf8\n", ["C", "de_DE.utf8"]),
        ("en_US.UTF-8", "C\n", ["C", "C"]),
        (None, "C\nC.utf8\nPOSIX\n", None),
    ],
)
def test_new_processes_sort_text_differently_if_another_locale_is_installed(
    own: str | None, installed: str, others: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_COLLATE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    if own is not None:
        monkeypatch.setenv("LANG", own)
    process_surroundings._installed_locales.cache_clear()
    monkeypatch.setattr(
        process_surroundings.subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(command, 0, installed.encode(), b""),
    )
    try:
        assert is_locale_varied() is (others is not None)
        if others is not None:
            assert [each.variables["LC_ALL"] for each in surroundings(2)] == others
    finally:
        process_surroundings._installed_locales.cache_clear()


def test_the_summary_says_if_no_other_locale_is_installed(
    monkeypatch: pytest.MonkeyPatch, entered: list[Note]
) -> None:
    for name in ("LC_ALL", "LC_COLLATE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(process_surroundings, "_installed_locales", lambda: ())
    assert_deterministic(f"{MODULE}:sound", GOLDEN, **only_processes(processes=1))
    assert (
        "; new processes: the locale was not varied, because only the locale C is "
        in entered[-1].text
    )


# --- the task of a new process ---------------------------------------------------------------


def by_attribute(query: Query, candidates: list[str], k: int) -> list[str]:
    """Rank by all that a ranker sees."""
    salt = f"{query.id} {query.text} {sorted(query.attributes.items())} {k}"
    return sorted(candidates, key=lambda doc: faulty.ranked(salt + doc))[:k]


def shortened(doc_id: str) -> str:
    return doc_id.partition("#")[0]


def test_queries_attributes_candidates_and_options_reach_the_new_process() -> None:
    golden = GoldenSet.from_dict(
        {"q\n\x00": {"d1": 2, "d\u202e2": 0, "d3": -1}, "q\udcff": {"d1": 1, "d4": 0.5}, "é": {}},
        {"q\n\x00": "\x1bone", "é": "zwei"},
        attributes={"q\n\x00": {"locale": "de", "tags": ["a", "b"], "n": 3, "x": 0.1, "b": True}},
        name="odd\n",
        scale=4,
    ).expecting(Expectation.in_top(1, "d1", query="q\n\x00"))
    assert_deterministic(
        by_attribute,
        golden,
        **only_processes(processes=2, depth=2, doc_id=[shortened, "strip"], retry_on=[OSError]),
    )


class Estimator:
    def predict(self, rows: Any) -> Any:
        return rows[:, 0] * 2 - rows[:, 1]


def make_model() -> object:
    return model(Estimator(), features=["feature", "other"])


def test_the_features_of_candidates_reach_the_new_process() -> None:
    golden = GoldenSet.from_frame(
        pd.DataFrame(
            {
                "query_id": ["q1", "q1", "q1", "q2", "q2"],
                "doc_id": ["a", "b", "c", "a", "d"],
                "relevance": [1, 0, 0, 1, 0],
                "feature": [0.5, 2.0, 0.25, 1.0, 3.0],
                "other": [1.5, 2.0, 0.1 + 0.2, 1e-300, 3.0],
                "title": ["A", None, "\x00", "é", ""],
                "blank": [None, 1.0, 2.0, None, 3.0],
            }
        )
    )
    assert_deterministic(make_model(), golden, fresh=make_model, processes=2)
    again = golden_from_data(golden_to_data(golden))
    pd.testing.assert_frame_equal(again.candidates, golden.candidates)


def test_the_features_of_a_learning_to_rank_file_reach_the_new_process(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text("2 qid:1 1:0.5 3:1\n0 qid:1 2:0.25\n1 qid:2 1:3 # doc\n")
    golden = GoldenSet.load(file)
    again = golden_from_data(golden_to_data(golden))
    pd.testing.assert_frame_equal(again.candidates, golden.candidates)
    assert again.fingerprint == golden.fingerprint
    assert again.has_numbered_features
    assert (again.scale, again.first_feature) == (golden.scale, golden.first_feature)


def test_a_doc_id_function_that_cannot_be_imported_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="doc_id is a function that a new process cannot"):
        assert_deterministic(
            faulty.sound, GOLDEN, processes=1, doc_id=lambda doc_id: doc_id.lower()
        )


@pytest.mark.parametrize("flags", [(), slow(("-I",)), slow(("-O",))])
def test_a_script_is_asked_in_the_surroundings_of_its_interpreter(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """Isolated, an interpreter has neither its folder nor PYTHONPATH on its path."""
    (tmp_path / "engine.py").write_text(
        "def search(text):\n    return list({text, 'a', 'b', 'c', 'd', 'e', 'f'})\n"
    )
    script = tmp_path / "script.py"
    home = Path(pytest_rankcheck.__file__).parents[1]
    script.write_text(
        f"import sys; sys.path[:0] = [{str(home)!r}, {str(tmp_path)!r}]\n"
        "from pytest_rankcheck import GoldenSet, assert_deterministic\n"
        "golden = GoldenSet.from_dict({'q': {'d': 1}}, {'q': 'text'})\n"
        "try:\n"
        "    assert_deterministic('engine:search', golden)\n"
        "except AssertionError as failure:\n"
        "    print(failure)\n"
    )
    done = subprocess.run(
        [sys.executable, *flags, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "is not deterministic: new processes" in done.stdout


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"processes": -1}, "processes=-1 is invalid; give a whole number from 0 on"),
        ({"processes": True}, "processes must be a whole number"),
        ({"process_timeout": 0}, "process_timeout=0 is invalid"),
        ({"processes": 2, "insensitive_to": "order"}, "processes= has no effect, because insens"),
        ({"insensitive_to": "fresh"}, r"can be checked \(fresh: give fresh="),
        (
            {"insensitive_to": ["processes", "clock"], "processes": 0},
            r"nothing in insensitive_to= can be checked \(processes: processes=0; clock: give clo",
        ),
        ({"fresh": 3}, "fresh=3 is invalid; give a function or class"),
        ({"fresh": "engine"}, "does not name a ranker"),
        ({"fresh": make_model, "insensitive_to": "order"}, "fresh= has no effect, because insens"),
    ],
)
def test_invalid_arguments_are_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        assert_deterministic(faulty.sound, GOLDEN, **how)


def test_a_reranker_by_name_is_asked_with_its_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rerankers.py").write_text(
        "from pytest_rankcheck.rankers import scorer\n"
        "ranker = scorer(lambda text, docs: [len(text) * len(doc) for doc in docs])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert_deterministic("rerankers:ranker", GOLDEN)
