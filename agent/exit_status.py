"""The exit statuses of the program, which scripts rely on."""

from __future__ import annotations

from typing import Final

EXIT_COMPLETED: Final = 0
EXIT_ERROR: Final = 1
EXIT_USAGE: Final = 2
EXIT_DENIED: Final = 3
"""Something was not done because no user was there to allow it."""
EXIT_LIMIT: Final = 4
"""A limit of turns or money was reached."""
EXIT_REFUSAL: Final = 5
"""The model declined."""
EXIT_HANGUP: Final = 129
"""The terminal went away: 128 and the number of the signal, as shells have it."""
EXIT_INTERRUPTED: Final = 130
"""By Ctrl+C."""
EXIT_TERMINATED: Final = 143
