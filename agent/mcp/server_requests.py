"""Requests of servers to the user and the model, and the ports that answer them."""

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
    """Without control characters."""
    schema: Json = field(default_factory=dict)
    """Schema of a form: a flat object."""
    url: str = ""


class ElicitationAnswer(Struct, frozen=True):
    """The user's answer."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, FormValue] | None = None
    """The form's values if it was accepted."""


class SamplingRequest(Struct, frozen=True, kw_only=True):
    """A server's request to the model."""

    server: str
    messages: tuple[tuple[str, str], ...]
    """(role, text) of each message."""
    system: str = ""
    max_tokens: int = 1_000


class SamplingAnswer(Struct, frozen=True):
    """The model's answer."""

    text: str
    model: str
    stop_reason: str = "endTurn"


Elicit = Callable[[ElicitationRequest], Awaitable[ElicitationAnswer]]
Sample = Callable[[SamplingRequest], Awaitable[SamplingAnswer | None]]
"""Returns None if the request is refused."""
Withhold = Callable[[ServerDefinition, Sequence[RemoteTool], str], Collection[str]]
"""Called with a server's tools and instructions each time they are listed; returns the names of
tools to withhold."""


def _withhold_nothing(
    _server: ServerDefinition, _tools: Sequence[RemoteTool], _instructions: str
) -> Collection[str]:
    return ()


async def _launch_unconfined(_server: ServerDefinition, program: Launch) -> Launch:
    return program


class McpPorts(Struct, frozen=True, kw_only=True):
    """The program's services for servers. A port that is None is not offered to servers."""

    elicit: Elicit | None = None
    sample: Sample | None = None
    may_sample: Callable[[ServerDefinition], bool] = lambda _: False
    roots: Callable[[], Sequence[Path]] | None = None
    log: Callable[[str, str, str], None] = lambda _server, _level, _text: None
    """Called with server, level and text, for the debug log."""
    withhold: Withhold = _withhold_nothing
    confine: Callable[[ServerDefinition, Launch], Awaitable[Launch]] = _launch_unconfined
    """Confines the program of a server."""
    open_channel: Callable[[ServerDefinition], MessageChannel] | None = None
    """Opens channels to servers of type `sdk`."""
