"""pytest's assertion rewriting skips our own modules, also in an installed wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TEST = """
import sys
from importlib.machinery import SourceFileLoader

def test_loaders(request):
    import helper
    from pytest_rankcheck import GoldenSet, evaluate
    # What pytest imports before our finder is there.
    before = {"pytest_rankcheck", "pytest_rankcheck.lazy_names", "pytest_rankcheck.plugin"}
    ours = {name: module for name, module in sys.modules.items() if name.startswith("pytest_rankc")}
    assert len(ours) > 20
    rewritten = {name for name, module in ours.items() if type(module.__loader__) is not SourceFileLoader}
    assert rewritten == before
    assert type(sys.modules[__name__].__loader__).__name__ == "AssertionRewritingHook"
"""


@pytest.mark.slow
def test_the_modules_of_a_wheel_have_the_ordinary_loader(tmp_path: Path) -> None:
    """pytest marks every package of an installed distribution; here the finder is needed."""
    wheel, folder = tmp_path / "wheel", tmp_path / "project"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", wheel, ROOT]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot install from the checkout here: {done.stderr[-300:]}")
    folder.mkdir()
    (folder / "helper.py").write_text("", "utf-8")
    (folder / "test_loaders.py").write_text(TEST, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_loaders.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
