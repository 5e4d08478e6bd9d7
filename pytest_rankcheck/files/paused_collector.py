"""Pausing the cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 10_000


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collection of reference cycles.

    Reading a file creates many small objects and no cycles. Each collection would traverse every
    object that the caller holds, and find nothing. If many objects were made meanwhile, they are
    marked as old, so that the next collection of new ones does not traverse them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
