"""The state of code that the commit of the repository does not cover.

This is the ranker's package, if it is in another folder or ignored by git, and every project that
is installed as editable, because its version stays the same while its files change.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.files.work_tree import work_tree
from pytest_rankcheck.rankers.execution.undeclared_inputs import installed_folders

__all__ = ["code_elsewhere"]

_OURS = "pytest-rankcheck"
_DIGITS = 16


def code_elsewhere(
    origin: str | None, top: Path | None, covered: Collection[str], root: Path
) -> Mapping[str, str]:
    """Return a digest of each folder or file with code that the commit does not cover.

    Args:
        origin: the ranker, as ``package.module:name``, or another description.
        top: the resolved top folder of the repository; None: outside git.
        covered: the resolved paths of the files that its commit and changes cover.
        root: the folder of the current project.
    """
    found: dict[str, str] = {}
    for folder in _editable_projects():
        if top is None or not folder.is_relative_to(top):
            found[folder.as_posix()] = _state(folder)
    for place in _package_of(origin):
        files = _modules(place)
        if all(str(file) in covered for file in files):
            continue
        is_inside = top is not None and place.is_relative_to(top)
        # The name of a file below the project is the same on every machine.
        name = place.relative_to(root) if place.is_relative_to(root) else place
        found[name.as_posix()] = (
            _digest(place, files) if is_inside or top is None else _state(place)
        )
    return found


def _package_of(origin: str | None) -> Iterator[Path]:
    """Yield the top-level folders of the ranker's package, or the file of its module."""
    module_name, colon, _ = (origin or "").strip().partition(":")
    name = module_name.partition(".")[0]
    if not colon or not name.isidentifier():
        return
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    places = spec.submodule_search_locations or [spec.origin or ""]
    for place in places:
        path = Path(place).resolve()
        if path.exists() and not str(path).startswith(installed_folders()):
            yield path


def _editable_projects() -> Iterator[Path]:
    """Yield the folders of the projects that are installed as editable (PEP 610), without ours."""
    for distribution in distributions():
        folder = _editable_folder(distribution)
        if folder is None or not folder.is_dir():
            continue
        if (distribution.metadata["Name"] or "").lower() != _OURS:
            yield folder.resolve()


def _editable_folder(distribution: Distribution) -> Path | None:
    text = distribution.read_text("direct_url.json")
    if not text:
        return None
    try:
        found = json.loads(text)
        is_editable = found.get("dir_info", {}).get("editable")
        return Path(url2pathname(urlparse(found["url"]).path)) if is_editable else None
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _state(place: Path) -> str:
    """Return a digest of the repository that contains a folder or file, or else of its modules."""
    try:
        return work_tree(place if place.is_dir() else place.parent).digest
    except GitError:
        return _digest(place, _modules(place))


def _modules(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    files = place.rglob("*.py")
    return sorted(file for file in files if not str(file).startswith(installed_folders()))


def _digest(place: Path, files: list[Path]) -> str:
    content = hashlib.sha256()
    for file in files:
        content.update(f"{file.relative_to(place.parent).as_posix()}\n".encode())
        content.update(hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()[:_DIGITS]
