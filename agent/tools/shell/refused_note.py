"""What the sandbox refused a command, as text for the model and the card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.policy import Network
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.confinement import Confinement

_VERBS: Final = {
    RefusalKind.WRITE: "write",
    RefusalKind.READ: "read",
    RefusalKind.CONNECT: "connect to",
    RefusalKind.SOCKET: "use the socket",
}


def for_the_user(run: SandboxRun, refusals: Sequence[Refusal]) -> tuple[Refusal, ...]:
    """Return the refusals that the user may allow: all of a command that was allowed by a rule, a
    classifier or a hook, or that runs inside the sandbox; none of a command that only reads."""
    is_inside = run.policy.network is Network.SESSION
    if run.policy.confinement is Confinement.PROJECT_FILES or is_inside:
        return tuple(refusals)
    return ()


def refused_note(confinement: Confinement, refusals: Sequence[Refusal]) -> str:
    """Return a block that names what was refused and what to ask for; empty for nothing."""
    if not refusals:
        return ""
    lines = "\n".join(f"- {refusal_line(one)}" for one in refusals)
    return f"<sandbox>\nThe sandbox refused ({confinement}):\n{lines}\n</sandbox>"


def refusal_line(refusal: Refusal) -> str:
    """Return a refusal as text: what was attempted, and what forbids it."""
    target = refusal.target or "something that the output does not name"
    line = f"{_VERBS[refusal.kind]} {target}: {refusal.rule}"
    if refusal.moved_to:
        line += f"; it was moved to {refusal.moved_to}"
    return line
