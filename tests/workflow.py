"""GitHub Actions in small: run the steps of an action or a job, with a `gh` that keeps comments."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BOT = "github-actions[bot]"

FAKE_GH = """
import json, os, subprocess, sys
from pathlib import Path

FILE = Path(os.environ["FAKE_GITHUB"])
state = json.loads(FILE.read_text("utf-8"))
options, fields, places = {"--method": "GET"}, {}, []
words = iter(sys.argv[1:])
for word in words:
    if word == "--paginate":
        options[word] = True
    elif word in ("--method", "--jq"):
        options[word] = next(words)
    elif word in ("--field", "--raw-field"):
        name, _, value = next(words).partition("=")
        if word == "--field" and value.startswith("@"):
            value = Path(value[1:]).read_text("utf-8", "replace")
        fields[name] = value
    else:
        places.append(word)
api, place = places
assert api == "api", places
place, _, query = place.partition("?")
method = options["--method"]
state["calls"].append(f"{method} {place}")

def fail(status, message):
    FILE.write_text(json.dumps(state), "utf-8")
    print(json.dumps({"message": message}))
    sys.exit(f"gh: {message} (HTTP {status})")

if state["refuses"] and method in state["refuses"][2:]:
    fail(*state["refuses"][:2])
if len(fields.get("body", "")) > 65536:
    fail(422, "Validation Failed")
repository = "repos/team/shop"
comments = state["comments"]
if (method, place) == ("GET", f"{repository}/issues/7/comments"):
    size = int(query.removeprefix("per_page=") or 30)
    pages = [comments[at : at + size] for at in range(0, len(comments), size)] or [[]]
    answers = pages if "--paginate" in options else pages[:1]
elif (method, place) == ("GET", f"{repository}/pulls"):
    assert fields["state"] == "open"
    answers = [[pull for pull in state["pulls"] if pull["label"] == fields["head"]]]
elif (method, place) == ("POST", f"{repository}/issues/7/comments"):
    comments.append({"id": 1000 + len(comments), "user": {"login": state["bot"]}, **fields})
    answers = [comments[-1]]
elif method == "PATCH":
    answers = [each for each in comments if place == f"{repository}/issues/comments/{each['id']}"]
    answers[0].update(fields)
else:
    fail(404, "Not Found")
FILE.write_text(json.dumps(state), "utf-8")
for answer in answers:
    command = ["jq", "-r", options.get("--jq", ".")]
    subprocess.run(command, input=json.dumps(answer), text=True, check=True)
"""

FAKE_PYTHON = """\
#!/bin/sh
if [ "$*" = "${*#-m pip}" ]; then exec "$REAL_PYTHON" "$@"; fi
printf '<%s>' "$@" >>"$PIP_LOG"
exit "$PIP_STATUS"
"""
"""Python that writes down what pip is to install."""


class GitHub:
    """A repository, team/shop, with pull request 7."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "github.json"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.program("gh", f"#!{sys.executable}{FAKE_GH}")
        self.set(comments=[], pulls=[], refuses=None, calls=[], bot=BOT)
        files = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        self.environment = {
            "PATH": os.pathsep.join(
                [str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "FAKE_GITHUB": str(self.file),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_REPOSITORY": "team/shop",
            "GITHUB_RUN_ID": "12",
            "GITHUB_SERVER_URL": "https://github.com",
            "RUNNER_TEMP": str(folder),
            **{name: str(folder / name) for name in files},
        }

    def program(self, name: str, text: str) -> None:
        """Put a program before all others on the path."""
        (self.bin / name).write_text(text, "utf-8")
        (self.bin / name).chmod(0o755)

    def fake_pip(self, status: int = 0) -> Path:
        """Let pip install nothing, but write down its arguments; return the file."""
        self.program("python", FAKE_PYTHON)
        log = self.folder / "pip.log"
        self.environment |= {
            "REAL_PYTHON": sys.executable,
            "PIP_LOG": str(log),
            "PIP_STATUS": str(status),
        }
        return log

    def set(self, **values: Any) -> None:
        """Set what GitHub has, or refuses: ``(status, message, *methods)``."""
        before = json.loads(self.file.read_text("utf-8")) if self.file.exists() else {}
        self.file.write_text(json.dumps(before | values), "utf-8")

    def __getitem__(self, name: str) -> Any:
        return json.loads(self.file.read_text("utf-8"))[name]

    @property
    def summary(self) -> str:
        """What steps have written into their summary."""
        file = Path(self.environment["GITHUB_STEP_SUMMARY"])
        return file.read_text("utf-8") if file.exists() else ""

    def bash(
        self, command: list[str], folder: Path, **environment: str
    ) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
        """Run bash; return how it ended, and the outputs that it set."""
        outputs = Path(self.environment["GITHUB_OUTPUT"])
        outputs.write_text("", "utf-8")
        done = subprocess.run(
            ["bash", *command],
            cwd=folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        lines = outputs.read_text("utf-8").splitlines()
        return done, dict(line.split("=", 1) for line in lines)


class Steps:
    """The steps of a composite action or a job, run as GitHub runs them.

    Args:
        github: the repository.
        steps: from YAML.
        folder: where the repository is checked out.
        context: the values of expressions by name, such as ``inputs.name``.
    """

    def __init__(
        self, github: GitHub, steps: list[dict[str, Any]], folder: Path, context: dict[str, str]
    ) -> None:
        self._github = github
        self._folder = folder
        self._context = context
        self.used: dict[str, dict[str, str]] = {}
        """What other actions were given."""
        self.log = ""
        self.status = 0
        for step in steps:
            condition = str(step.get("if", "success()")).removeprefix("${{").removesuffix("}}")
            runs_anyway = "cancelled()" in condition
            if (runs_anyway or not self.status) and self.evaluate(condition):
                self._run(step)

    def _run(self, step: dict[str, Any]) -> None:
        if "uses" in step:
            given = step.get("with", {})
            self.used[step["uses"]] = {name: self.text(value) for name, value in given.items()}
            return
        script = self._github.folder / "step.sh"
        script.write_text(step["run"], "utf-8")
        environment = {name: self.text(value) for name, value in step.get("env", {}).items()}
        folder = self._folder / self.text(step.get("working-directory", "."))
        strict = ["--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done, outputs = self._github.bash(strict, folder, **environment)
        self.log += done.stdout
        self.status = self.status or done.returncode
        prefix = f"steps.{step.get('id')}.outputs."
        self._context |= {f"{prefix}{name}": value for name, value in outputs.items()}

    def text(self, value: object) -> str:
        """Return a value of the file, with what its expressions mean."""

        def shown(found: object) -> str:
            return str(found).lower() if isinstance(found, bool) else str(found)

        return re.sub(
            r"\$\{\{(.*?)\}\}", lambda match: shown(self.evaluate(match[1])), shown(value)
        )

    def evaluate(self, expression: str) -> Any:
        """Return what an expression means; names without a value are empty."""

        def term(match: re.Match[str]) -> str:
            word = match[0]
            operators = {"&&": " and ", "||": " or ", "!": " not "}
            calls = {"cancelled()": "False", "success()": "True", "always()": "True"}
            if word in ("==", "!=", "(", ")") or word.startswith("'"):
                return word
            return {**operators, **calls}.get(word) or repr(self._context.get(word, ""))

        pattern = r"'[^']*'|[=!]=|&&|\|\||!|[a-z]+\(\)|[\w.-]+|[()]"
        return eval(re.sub(pattern, term, expression).strip())
