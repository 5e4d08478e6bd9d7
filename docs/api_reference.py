"""The reference of public names in docs/api.md: ``python docs/api_reference.py`` writes it.

The groups below say in which order names are listed and where the manual explains them. All else
comes from the code: signatures, and the first lines of docstrings.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest_rankcheck
from pytest_rankcheck import metrics, rankers
from pytest_rankcheck.golden.expectation import Marks
from pytest_rankcheck.metrics.metric_registry import Declared
from pytest_rankcheck.rankers.rank import RankOptions
from pytest_rankcheck.rankers.ranking import ReadingOptions
from pytest_rankcheck.sessions.log_options import Reading

PAGE = Path(__file__).parent / "api.md"


@dataclass(frozen=True)
class Group:
    """Names that the manual explains in one place."""

    title: str
    explained: str
    """The page, and the section, relative to this folder."""
    names: str


GROUPS = (
    Group("Golden sets", "golden-sets.md", "GoldenSet Query LintFinding"),
    Group("Expectations", "behaviour.md#expectations-on-single-queries", "Expectation"),
    Group("Runs and rankers", "rankers.md", "Run rank"),
    Group(
        "Adapters for rankers",
        "rankers.md#models-that-are-asked-in-their-own-way",
        "rankers.batch rankers.scorer rankers.model rankers.embedder "
        "rankers.http rankers.command rankers.retriever",
    ),
    Group(
        "Writing an adapter",
        "extending.md#writing-an-adapter",
        "rankers.Adapter rankers.RankingTask rankers.QueryAnswer",
    ),
    Group(
        "Evaluating",
        "metrics.md",
        "evaluate evaluate_arrays Conventions Evaluation Metric MetricWarning",
    ),
    Group("Large runs", "scale.md", "evaluate_part EvaluationPart"),
    Group(
        "Several runs side by side",
        "rankers.md#candidates-beside-the-ranker-that-ships",
        "compare_runs RunsComparison RunRow",
    ),
    Group(
        "Comparing",
        "gates.md",
        "compare Comparison ComparedValues Paired Unpaired Differences RunNoise Move Cause "
        "CauseKind Unjudged plan prove",
    ),
    Group(
        "Assertions",
        "gates.md",
        "assert_at_least assert_at_most assert_not_regressed assert_ndcg_at_least "
        "assert_ndcg_not_regressed assert_mrr_at_least assert_mrr_not_regressed "
        "assert_map_at_least assert_map_not_regressed assert_precision_at_least "
        "assert_precision_not_regressed assert_recall_at_least assert_recall_not_regressed "
        "assert_hit_rate_at_least assert_hit_rate_not_regressed assert_err_at_least "
        "assert_err_not_regressed",
    ),
    Group(
        "Gates and verdicts",
        "gates.md#gates",
        "Gate GateRule Evidence Verdict Outcome Decision Gap TieEffect MixEffect LostAnswers "
        "ReplayEvidence",
    ),
    Group(
        "Baselines",
        "baselines.md",
        "Baseline Record RecordedSet RecordedMetric RecordedQueries Approval Change",
    ),
    Group(
        "What a ranker does",
        "behaviour.md",
        "assert_expectations assert_ranking_stable assert_deterministic assert_consistent_depth "
        "assert_invariant counterfactual",
    ),
    Group(
        "Metrics of your own",
        "metrics.md#writing-your-own",
        "metric JudgedHits Parameter metrics.number metrics.choice metrics.flag metrics.mapping "
        "metrics.call metrics.Call metrics.one_of check_metric LawReport",
    ),
    Group(
        "Similarity of rankings",
        "metrics.md#two-rankings-of-one-query",
        "rbo overlap jaccard top_k_kendall kendall_tau kendall_distance spearman tau_ap",
    ),
    Group(
        "Search sessions",
        "sessions.md",
        "SessionLog SessionState SetAside evaluate_sessions",
    ),
    Group(
        "Errors",
        "#errors-and-warnings",
        "RankcheckError ConfigurationError GoldenSetError RunError SessionLogError MetricError "
        "BaselineError UnknownIdError RankerError",
    ),
    Group("Version", "README.md", "__version__"),
)

INTERNAL = {
    "ComparedValues": "size is_same test_name effective_size is_coarse",
    "Comparison": "answers places other_places all_ids all_units by_earlier_terms slice_places",
    "Differences": "gains degrees",
    "Evaluation": "fits refuse_no_value differences_at recorded_metrics slice_places "
    "computed cluster_names gaps weights_of averaged "
    "warn_of_misfits of_rankings",
    "EvaluationPart": "merged origin hits",
    "Approval": "now to_dict",
    "Gate": "refuse_misfit",
    "GoldenSet": "kind columns catalogue",
    "JudgedHits": "about",
    "Metric": "of definition compute weights gain kind",
    "Paired": "contributions counted at",
    "Record": "slice_places cluster_names text weights_of kind averaged unknown",
    "Run": "columns rankings with_facts with_rankings without_own_documents",
    "SessionLog": "trails repeated_users cluster_names",
    "RecordedMetric": "of averaging with_noise_of",
    "RunNoise": "pooled by_earlier_terms refuse_units spread share_text test_name unknown planned",
    "RecordedQueries": "of",
    "Change": "from_dict fall is_covered is_undone",
    "Decision": "left_open",
    "Verdict": "ruling left_open",
}
"""Members that only the package itself uses, by class."""

OPTIONS = {each.__name__: each for each in (Declared, Marks, RankOptions, Reading, ReadingOptions)}
"""The keywords that several functions take together."""

ONLY = {"Baseline": "path record test_id"}
"""The public members of classes that are mostly internal."""

TYPES = {
    "Divide": '`"relevant"` or `"min"`',
    "Duplicates": '`"error"` or `"first"`',
    "Family": "an assertion: `metrics`, the gate of each, and `by`, the attributes of its slices",
    "Extra": '`"ignore"` or `"error"`',
    "FloatArray": "a numpy array of float64",
    "Gain": '`"linear"` or `"exponential"`',
    "IntArray": "a numpy array of integers",
    "Kind": '`"in_top"`, `"not_in_top"`, `"above"`, `"some_results"` or `"no_results"`',
    "LawResult": "a law, whether it holds, and a counterexample",
    "Level": '`"error"` or `"warning"`',
    "MetricFunction": "a function from `JudgedHits` (or another input) to one value per query",
    "Missing": '`"empty"` or `"error"`',
    "NoRelevant": '`"zero"`, `"exclude"`, `"one"` or `"one_in_ndcg"`',
    "OwnDocument": '`"keep"` or `"drop"`',
    "ParameterCheck": "a function that returns a value in canonical form, or raises ValueError",
    "PlaceArray": "a numpy array of indexes",
    "Slices": "query ids by the value of an attribute",
    "Replay": "the propensity of a replay as text, what was clipped, and what else it was given",
    "Severity": '`"error"` or `"warn"`',
    "StabilityLimits": "the limits of an `assert_ranking_stable`, with `p` and the compared `k`",
    "Ties": '`"doc_id"`, `"input"`, `"worst"` or `"error"`',
    "Unit": '`"query"`, `"session"`, `"run"` or `"time"`',
    "Value": "a number, text, truth value, mapping of grades or `metrics.Call`",
}

"""Types that signatures name and that are not public, and what they are."""

BUILT_IN = {"Any", "Callable", "ClassVar", "Exception", "False", "Iterable", "Iterator"} | {
    "Mapping",
    "None",
    "Path",
    "Sequence",
    "True",
}


def objects() -> dict[str, object]:
    """Return every public object by its name."""
    found = {
        name: getattr(pytest_rankcheck, name)
        for name in pytest_rankcheck.__all__
        if name not in ("rankers", "metrics")
    }
    for package in (rankers, metrics):
        room = package.__name__.rpartition(".")[2]
        found |= {f"{room}.{name}": getattr(package, name) for name in package.__all__}
    return found


def first_line(text: str | None) -> str:
    """Return the first sentence of a docstring, as Markdown."""
    paragraph = " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split())
    return paragraph.replace("``", "`").replace("|", "\\|")


def signature_of(function: object, name: str) -> str:
    """Return a call of a function with its parameters, their defaults and what it returns."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returns = str(signature.return_annotation)
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Parameter.empty))
    for parameter in signature.parameters.values():
        _, _, options = str(parameter.annotation).partition("Unpack[")
        if options:
            keywords = OPTIONS[options.rstrip("]")].__annotations__
            shown = shown.replace(f"**{parameter.name}", ", ".join(f"{key}=" for key in keywords))
    result = "" if signature.return_annotation is inspect.Signature.empty else f" -> {returns}"
    return f"{name}{shown}{result}".replace("'", '"')


@dataclass(frozen=True)
class Member:
    """A public attribute or method of a class."""

    name: str
    shown: str
    """Its signature."""
    text: str


def members_of(kind: type) -> Iterator[Member]:
    """Yield the public members of a class that no public class above it has already."""
    above = [other for other in kind.__mro__[1:] if other in set(objects().values())]
    known = {member.name for other in above for member in members_of(other)}
    classes = [other for other in kind.__mro__ if other.__module__.startswith("pytest_rankcheck")]
    hidden = {name for other in classes for name in INTERNAL.get(other.__name__, "").split()}
    for other in classes:
        for member in _own_members(other, kind.__name__):
            shown = member.name in ONLY.get(kind.__name__, member.name).split()
            if shown and member.name not in known | hidden and not member.name.startswith("_"):
                known.add(member.name)
                yield member


def _own_members(kind: type, owner: str) -> Iterator[Member]:
    yield from _fields(kind)
    for name, value in vars(kind).items():
        function = value
        called = f"{owner}.{name}" if isinstance(value, (classmethod, staticmethod)) else f".{name}"
        if isinstance(value, (classmethod, staticmethod)):
            function = value.__func__
        if isinstance(value, property):
            function = value.fget
        elif isinstance(value, cached_property):
            function = value.func
        if not inspect.isfunction(function):
            continue
        if isinstance(value, (property, cached_property)):
            returns = str(inspect.signature(function).return_annotation)
            yield Member(name, f".{name}: {returns}", first_line(function.__doc__))
        else:
            signature = signature_of(function, called).replace("-> Self", f"-> {owner}")
            yield Member(name, signature, first_line(function.__doc__))


def _fields(kind: type) -> Iterator[Member]:
    """Yield the annotated attributes of a class, and those that __init__ documents."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = _string(after)
            yield Member(node.target.id, f".{node.target.id}: {ast.unparse(node.annotation)}", text)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield Member(node.targets[0].id, f".{node.targets[0].id}", _string(after))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for line, below in zip(node.body, [*node.body[1:], None], strict=True):
                target = line.target if isinstance(line, ast.AnnAssign) else None
                if isinstance(line, ast.Assign):
                    target = line.targets[0]
                if isinstance(target, ast.Attribute) and _string(below):
                    yield Member(target.attr, f".{target.attr}", _string(below))


def _string(node: ast.stmt | None) -> str:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return first_line(str(node.value.value)) if is_text else ""  # type: ignore[union-attr]


def types_in_signatures() -> set[str]:
    """Return the names of types in signatures that are not public themselves."""
    public = {name.rpartition(".")[2] for name in objects()}
    texts = []
    for name, value in objects().items():
        if inspect.isclass(value):
            texts += [member.shown for member in members_of(value)]
        elif callable(value):
            texts.append(signature_of(value, name))
    return set(re.findall(r"(?<![\w.\"])[A-Z]\w+", " ".join(texts))) - public - BUILT_IN


def reference() -> str:
    """Return the generated part of the page."""
    public = objects()
    lines: list[str] = []
    for group in GROUPS:
        where = group.explained
        title = where if where.startswith("#") else where.partition("#")[0]
        lines += [f"### {group.title}", "", f"Explained in [{title}]({where}).", ""]
        names = group.names.split()
        functions = [name for name in names if not inspect.isclass(public[name])]
        if functions:
            lines += ["| name | what it is |", "|---|---|"]
            for name in functions:
                value = public[name]
                shown = signature_of(value, name) if callable(value) else name
                text = first_line(value.__doc__) if callable(value) else "The installed version."
                lines.append(f"| `{_cell(shown)}` | {text} |")
            lines.append("")
        for name in names:
            value = public[name]
            if inspect.isclass(value):
                lines += list(_class(name, value))
    lines += ["### Types in signatures", "", "| type | what it takes |", "|---|---|"]
    shown = sorted(TYPES.items(), key=lambda item: item[0].casefold())
    lines += [f"| `{name}` | {text} |" for name, text in shown]
    return "\n".join(lines) + "\n"


def _class(name: str, kind: type) -> Iterator[str]:
    public = set(objects().values())
    bases = [
        base.__name__
        for base in kind.__bases__
        if base in public or (base.__module__ == "builtins" and base is not object)
    ]
    shown = f"`{name}`" + (f" ({', '.join(f'`{base}`' for base in bases)})" if bases else "")
    yield f"**{shown}**: {first_line(kind.__doc__)}"
    yield ""
    rows = [f"| `{_cell(member.shown)}` | {member.text} |" for member in members_of(kind)]
    if rows:
        yield from ["| member | what it is |", "|---|---|", *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """Return docs/api.md with the generated part as it should be."""
    pattern = r"(<!-- public names:[^\n]*-->\n).*?(<!-- end of public names -->)"
    text = PAGE.read_text("utf-8")
    made, count = re.subn(
        pattern, lambda found: f"{found[1]}{reference()}{found[2]}", text, flags=re.DOTALL
    )
    assert count == 1
    return made


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
