"""What the first word of a command line may be besides a prompt."""

from __future__ import annotations

from typing import Final

SUBCOMMANDS: Final = ("permissions", "hooks", "sessions", "doctor", "config")
