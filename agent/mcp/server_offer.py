"""What a server offers, as plain values: tools, prompts, resources, results."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

Json = Mapping[str, object]


class ToolHints(Struct, frozen=True):
    """What a server claims about a tool; nothing of it is trusted."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None


class RemoteTool(Struct, frozen=True, kw_only=True):
    """One tool of a server."""

    server: str
    """The server's name as configured."""
    name: str
    """As the server knows it."""
    full_name: str
    """As the model, rules and hooks know it: `mcp__server__tool`."""
    description: str
    """Control characters removed, 2,048 characters at most."""
    input_schema: Json
    hints: ToolHints = ToolHints()
    meta: Json = field(default_factory=dict)
    definition: Json = field(default_factory=dict)
    """Everything the server sent about it, unchanged."""

    @property
    def title(self) -> str:
        """What to call it on screen."""
        return self.hints.title or self.name


class RemoteArgument(Struct, frozen=True):
    """One argument of a prompt."""

    name: str
    description: str = ""
    is_required: bool = False


class RemotePrompt(Struct, frozen=True, kw_only=True):
    """One prompt of a server."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[RemoteArgument, ...] = ()


class RemoteResource(Struct, frozen=True, kw_only=True):
    """One resource of a server, or a template of several."""

    server: str
    uri: str
    """Of a template: RFC 6570, `file:///{path}`."""
    name: str = ""
    title: str = ""
    description: str = ""
    mime_type: str = ""
    size: int | None = None
    is_template: bool = False


class ResourceContent(Struct, frozen=True):
    """One part of a resource that was read: text, or bytes."""

    uri: str
    mime_type: str = ""
    text: str | None = None
    data: bytes | None = None


class RemoteMessage(Struct, frozen=True):
    """One message of a prompt; the block is content as in the protocol."""

    role: str
    block: Json


class CallResult(Struct, frozen=True):
    """What a tool returned; blocks are content as in the protocol."""

    content: tuple[Json, ...]
    structured_content: object = None
    is_error: bool = False
    meta: Json = field(default_factory=dict)
