"""Importing the ranker named by ``package.module:name``."""

import sys
from pathlib import Path

import pytest

from pytest_rankcheck import ConfigurationError
from pytest_rankcheck.rankers.ranker_lookup import load_ranker

MODULE = """
def search(text):
    return [text]

class Engine:
    made = 0
    def __init__(self):
        type(self).made += 1
    def __call__(self, text):
        return [text]
    @classmethod
    def load(cls):
        return cls().__call__

engine = Engine()
number = 5

class Booster:
    def predict(self, rows): ...

booster = Booster()
def broken():
    raise RuntimeError("no model file")
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rankcheck_shop").mkdir()
    (tmp_path / "rankcheck_shop" / "engine.py").write_text(MODULE)
    (tmp_path / "rankcheck_shop" / "needs.py").write_text("import rankcheck_not_there\n")
    (tmp_path / "rankcheck_shop" / "syntax.py").write_text("def\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.startswith("rankcheck_shop")]:
        del sys.modules[name]


def test_a_ranker_is_found() -> None:
    for specification in (
        "rankcheck_shop.engine:search",
        " rankcheck_shop.engine:search ",
        "rankcheck_shop.engine:engine",
        "rankcheck_shop.engine:engine.__call__",
        "rankcheck_shop.engine:Engine()",
        "rankcheck_shop.engine:Engine.load()",
    ):
        assert load_ranker(specification)("x") == ["x"]


def test_a_factory_is_called_once() -> None:
    ranker = load_ranker("rankcheck_shop.engine:Engine()")
    before = type(ranker).made
    ranker("a")
    ranker("b")
    assert type(ranker).made == before


def test_an_invalid_ranker_is_refused() -> None:
    for specification, message in (
        ("", "does not name a ranker; write package.module:name"),
        ("rankcheck_shop.engine", "does not name a ranker"),
        ("rankcheck_shop/engine.py:search", "does not name a ranker"),
        (":search", "does not name a ranker"),
        ("rankcheck_shop.engine:", "does not name a ranker"),
        ("rankcheck_shop.engine:Engine(5)", "does not name a ranker"),
        ("rankcheck_shop.engine:__import__('os')", "does not name a ranker"),
        ("rankcheck_shop..engine:search", "does not name a ranker"),
        ("rankcheck_nowhere:search", "cannot be imported: no module named 'rankcheck_nowhere'"),
        ("rankcheck_shop.engin:search", "no module named 'rankcheck_shop.engin'.*sys.path"),
        ("rankcheck_shop.engine:serch", r"no 'serch' in rankcheck_shop.engine; did you mean 'sear"),
        ("rankcheck_shop.engine:Engine", r"is a class; write 'rankcheck_shop.engine:Engine\(\)'"),
        ("rankcheck_shop.engine:number", "is int, which cannot be called; give a function"),
        ("rankcheck_shop.engine:number()", "is int, which cannot be called|cannot be called"),
        ("os:path", "is module, which cannot be called"),
        (
            "rankcheck_shop.engine:booster",
            r"booster': the ranker is Booster, which cannot be called; make it one with rankers\.model",
        ),
    ):
        with pytest.raises(ConfigurationError, match=message):
            load_ranker(specification)


def test_an_error_of_the_module_or_the_factory_is_raised() -> None:
    with pytest.raises(ModuleNotFoundError, match="rankcheck_not_there"):
        load_ranker("rankcheck_shop.needs:search")
    with pytest.raises(SyntaxError):
        load_ranker("rankcheck_shop.syntax:search")
    with pytest.raises(RuntimeError, match="no model file"):
        load_ranker("rankcheck_shop.engine:broken()")
