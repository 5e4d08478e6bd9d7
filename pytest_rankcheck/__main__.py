"""``python -m pytest_rankcheck``."""

from __future__ import annotations

import sys

from pytest_rankcheck.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
