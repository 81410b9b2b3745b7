"""A note about a background command in the sandbox: other programs cannot reach its ports."""

from __future__ import annotations

from msgspec import Struct

from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.policy import Network
from permissions.base.process.spawn import ConfinedRun


class UnseenServer(Struct, frozen=True):
    """The note, worded for the model and for the user."""

    for_model: str
    for_user: str


def unseen_server(run: ConfinedRun | None, *, may_leave: bool) -> UnseenServer | None:
    """Return the note in case the command is a server; None if all programs can reach it.

    Args:
        may_leave: Whether the model may ask to run a command outside the sandbox.
    """
    if not isinstance(run, SandboxRun) or run.policy.network is Network.HOST:
        return None
    reached_by = (
        "later commands of this session reach the ports it opens, but the user's browser and other "
        "programs of this machine do not"
        if run.policy.network is Network.SESSION
        else "nothing else reaches the ports it opens"
    )
    how = (
        "offer to start it outside the sandbox: the same call with dangerouslyDisableSandbox, "
        "which asks the user."
        if may_leave
        else "tell the user, who can start it outside with `!` in front of the command."
    )
    return UnseenServer(
        f"[It runs in the sandbox: {reached_by}. If it is a server for the user to open, {how}]",
        "In the sandbox: your browser cannot reach its ports. "
        + ("Ask for it outside the sandbox." if may_leave else "Type !COMMAND to run it outside."),
    )
