"""How a ranking is done: on an executor or here, with or without kept answers."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.execution.chunk_work import SentRanker, refuse_service
from pytest_rankcheck.rankers.execution.executor_pools import ExecutorLike, Pool, make_pool
from pytest_rankcheck.rankers.execution.executor_ranker import ExecutorRanker
from pytest_rankcheck.rankers.execution.kept_answers import KeptAnswers
from pytest_rankcheck.rankers.execution.named_ranker import NamedRanker
from pytest_rankcheck.rankers.execution.resume_key import ResumeKey, ResumeScope
from pytest_rankcheck.rankers.execution.resumed_ranker import ResumedRanker
from pytest_rankcheck.rankers.execution.undeclared_inputs import (
    InputRule,
    Inputs,
    watched_inputs,
)
from pytest_rankcheck.rankers.importable_names import importable_name
from pytest_rankcheck.rankers.ranker_lookup import (
    check_ranker_name,
    load_ranker,
    named_object,
    specification_of,
)

__all__ = ["Execution", "PreparedRanker", "origin_of"]


@dataclass(frozen=True, slots=True)
class Execution:
    """Where to ask a ranker, the size of chunks, and where to keep answers."""

    executor: ExecutorLike | None
    chunk: int
    resume: ResumeScope | None


class PreparedRanker:
    """A ranker that is ready to be asked, here or on an executor; it must be closed."""

    def __init__(self, ranker: object, execution: Execution, golden: GoldenSet, depth: int) -> None:
        """Prepare to ask.

        Raises:
            ConfigurationError: the executor is invalid, or the folder or the key does not fit.
            RankerError: the object is not a ranker, or cannot run on an executor.
            RunError: a file in the folder was cut off or edited.
        """
        __tracebackhide__ = True
        pool = None if execution.executor is None else make_pool(execution.executor)
        scope, chunk = execution.resume, execution.chunk
        if scope is not None and scope.key is None and pool is None and isinstance(ranker, str):
            adapter, read = _watched_adapter(ranker)
            scope = replace(scope, read=(*scope.read, *read))
        else:
            adapter = _adapter(ranker, on_executor=pool is not None)
        self._kept: KeptAnswers | None = None
        self._when_complete = None if scope is None else scope.when_complete
        if scope is None:
            self.adapter = _placed(adapter, pool, chunk, None)
            return
        key, rule = ResumeKey.of(scope, golden, depth, adapter.name)
        if rule is not None:
            refuse_service(adapter)
        placed = _placed(adapter, pool, chunk, rule)
        self._kept = KeptAnswers(scope.folder, key)
        self._kept.open()
        self.adapter = ResumedRanker(placed, self._kept, chunk, rule if pool is None else None)

    adapter: Adapter
    """The adapter to ask."""

    def complete(self) -> None:
        """Mark the run as complete: its kept answers are deleted, now or as soon as it is safe."""
        if self._kept is None:
            return
        if self._when_complete is None:
            self._kept.delete()
        else:
            self._when_complete(self._kept.delete)

    def close(self) -> None:
        """Release the folder of kept answers for other processes."""
        if self._kept is not None:
            self._kept.close()


_READ: dict[str, tuple[object, Inputs]] = {}
"""The modules of rankers whose import was watched, by name, with the inputs of each import.

A process imports a module once, so a second ranking would miss what the import read.
"""


def _watched_adapter(name: str) -> tuple[Adapter, Sequence[Inputs]]:
    """Make the ranker with this name, and return its inputs, including those of its module."""
    __tracebackhide__ = True
    module_name = name.strip().partition(":")[0]
    with watched_inputs(active=True) as inputs:
        with suppress(ConfigurationError):  # the same error is raised again below
            named_object(name.strip().removesuffix("()"), "ranker")
        module = sys.modules.get(module_name)
        if module is not None and _READ.get(module_name, (None,))[0] is not module:
            _READ[module_name] = module, inputs.taken()
        adapter = _adapter(name, on_executor=False)
    return adapter, (inputs.taken(), _READ[module_name][1])


def _adapter(ranker: object, *, on_executor: bool) -> Adapter:
    __tracebackhide__ = True
    if not isinstance(ranker, str):
        return adapter_of(ranker)
    try:
        check_ranker_name(ranker)
    except ConfigurationError:
        raise RankerError(
            f"the ranker is the str '{quoted(ranker)}', which is not a ranker's name; give a "
            "function that takes a query's text and returns document ids, best first, or its "
            "name, such as 'search.engine:rank'"
        ) from None
    return NamedRanker(ranker) if on_executor else adapter_of(load_ranker(ranker))


def _placed(adapter: Adapter, pool: Pool | None, chunk: int, rule: InputRule | None) -> Adapter:
    if pool is None:
        return adapter
    token = adapter.token if isinstance(adapter, NamedRanker) else uuid.uuid4().hex
    return ExecutorRanker(SentRanker(adapter, token), pool, chunk, rule)


def origin_of(ranker: object) -> str | None:
    """Return the name under which a ranker can be imported; None for an object with state."""
    if isinstance(ranker, str):
        return ranker
    if isinstance(ranker, NamedRanker):
        return ranker.name
    name = importable_name(ranker)
    return specification_of(ranker) or (None if name is None else name.specification)
