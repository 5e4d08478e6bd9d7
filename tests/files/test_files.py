"""Text files: read with line numbers, written completely or not at all."""

import codecs
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSetError, RunError
from pytest_rankcheck.files.text_files import lines_of, text_of
from pytest_rankcheck.files.trec_columns import columns_of
from pytest_rankcheck.files.whole_files import readable_json, write_whole

is_root = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


def test_lines_are_numbered_and_blank_ones_skipped(file: Path) -> None:
    file.write_bytes(codecs.BOM_UTF8 + "a\r\n\n  \nü \u2028\x0c b\n\nlast".encode())
    assert list(lines_of(file, RunError)) == [(1, "a"), (4, "ü \u2028\x0c b"), (6, "last")]


def test_a_byte_order_mark_is_dropped_at_the_beginning_only(file: Path) -> None:
    file.write_bytes(b"a\n" + codecs.BOM_UTF8 + b"b\n")
    assert list(lines_of(file, RunError)) == [(1, "a"), (2, "\ufeffb")]
    file.write_bytes(codecs.BOM_UTF8 + b"a\nb")
    assert text_of(file, RunError) == "a\nb"


def test_an_unreadable_file_raises_the_requested_error(file: Path) -> None:
    for error in (RunError, GoldenSetError):
        with pytest.raises(error, match=r"file.txt: no such file"):
            list(lines_of(file, error))
        with pytest.raises(error, match=r"file.txt: no such file"):
            text_of(file, error)
        with pytest.raises(error, match="is a folder"):
            list(lines_of(file.parent, error))
    file.write_bytes(b"fine\n\nbad \xff\n")
    with pytest.raises(RunError, match=r"file.txt:3: byte 5 is not UTF-8; save the file as UTF-8"):
        list(lines_of(file, RunError))
    with pytest.raises(RunError, match=r"file.txt:3: byte 5 is not UTF-8"):
        text_of(file, RunError)


def test_columns_are_separated_by_ascii_white_space() -> None:
    assert columns_of(" a\t b \x0bc\x0cd\r\n") == ["a", "b", "c", "d"]
    assert columns_of("a\u00a0b\u2003c\u2028d\x1ce") == ["a\u00a0b\u2003c\u2028d\x1ce"]


def test_json_is_readable() -> None:
    assert readable_json({"q": "für 鞋 🙂"}) == '{"q": "für 鞋 🙂"}'
    assert readable_json("\u202e\u200b\x85\u2028\ud800") == r'"\u202e\u200b\u0085\u2028\ud800"'
    with pytest.raises(ValueError, match="not JSON compliant"):
        readable_json(float("nan"))


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_readable_json_keeps_the_value(value: object) -> None:
    text = readable_json(value)
    assert json.loads(text) == value
    assert "\n" not in text
    text.encode("utf-8")


# --- writing -----------------------------------------------------------------------------------


def test_a_file_is_written_with_unix_line_ends_and_replaced(file: Path) -> None:
    write_whole(file, "a\nü\n")
    assert file.read_bytes() == "a\nü\n".encode()
    write_whole(file, "b\n")
    assert file.read_text() == "b\n"
    assert [found.name for found in file.parent.iterdir()] == ["file.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_permissions_are_those_of_the_replaced_or_of_a_new_file(file: Path) -> None:
    (file.parent / "new").touch()
    write_whole(file, "a")
    assert file.stat().st_mode == (file.parent / "new").stat().st_mode
    file.chmod(0o640)
    write_whole(file, "b")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(file, "old")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "new")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\ud800")
    assert file.read_text() == "old"
    assert [found.name for found in file.parent.iterdir()] == ["file.txt"]


def test_a_very_long_name_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 240)
    write_whole(file, "a")
    assert file.read_text() == "a"
