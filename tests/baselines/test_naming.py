"""Where a test's baseline is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck.baselines.baseline_path import baseline_path

FILE = Path("/repo/tests/test_web.py")


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("tests/test_web.py::test_mrr", "test_mrr.json"),
        ("tests/test_web.py::TestShop::test_mrr", "TestShop.test_mrr.json"),
        ("tests/test_web.py::test_mrr[web]", "test_mrr-web.json"),
        ("tests/test_web.py::test_mrr[web-10.5_x]", "test_mrr-web-10.5_x.json"),
    ],
)
def test_plain_ids_have_plain_names(nodeid: str, name: str) -> None:
    assert baseline_path(FILE, nodeid) == Path("/repo/tests/baselines/test_web") / name


@given(st.text(), st.text())
def test_different_parameters_have_different_files_on_any_file_system(a: str, b: str) -> None:
    paths = [baseline_path(FILE, f"tests/test_web.py::test_mrr[{text}]") for text in (a, b)]
    assert (paths[0].name.casefold() == paths[1].name.casefold()) == (a == b)
    for path in paths:
        assert path.parent == Path("/repo/tests/baselines/test_web")
        assert len(path.name.encode()) <= 200
        assert path.name.isascii()
        assert "/" not in path.name
