"""The messages of a team, and the ids of its members: `name@team`.

Next: `agent.teams.mailbox` (delivery of messages).
"""

from __future__ import annotations

import uuid
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field

from agent.errors import AgentError
from permissions.base.text.late_pattern import compile_late

LEADER: Final = "leader"
MAX_BYTES: Final = 256 * 1024
"""Largest message; larger content goes into a file that the message names."""
_NAME: Final = compile_late(r"[a-z0-9][a-z0-9-]{0,39}")

MessageKind = Literal[
    "task",
    "text",
    "report",
    "permission_request",
    "permission_answer",
    "permission_withdrawn",
    "stop",
]
URGENT: Final = frozenset(
    {"permission_request", "permission_answer", "permission_withdrawn", "stop"}
)
"""Kinds that are delivered before the others."""


class TeamError(AgentError):
    """A team operation failed; the text is for users and models."""


class BadMessage(ValueError):
    """A file in a mailbox is not a valid message."""


class TeamMessage(Struct, frozen=True, kw_only=True):
    """One message."""

    id: str
    sender: str
    """Id of the sender, `name@team`."""
    to: str
    kind: MessageKind
    sent_ns: int
    """Nanoseconds; increases with each message of one sender."""
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the message as JSON. Raises TeamError if it is too large."""
        data = msgspec.json.encode(self)
        if len(data) > MAX_BYTES:
            raise TeamError(
                f"The message is too long ({len(data):,} bytes, at most {MAX_BYTES:,}). Write it "
                "to a file and send the file's name."
            )
        return data


def decode(data: bytes) -> TeamMessage:
    """Parse a message. Raises BadMessage."""
    try:
        return msgspec.json.decode(data, type=TeamMessage)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadMessage(str(error)) from error


def checked_name(name: str, what: str) -> str:
    """Return a name if it is valid in directories and ids. Raises TeamError otherwise."""
    if _NAME.fullmatch(name) is None:
        raise TeamError(
            f"{name!r} cannot be the name of a {what}: use lower-case letters, digits and hyphens, "
            "at most 40, a letter or digit first."
        )
    return name


def agent_id(name: str, team: str) -> str:
    """Return a member's id."""
    return f"{name}@{team}"


def derived_id(*parts: str) -> str:
    """Return an id derived from `parts`, by which duplicates are recognized."""
    return uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(parts)).hex
