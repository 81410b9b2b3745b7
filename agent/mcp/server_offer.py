"""What a server offers, as values: tools, prompts, resources, results."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

Json = Mapping[str, object]


class ToolHints(Struct, frozen=True):
    """A server's annotations of a tool; untrusted."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None


class RemoteTool(Struct, frozen=True, kw_only=True):
    """One tool of a server."""

    server: str
    """The configured name of the server."""
    name: str
    """The server's name for the tool."""
    full_name: str
    """The name for the model, rules and hooks: `mcp__server__tool`."""
    description: str
    """Without control characters, at most 2,048 characters."""
    input_schema: Json
    hints: ToolHints = ToolHints()
    meta: Json = field(default_factory=dict)
    definition: Json = field(default_factory=dict)
    """Everything the server sent about it, unchanged."""

    @property
    def title(self) -> str:
        """The name for display."""
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
    """For a template, a URI template (RFC 6570), such as `file:///{path}`."""
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
    """One message of a prompt; `block` is content in the protocol's format."""

    role: str
    block: Json


class CallResult(Struct, frozen=True):
    """A tool's result; blocks are content in the protocol's format."""

    content: tuple[Json, ...]
    structured_content: object = None
    is_error: bool = False
    meta: Json = field(default_factory=dict)
