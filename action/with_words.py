"""Run a command with more arguments: the words of an environment variable.

``with_words.py ARGUMENTS pytest -q`` runs ``pytest -q`` and the words of ``$ARGUMENTS``. Quotes and
backslashes work as in a shell, but no shell sees the words: ``; rm x`` and ``$(rm x)`` are text.
"""

import os
import shlex
import subprocess
import sys

variable, *command = sys.argv[1:]
try:
    words = shlex.split(os.environ[variable])
except ValueError as error:
    sys.exit(f"{variable.lower()}: {error}: {os.environ[variable]}")
sys.exit(subprocess.call([*command, *words]))
