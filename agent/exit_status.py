"""The exit statuses of the program, which scripts rely on."""

from __future__ import annotations

from typing import Final

EXIT_COMPLETED: Final = 0
EXIT_ERROR: Final = 1
EXIT_USAGE: Final = 2
EXIT_DENIED: Final = 3
"""Something was not done because no user was available to allow it."""
EXIT_LIMIT: Final = 4
"""A limit on turns or cost was reached."""
EXIT_REFUSAL: Final = 5
"""The model declined."""
EXIT_HANGUP: Final = 129
"""The terminal was closed: 128 plus the number of SIGHUP, as in shells."""
EXIT_INTERRUPTED: Final = 130
"""Ended by Ctrl+C: 128 plus the number of SIGINT."""
EXIT_TERMINATED: Final = 143
