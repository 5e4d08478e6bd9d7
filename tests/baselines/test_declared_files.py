"""The files that ``rankcheck_world`` declares, which a ranker may read whose answers are kept."""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.baselines.world import declared_files


def test_files_folders_and_patterns_are_declared(tmp_path: Path) -> None:
    for name in ("a.bin", "models/one.bin", "models/deep/two.bin", "data/x.csv", "data/y.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    lines = [" a.bin ", "models", "data/*.csv", "package:numpy", "missing.bin"]
    found = {Path(path).relative_to(tmp_path.resolve()) for path in declared_files(lines, tmp_path)}
    assert found == {
        Path("a.bin"),
        Path("models/one.bin"),
        Path("models/deep/two.bin"),
        Path("data/x.csv"),
    }
