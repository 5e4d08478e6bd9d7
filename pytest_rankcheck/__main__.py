"""``python -m pytest_rankcheck``."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from pytest_rankcheck.command_line.main import main

if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):  # some terminals and files lack most characters
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
