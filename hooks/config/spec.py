"""Hooks as data: handlers, their sources, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct


class HookSource(StrEnum):
    """Where a handler was configured."""

    POLICY = "policy"
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    CLI = "cli"
    PLUGIN = "plugin"
    SKILL = "skill"
    AGENT = "agent"
    CODE = "code"
    """A Python callable registered through the library."""

    @property
    def is_settings(self) -> bool:
        """Whether handlers from there are deduplicated against each other."""
        return self in _SETTINGS


OF_OTHERS: Final = frozenset(
    {
        HookSource.PROJECT,
        HookSource.LOCAL,
        HookSource.PLUGIN,
        HookSource.SKILL,
        HookSource.AGENT,
    }
)
"""Sources whose hooks are usually written by others, although the user chose them."""


_SETTINGS = frozenset(
    {HookSource.POLICY, HookSource.USER, HookSource.PROJECT, HookSource.LOCAL, HookSource.CLI}
)


class CommandHandler(Struct, frozen=True):
    """A program. With `args` (even empty) it is run directly, otherwise through a shell."""

    command: str
    args: tuple[str, ...] | None = None
    shell: str = "bash"
    """`bash` or `powershell`; shell form only."""
    is_async: bool = False
    async_rewake: bool = False
    type: str = "command"


class HttpHandler(Struct, frozen=True):
    """A POST of the payload."""

    url: str
    headers: Mapping[str, str]
    allowed_env_vars: tuple[str, ...] = ()
    is_async: bool = False
    type: str = "http"


class McpToolHandler(Struct, frozen=True):
    """A tool of a connected MCP server."""

    server: str
    tool: str
    input: Mapping[str, object]
    type: str = "mcp_tool"


class PromptHandler(Struct, frozen=True):
    """One question to the small model, answered by `{ok, reason}`."""

    prompt: str
    model: str | None = None
    continue_on_block: bool = False
    type: str = "prompt"


class AgentHandler(Struct, frozen=True):
    """A sub-agent with read tools that ends by `{ok, reason}`."""

    prompt: str
    model: str | None = None
    type: str = "agent"


class CallbackHandler(Struct, frozen=True):
    """A Python callable: receives the payload, returns an answer as hooks print it, or None."""

    name: str
    function: Callable[[Mapping[str, object]], Awaitable[Mapping[str, object] | None]]
    type: str = "callback"


Handler = (
    CommandHandler | HttpHandler | McpToolHandler | PromptHandler | AgentHandler | CallbackHandler
)


class PluginRoot(Struct, frozen=True):
    """The directories of a plugin, for the variables its handlers expect."""

    name: str
    root: Path
    data: Path | None = None
    options: Mapping[str, str] | None = None
    """Exported as CLAUDE_PLUGIN_OPTION_<KEY>."""


class HandlerSpec(Struct, frozen=True):
    """One configured handler."""

    event: str
    matcher: str | None
    """As written; None, empty and `*` match everything."""
    handler: Handler
    source: HookSource
    position: int
    """Place in configuration order, over all sources; results merge in this order."""
    condition: str | None = None
    """The `if` field: one permission rule."""
    timeout_s: float | None = None
    """None: the event's default for this type."""
    status_message: str | None = None
    runs_once: bool = False
    blocks_on_failure: bool = False
    """`onFailure: "block"`: a failed start, a timeout or an unusable answer blocks."""
    file: str | None = None
    plugin: PluginRoot | None = None
    owner: str | None = None
    """The skill or agent whose front matter this is."""
    only_agent: str | None = None
    """The id of the one agent whose events it receives; None: those of all."""

    @property
    def label(self) -> str:
        """What users are shown: the command, URL, tool or the first line of the prompt."""
        return handler_label(self.handler)

    @property
    def where(self) -> str:
        """Source and file, for messages."""
        return f"{self.source.value} {self.file}" if self.file else self.source.value

    @property
    def skill_dir(self) -> Path | None:
        """The directory of the skill whose front matter this is."""
        if self.source is not HookSource.SKILL or self.file is None:
            return None
        return Path(self.file).parent

    @property
    def key(self) -> tuple[object, ...]:
        """Key of this handler that stays the same when unchanged settings are reloaded."""
        return (self.event, self.matcher, self.identity, self.source, self.file, self.owner)

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that is equal for copies of one handler in settings files."""
        scope: object = None if self.source.is_settings else (self.source, self.file, self.owner)
        return (scope, self.condition, *_handler_identity(self.handler))


def _handler_identity(handler: Handler) -> tuple[object, ...]:
    match handler:
        case CommandHandler():
            return ("command", handler.command, handler.args, handler.shell)
        case HttpHandler():
            return ("http", handler.url)
        case McpToolHandler():
            return ("mcp_tool", handler.server, handler.tool, repr(handler.input))
        case PromptHandler():
            return ("prompt", handler.prompt, handler.model)
        case AgentHandler():
            return ("agent", handler.prompt, handler.model)
        case CallbackHandler():
            return ("callback", handler.name, id(handler.function))


def handler_label(handler: Handler) -> str:
    """Return one line that names a handler."""
    match handler:
        case CommandHandler():
            return " ".join((handler.command, *(handler.args or ())))
        case HttpHandler():
            return handler.url
        case McpToolHandler():
            return f"{handler.server}.{handler.tool}"
        case PromptHandler() | AgentHandler():
            return handler.prompt
        case CallbackHandler():
            return handler.name


def is_background(handler: Handler) -> bool:
    """Whether this handler runs in the background."""
    match handler:
        case CommandHandler():
            return handler.is_async or handler.async_rewake
        case HttpHandler():
            return handler.is_async
        case McpToolHandler() | PromptHandler() | AgentHandler() | CallbackHandler():
            return False
