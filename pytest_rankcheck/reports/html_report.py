"""The HTML page: the template, filled with the report and with everything that it needs."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.findings import Note, Topic, by_heading
from pytest_rankcheck.reports.json_report import report_json
from pytest_rankcheck.reports.report_data import Report, has_baseline, worst_queries
from pytest_rankcheck.reports.text.metrics_text import headline

if TYPE_CHECKING:
    from jinja2 import Template

_Data = dict[str, Any]
_LONGEST_TEXT = 500
_SCRIPT = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""What could end a script element or its line in JSON; it occurs only inside strings."""


def html_of(report: Report) -> str:
    """Return the report as one HTML file: styles, scripts, charts and data inside."""
    from markupsafe import Markup

    script, style, charts = map(page_part, ("report.js", "report.css", "charts.json"))
    data = _harmless(report_json(report))
    approvals = _approvals(data["gates"])
    is_compared = any(gate.baseline is not None for gate in report.gates)
    has_charts = is_compared or approvals or any(map(has_baseline, report.measurements))
    library = page_part("vega.js") if has_charts else ""
    return page_template("report.html.j2").render(
        session=report,
        report=data,
        notes=_harmless(
            [
                (heading, [note.text for note in notes])
                for heading, notes in by_heading(report.notes).items()
            ]
        ),
        changes=any(note.topic is Topic.BRANCH for note in report.notes),
        failures=[
            (gate, worst_queries(gate, data["measurements"]))
            for gate in data["gates"]
            if gate["failure"]
        ],
        blockers=_harmless(list(_blockers(report))),
        approvals=approvals,
        policy=_policy([library, script] if library else [script], style),
        style=Markup(style),
        script=Markup(script),
        library=Markup(library),
        data=Markup(_json(data)),
        charts=Markup(charts),
    )


def _blockers(report: Report) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what blocks, in a line, with its causes; what did not run is among the problems."""
    for each in report.blockers:
        is_problem = isinstance(each, Note) and each.topic is Topic.NOT_RUN
        if each.failure and not is_problem:
            yield headline(each.failure), each.failure.causes


def _approvals(gates: Sequence[_Data]) -> list[tuple[_Data, _Data]]:
    """Return the approvals of all baselines, each once, with a gate of its test; oldest first."""
    approvals = {
        (gate["test"], approval["date"], approval["reason"]): (gate, approval)
        for gate in gates
        for approval in gate["approvals"]
    }
    return sorted(approvals.values(), key=lambda pair: str(pair[1]["date"]))


def page_template(name: str, **options: Any) -> Template:
    """Return the template of a page, which escapes what it is given."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
    return environment.from_string(page_part(name))


def page_part(name: str) -> str:
    """Return the text of a file of the page, with the line ends that browsers see."""
    return (files(__package__) / "html" / name).read_text("utf-8")


def _policy(scripts: Sequence[str], style: str) -> str:
    """Return the Content-Security-Policy of the page: only these scripts run, and nothing loads."""
    allowed = " ".join(map(_source, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    """Return the entry that allows one script or style in a policy: its hash."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates cannot be encoded.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_SCRIPT)


def _harmless(value: Any) -> Any:
    """Return a value with the control characters of its texts escaped.

    Long texts are cut, except commands, which would no longer work.
    """
    if isinstance(value, str):
        if "\n" in value:  # the text of a failure
            return "\n".join(quoted(line, _LONGEST_TEXT) for line in value.split("\n"))
        return quoted(value, _LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {
            quoted(key, _LONGEST_TEXT): quoted(item, len(item))
            if key == "command" and isinstance(item, str)
            else _harmless(item)
            for key, item in value.items()
        }
    return [_harmless(item) for item in value] if isinstance(value, (list, tuple)) else value
