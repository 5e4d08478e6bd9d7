"""What is run beyond `pytest`: every supported Python, the slow tests, the peers, a browser.

`.ci/run` runs all sessions but those tagged `night` and `tests-3.12`, whose tests `coverage` runs.
"""

from __future__ import annotations

from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["tests", "coverage", "oracles", "browser", "adapters", "engines", "lint"]

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

MATRIX = {"3.11": OLDEST, "3.12": BETWEEN, "3.13": NEWEST, "3.14": NEWEST}


@nox.session(python=list(MATRIX))
def tests(session: nox.Session) -> None:
    """Run the tests of every day on one Python, with the versions of one row of the matrix."""
    session.install("-e", ".[test,fast]", *MATRIX[str(session.python)])
    session.run("python", "-m", "pip", "list")
    session.run("pytest", "-q", *session.posargs)


@nox.session(python="3.12")
def coverage(session: nox.Session) -> None:
    """Run the tests of every day and the slow ones, and measure which lines they reach.

    Python and versions are those of the session `tests-3.12`, which it replaces in `.ci/run`.
    """
    session.install("-e", ".[test,fast]", *MATRIX["3.12"])
    session.run("coverage", "erase")
    chosen = session.posargs or ["-m", "not (oracle or browser)"]
    session.run("coverage", "run", "-m", "pytest", "-q", *chosen)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session(python="3.11")
def oracles(session: nox.Session) -> None:
    """Compare with the peers: a peer that is missing is a failure here."""
    # rbo, the oracle of rank-biased overlap, needs numpy < 2, and pyarrow 26 needs numpy 2.
    session.install("-e", ".[oracles]", "numpy<2", "pyarrow<26", "rbo==0.1.3")
    session.run("pytest", "-q", "-m", "oracle", "--all-installed", *session.posargs)
    chosen = ["-m", "", "-k", "metrics.md"]
    session.run("pytest", "-q", *chosen, "tests/test_docs.py", "--all-installed")
    session.run("pytest", "-q", "examples/learning_to_rank")


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


@nox.session(python="3.12")
def browser(session: nox.Session) -> None:
    """Open the HTML report in the Chromium of the system."""
    session.install("-e", ".[browser]")
    chosen = session.posargs or ["tests/reports"]
    session.run("pytest", "-q", "-m", "browser", "--all-installed", *chosen)


@nox.session(python="3.12")
def adapters(session: nox.Session) -> None:
    """Ask the rankers of all the libraries that the adapters are for; some are large."""
    session.install("-e", ".[test,fast,adapters]", "lightgbm", "scikit-learn")
    session.run("pytest", "-q", "-n", "2", "-m", "", "tests/rankers", *session.posargs)


@nox.session(python="3.11")
def engines(session: nox.Session) -> None:
    """Check real engines: determinism, depths, relations of indexes; and libraries of clocks."""
    libraries = ("bm25s", "faiss-cpu", "hnswlib", "scikit-learn", "time-machine", "freezegun")
    session.install("-e", ".[test,fast]", *libraries)
    files = [f"tests/behaviour/test_real_{name}.py" for name in ("engines", "index_relations")]
    files.append("tests/behaviour/test_clock_libraries.py")
    session.run("pytest", "-q", "-m", "", *files, *session.posargs)


@nox.session(python="3.12", tags=["night"])
def scale(session: nox.Session) -> None:
    """Rank on loky, Dask and MPI; evaluate parts on Dask, Spark (which needs Java) and DuckDB."""
    session.install("-e", ".[test,fast,scale]", "mpi4py", "mpich")
    files = ["tests/rankers/test_real_executors.py", "tests/evaluation/test_real_engines_parts.py"]
    chosen = session.posargs or files
    session.run("pytest", "-q", "-m", "", "--all-installed", *chosen)


@nox.session(python="3.11")
def lint(session: nox.Session) -> None:
    """Check the format, the rules and the types."""
    session.install("-e", ".[lint]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy")


@nox.session(python="3.12", tags=["night"])
def campaign(session: nox.Session) -> None:
    """Try ten times as many examples, other ones each night, and calibrate the gates in full."""
    session.install("-e", ".[test,benchmark]")
    session.run("pytest", "-q", "--hypothesis-profile=campaign", *session.posargs)
    session.run("python", "benchmarks/calibration.py")
    session.run("python", "benchmarks/slide.py")


@nox.session(python="3.12", tags=["night"])
def fuzz(session: nox.Session) -> None:
    """Give every reader, grammar and report a million broken inputs, other ones each night."""
    session.install("-e", ".[test,fast]")
    chosen = session.posargs or ["-n", "auto", "--dist=worksteal"]
    session.run("pytest", "-q", "--hypothesis-profile=fuzz", "tests/fuzz", *chosen)


@nox.session(python="3.12", tags=["night"])
def histories(session: nox.Session) -> None:
    """Play 10,000 random steps of updates, edits, kills and pull requests on baselines."""
    session.install("-e", ".[test,fast]")
    session.run("python", "tests/adversary/random_history.py", *(session.posargs or ["10000"]))


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
