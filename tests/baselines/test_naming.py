"""Where the baseline of a test on a golden set is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck.baselines.baseline_path import baseline_path

FILE = Path("/repo/tests/test_web.py")


@pytest.mark.parametrize(
    ("key", "golden", "name"),
    [
        ("test_mrr", "web", "test_mrr--web.json"),
        ("TestShop::test_mrr", "web", "TestShop.test_mrr--web.json"),
        ("Test::test_mrr", "web", "Test.test_mrr--web.json"),
        ("test_mrr[de]", "web", "test_mrr-de--web.json"),
        ("test_mrr[web-10.5_x]", "web-2026.11", "test_mrr-web-10.5_x--web-2026.11.json"),
    ],
)
def test_plain_names_are_kept(key: str, golden: str, name: str) -> None:
    assert baseline_path(FILE, key, golden) == Path("/repo/tests/baselines/test_web") / name


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("test_a[b--c]", "d"), ("test_a[b]", "c--d")),
        (("test_a[b-]", "c"), ("test_a[b]", "-c")),
        (("test_a[]", "c"), ("test_a", "-c")),
        (("test_a[]", "c"), ("test_a", "c")),
        (("TestA::test_b", "c"), ("TestA.test_b", "c")),
        (("TestShop::test_b", "c"), ("Testshop::test_b", "c")),
        (("TestShop::test_b", "c"), ("testshop::test_b", "c")),
        (("test_A", "c"), ("test_a", "c")),
        (("test_a", "C"), ("test_a", "c")),
        (("test_a[B]", "c"), ("test_a[b]", "c")),
        (("test_a[x\ny]", "c"), ("test_a[x", "y]\nc")),
    ],
)
def test_names_that_could_be_confused_have_different_files(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    names = [baseline_path(FILE, *identity).name.casefold() for identity in (first, second)]
    assert names[0] != names[1]


@pytest.mark.parametrize("other", ["test_Web.py", "test_web.ipynb", "test_web"])
def test_different_test_files_have_different_folders(other: str) -> None:
    folders = [
        str(baseline_path(Path("/repo/tests") / file, "test_mrr", "web").parent).casefold()
        for file in ("test_web.py", other)
    ]
    assert folders[0] != folders[1]


def test_a_rank_file_has_a_folder_of_its_own() -> None:
    names = [
        baseline_path(Path("/repo/tests") / file, "test_mrr", "web").parent.name
        for file in ("test_web.rank.toml", "test_web.rank.py", "test_web.py")
    ]
    assert names[0] == "test_web.rank"
    assert len(set(names)) == 3


PARTS = st.text() | st.text("aB-.[]:~_", max_size=6)


@given(PARTS, PARTS, PARTS, PARTS)
def test_every_identity_has_a_file_of_its_own_on_any_file_system(
    a: str, golden_a: str, b: str, golden_b: str
) -> None:
    identities = [(f"test_mrr[{text}]", name) for text, name in ((a, golden_a), (b, golden_b))]
    paths = [baseline_path(FILE, *identity) for identity in identities]
    is_same_file = paths[0].name.casefold() == paths[1].name.casefold()
    assert is_same_file == (identities[0] == identities[1])
    for path in paths:
        assert path.parent == Path("/repo/tests/baselines/test_web")
        assert len(path.name.encode()) <= 200
        assert path.name.isascii()
        assert "/" not in path.name


def test_a_long_name_of_a_test_leaves_room_for_the_golden_set() -> None:
    path = baseline_path(FILE, f"test_{'x' * 300}", "web")
    assert "--web" in path.name
    assert path != baseline_path(FILE, f"test_{'x' * 301}", "web")
