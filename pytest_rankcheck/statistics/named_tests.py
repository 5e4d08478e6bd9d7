"""The names of the tests that gates and comparisons offer."""

from __future__ import annotations

from typing import Literal

__all__ = ["FallTest", "PairedTest"]

PairedTest = Literal["sign_flip", "t", "bootstrap"]
"""The tests that need the differences only."""
FallTest = Literal["sign_flip", "t", "bootstrap", "guaranteed"]
"""All tests of a fall; ``"guaranteed"`` also needs the range and an order: see `betting`."""
