"""A ranker that is given by name and made in the process that asks it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from typing import Any

from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, RankingTask, Reorder
from pytest_rankcheck.rankers.ranker_lookup import check_ranker_name, load_ranker

__all__ = ["NamedRanker"]


class NamedRanker(Adapter):
    """The ranker with the name ``package.module:name``, loaded when it is first asked.

    Only the name is pickled, so the model is loaded in the process that unpickles and asks it.
    """

    def __init__(self, specification: str) -> None:
        """Check the form of the name; nothing is imported.

        Raises:
            ConfigurationError: the text does not name a ranker.
        """
        check_ranker_name(specification)
        self.name = specification
        self.token = uuid.uuid4().hex
        """Identifies this ranker on workers, which make one ranker for each token."""
        self._lock = threading.Lock()
        self._loaded: object = None

    @property
    def loaded(self) -> object:
        """The ranker itself, loaded on first use.

        Raises:
            ConfigurationError: it cannot be found or called.
            Exception: raised by its module or factory.
        """
        __tracebackhide__ = True
        with self._lock:
            if self._loaded is None:
                self._loaded = load_ranker(self.name)
            return self._loaded

    def adapter(self) -> Adapter:
        """Return the adapter of the ranker, which is loaded on first use."""
        __tracebackhide__ = True
        return adapter_of(self.loaded)

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask the ranker in this process."""
        __tracebackhide__ = True
        self.adapter().ask(task, on_answer)

    @property
    def takes_depth(self) -> bool:
        """Whether the ranker, which is loaded to find out, receives the requested depth."""
        return self.adapter().takes_depth

    def sees(self, attribute: str) -> bool:
        """Whether the ranker, which is loaded to find out, receives this attribute."""
        return self.adapter().sees(attribute)

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker, loaded in this process, with batches of ``size`` queries."""
        return self.adapter().with_size(size)

    def with_candidates(self, order: Reorder) -> Adapter | None:
        """Return the same ranker, loaded in this process, with its candidates reordered."""
        return self.adapter().with_candidates(order)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the ranker in this process, for tests that call the fixture ``ranker`` directly."""
        __tracebackhide__ = True
        ranker: Any = self.loaded
        return ranker(*arguments, **options)

    def __getstate__(self) -> Mapping[str, str]:
        return {"name": self.name, "token": self.token}

    def __setstate__(self, state: Mapping[str, str]) -> None:
        vars(self).update(state, _lock=threading.Lock(), _loaded=None)
