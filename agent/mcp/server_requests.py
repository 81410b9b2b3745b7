"""What servers ask of the user and the model, and who answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.elicited_values import FormValue
from agent.mcp.server_offer import Json, RemoteTool
from agent.mcp.transport.message_channel import MessageChannel
from permissions.base.process.spawn import Launch


class ElicitationRequest(Struct, frozen=True, kw_only=True):
    """A server asks the user for something."""

    server: str
    mode: Literal["form", "url"]
    message: str
    """Control characters removed."""
    schema: Json = field(default_factory=dict)
    """Of a form: a flat object."""
    url: str = ""


class ElicitationAnswer(Struct, frozen=True):
    """What the user answered."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, FormValue] | None = None
    """The form's values where it was accepted."""


class SamplingRequest(Struct, frozen=True, kw_only=True):
    """A server asks for an answer of the model."""

    server: str
    messages: tuple[tuple[str, str], ...]
    """Role and text of each."""
    system: str = ""
    max_tokens: int = 1_000


class SamplingAnswer(Struct, frozen=True):
    """What the model answered."""

    text: str
    model: str
    stop_reason: str = "endTurn"


Elicit = Callable[[ElicitationRequest], Awaitable[ElicitationAnswer]]
Sample = Callable[[SamplingRequest], Awaitable[SamplingAnswer | None]]
"""None: refused."""
Withhold = Callable[[ServerDefinition, Sequence[RemoteTool], str], Collection[str]]
"""Takes a server's tools and instructions each time they are listed; returns the names of the
tools that are withheld."""


def _withhold_nothing(
    _server: ServerDefinition, _tools: Sequence[RemoteTool], _instructions: str
) -> Collection[str]:
    return ()


async def _launch_unconfined(_server: ServerDefinition, program: Launch) -> Launch:
    return program


class McpPorts(Struct, frozen=True, kw_only=True):
    """What servers may use of the program. A port that is None is not offered to servers."""

    elicit: Elicit | None = None
    sample: Sample | None = None
    may_sample: Callable[[ServerDefinition], bool] = lambda _: False
    roots: Callable[[], Sequence[Path]] | None = None
    log: Callable[[str, str, str], None] = lambda _server, _level, _text: None
    """Takes the server, the level and the text, for the debug log."""
    withhold: Withhold = _withhold_nothing
    confine: Callable[[ServerDefinition, Launch], Awaitable[Launch]] = _launch_unconfined
    """What holds the program of a server."""
    open_channel: Callable[[ServerDefinition], MessageChannel] | None = None
    """Reaches the servers of type `sdk`."""
