"""What this machine can enforce, and how to get more."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from permissions.confinement import SandboxLevel


class Backend(StrEnum):
    """The mechanism in use."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    SEATBELT = "seatbelt"
    NONE = "none"


class Availability(Struct, frozen=True):
    """The result of the probe."""

    level: SandboxLevel
    backend: Backend
    program: str = ""
    """Absolute path of the backend's program; empty where it has none."""
    reason: str = ""
    """Why the level is not `full`; empty when it is."""
    fix: str = ""
    """How to reach a higher level, as commands or one sentence; may be empty."""
    hides_processes: bool = True
    """Whether commands see only their own processes; false where `/proc` cannot be mounted."""

    def note(self) -> str:
        """Return one paragraph for users: the level, why it is not higher, how to raise it."""
        more = f" To get more: {self.fix}." if self.fix else ""
        return f"The sandbox is at level {self.level} ({self.reason}): more commands ask.{more}"

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `sandbox status`."""
        return {
            "level": str(self.level),
            "backend": str(self.backend),
            "program": self.program or None,
            "reason": self.reason or None,
            "fix": self.fix or None,
        }
