"""What the sandbox refused a command, in words for the model and the card."""

from __future__ import annotations

from typing import Final

from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.base.process.spawn import ConfinedRun

_VERBS: Final = {
    RefusalKind.WRITE: "write",
    RefusalKind.READ: "read",
    RefusalKind.CONNECT: "connect to",
    RefusalKind.SOCKET: "use the socket",
}


def refused_note(confined: ConfinedRun | None, output: str, *, failed: bool) -> str:
    """Return a block that names what was refused and what to ask for; empty for nothing."""
    if not isinstance(confined, SandboxRun):
        return ""
    refusals = confined.refusals(output, failed=failed)
    if not refusals:
        return ""
    lines = "\n".join(f"- {_line(one)}" for one in refusals)
    return f"<sandbox>\nThe sandbox refused ({confined.policy.confinement}):\n{lines}\n</sandbox>"


def _line(refusal: Refusal) -> str:
    target = refusal.target or "something that the output does not name"
    line = f"{_VERBS[refusal.kind]} {target}: {refusal.rule}"
    if refusal.moved_to:
        line += f"; it was moved to {refusal.moved_to}"
    return line
