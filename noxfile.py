"""What is run beyond `pytest`: the oldest and newest versions, the slow tests, the peers.

`.ci/run` runs the sessions without a tag; workflows run those tagged `night` and `week`.
"""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

nox.options.default_venv_backend = "uv|venv"  # uv where it is, else venv and pip
nox.options.sessions = ["lint", "site", "oldest", "package", "coverage", "peers"]

OLDEST = [
    "pytest==8.4.0",
    "syrupy==5.3.0",
    "numpy==1.26.0",
    "pandas==2.2.0",
    "polars==1.30.0",
    "pyarrow==18.0.0",
]
"""The lower bounds of pyproject.toml, all at once."""

BETWEEN = ["pytest~=9.0.0", "syrupy~=6.0", "numpy~=2.2.0", "pandas~=2.3.0", "pyarrow"]
NEWEST = ["pytest>=9.1", "syrupy>=7,<8", "numpy>=2.3", "pandas>=3", "pyarrow"]
EVERY_CORE = ["-n", "auto", "--dist=worksteal"]


def can_import(session: nox.Session, *libraries: str) -> None:
    """Fail if a library is missing: the tests that need it would be deselected in silence."""
    session.run("python", "-c", f"import {', '.join(libraries)}")


@nox.session
def lint(session: nox.Session) -> None:
    """Check the format, the rules and the types."""
    session.install("-e", ".[lint]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy")


@nox.session
def site(session: nox.Session) -> None:
    """Build the site of the manual in build/site; a broken link or anchor is an error."""
    session.install("zensical==0.0.73")
    shutil.rmtree("build/site", ignore_errors=True)
    session.run("zensical", "build", "--strict", "--clean")
    session.run("python", "docs/check_site.py", "build/site")


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """Run the tests of every day on the oldest supported Python and versions."""
    session.install("-e", ".[test,fast]", *OLDEST)
    can_import(session, "polars", "pyarrow")
    session.run("pytest", "-q", *(session.posargs or EVERY_CORE))


def check_contents(session: nox.Session, wheel: Path, sdist: Path) -> None:
    """Fail unless the wheel has the package alone, and the sdist all but what is for CI."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = {*str(session.run(*listed, external=True, silent=True)).split("\0")} - {""}
    expected = {name for name in files if name.startswith("pytest_rankcheck/")}
    with zipfile.ZipFile(wheel) as packed:
        found = {name for name in packed.namelist() if ".dist-info/" not in name}
    if found != expected:
        session.error(f"{wheel} differs from the checkout: {sorted(found ^ expected)}")
    expected = {name for name in files if not name.startswith((".ci/", ".github/"))}
    with tarfile.open(sdist) as packed:
        found = {name.partition("/")[2] for name in packed.getnames()} - {"PKG-INFO"}
    if found != expected:
        session.error(f"{sdist} differs from the checkout: {sorted(found ^ expected)}")


@nox.session(python="3.11")
def package(session: nox.Session) -> None:
    """Build sdist and wheel in `dist/`, check both, and run an example with each of them."""
    session.install("build", "check-wheel-contents", "twine")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    (wheel,), (sdist,) = Path("dist").glob("*.whl"), Path("dist").glob("*.tar.gz")
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    session.run("check-wheel-contents", str(wheel))
    check_contents(session, wheel, sdist)
    clean = Path(session.create_tmp()).resolve() / "clean"
    session.run("python", "-m", "venv", "--clear", str(clean))
    for archive in (wheel.resolve(), sdist.resolve()):
        try_example(session, clean, archive)


def try_example(session: nox.Session, clean: Path, archive: Path) -> None:
    """Install an archive in an environment; run the gates of an example outside the checkout."""
    run = partial(session.run, str(clean / "bin" / "python"), external=True, env={"PYTHONPATH": ""})
    run("-m", "pip", "uninstall", "-q", "--yes", "pytest-rankcheck")  # what it needs stays
    run("-m", "pip", "install", "-q", "--no-compile", f"{archive}[report]")
    with TemporaryDirectory() as folder:
        shutil.copytree("examples/symbol_search", folder, dirs_exist_ok=True)
        with session.chdir(folder):
            run("-c", f"import pytest_rankcheck as p; assert p.__file__.startswith({str(clean)!r})")
            run("-m", "pytest", "-q", "--rankcheck-html=report.html", "tests/test_ranking.py")


@nox.session(python=["3.14", "3.13"])
def coverage(session: nox.Session) -> None:
    """Measure the coverage of the tests of every day on the newest versions; run the slow ones."""
    session.install("-e", ".[test,fast,report]", "coverage>=7.10", "pip", *NEWEST)
    can_import(session, "pip", "polars", "pyarrow")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-q", *(session.posargs or EVERY_CORE))
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")
    if not session.posargs:  # traced, they would take half as long again
        session.run("pytest", "-q", "-m", "slow and not (oracle or browser)", *EVERY_CORE)


@nox.session(python="3.11")
def peers(session: nox.Session) -> None:
    """Compare with other libraries, ask rankers of them, and look at the report.

    Something that is not installed is a failure here.
    """
    models = ("lightgbm", "scikit-learn")
    # rbo, the oracle of rank-biased overlap, and RecTools need numpy < 2; pyarrow 26 needs numpy 2.
    pins = ("numpy<2", "pyarrow<26", "rbo==0.1.3", "rectools")
    session.install("-e", ".[oracles,browser,adapters]", *models, *pins)
    marked = ["-m", "oracle or browser", *EVERY_CORE, "--all-installed"]
    session.run("pytest", "-q", *(session.posargs or [*marked, "tests"]))
    if not session.posargs:
        can_import(session, "langchain_core", "llama_index.core", "pyterrier")
        adapters = ["tests/rankers/adapters", "tests/rankers/test_calling.py"]
        session.run("pytest", "-q", "-m", "not slow", *adapters)
        session.run("pytest", "-q", "-m", "", "-k", "metrics.md", "tests/test_docs.py")
        session.run("pytest", "-q", "examples/learning_to_rank")


@nox.session(python=["3.12", "3.13", "3.14"], tags=["night"])
def tests(session: nox.Session) -> None:
    """Run the tests of every day on the versions of Python between the oldest and the newest."""
    versions = BETWEEN if session.python == "3.12" else NEWEST
    session.install("-e", ".[test,fast]", *versions)
    can_import(session, "polars", "pyarrow")
    session.run("pytest", "-q", *session.posargs)


@nox.session(python=["3.14", "3.13"], tags=["night"])
def thorough(session: nox.Session) -> None:
    """Run all that coverage runs, on the largest sizes too, and with twice as many examples."""
    session.install("-e", ".[test,fast,report]", "pip", *NEWEST)
    can_import(session, "pip", "polars", "pyarrow")
    everything = ["-m", "not (oracle or browser)", "--hypothesis-profile=thorough"]
    session.run("pytest", "-q", *everything, *(session.posargs or EVERY_CORE))


@nox.session(python=["3.14", "3.13"], tags=["week"])
def newest(session: nox.Session) -> None:
    """Run the tests on the newest of every dependency, also where our own bounds exclude it."""
    session.install("-e", ".[adapters,report,scale,test]")
    session.install("--upgrade", "syrupy")  # the one with an upper bound
    session.run("pytest", "-q", *(session.posargs or EVERY_CORE))


@nox.session(python="3.11", tags=["night"])
@nox.parametrize(
    "tools",
    [
        ("beir", "llama-index-core", "rectools", "torchmetrics"),
        ("langchain-community<0.4", "mteb", "ragas", "rapidfuzz"),
    ],
    ids=["numpy-1", "numpy-2"],
)
def names(session: nox.Session, tools: tuple[str, ...]) -> None:
    """Compare the tables of metric names with tools that are too large for every day."""
    session.install("-e", ".[test,fast]", *tools)
    session.run("pytest", "-q", "-m", "oracle", "tests/oracles/test_name_tables.py")


@nox.session(python="3.12", tags=["night"])
def scale(session: nox.Session) -> None:
    """Rank on loky and Dask; evaluate parts on Dask and DuckDB."""
    session.install("-e", ".[test,fast,scale]")
    files = ["tests/rankers/test_real_executors.py", "tests/evaluation/test_real_engines_parts.py"]
    chosen = session.posargs or files
    session.run("pytest", "-q", "-m", "", "--all-installed", *chosen)


@nox.session(python="3.12", tags=["night"])
def campaign(session: nox.Session) -> None:
    """Try ten times as many examples, other ones each night, and calibrate the gates in full."""
    session.install("-e", ".[test,benchmark]")
    session.run("pytest", "-q", "--hypothesis-profile=campaign", *session.posargs)
    session.run("python", "benchmarks/calibration.py")


@nox.session(python="3.12", tags=["night"])
def fuzz(session: nox.Session) -> None:
    """Give every reader, grammar and report a million broken inputs, other ones each night."""
    session.install("-e", ".[test,fast]")
    chosen = session.posargs or EVERY_CORE
    session.run("pytest", "-q", "--hypothesis-profile=fuzz", "tests/fuzz", *chosen)


@nox.session(python="3.12", tags=["night"])
def histories(session: nox.Session) -> None:
    """Play 10,000 random steps of updates, edits, kills and pull requests on baselines."""
    session.install("-e", ".[test,fast]")
    steps = session.posargs or ["10000"]
    session.run("python", "tests/adversary/random_history.py", *steps, env={"PYTHONPATH": "tests"})


@nox.session(python="3.11", tags=["night"])
def benchmark(session: nox.Session) -> None:
    """Measure every shape and form against the peers; RecTools needs another numpy, so a Python."""
    session.install("-e", ".[benchmark]")
    other = Path(session.create_tmp()) / "rectools"
    session.run("python", "-m", "venv", str(other))
    python = str(other / "bin" / "python")
    libraries = ("rectools", "polars", "pyarrow<22")
    session.run(python, "-m", "pip", "install", "-q", *libraries, external=True)
    chosen = session.posargs or ["--json", "speed.json", "--write"]
    session.run("python", "benchmarks/compare.py", "--python", f"RecTools={python}", *chosen)
