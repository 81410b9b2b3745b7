"""What a command is: its metadata, and one class for each kind.

There are three kinds: `local` runs and returns a value, `interactive` opens a panel of the screen,
`prompt` becomes a text for the model. A command is not imported before it is run. Source: the
pattern "command-and-plugin-systems".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.errors import AgentError


class CommandError(AgentError):
    """A command cannot be run; the text explains why and what to do."""


class CommandSource(StrEnum):
    """Where a command comes from, as shown to users and reported to hooks."""

    USER_SKILL = "user skill"
    PROJECT_SKILL = "project skill"
    USER_COMMAND = "user command"
    PROJECT_COMMAND = "project command"
    PLUGIN_SKILL = "plugin skill"
    PLUGIN_COMMAND = "plugin command"
    SERVER = "MCP server"
    WORKFLOW = "workflow"
    BUILTIN = "built-in"


SKILLS: Final = frozenset(
    {CommandSource.USER_SKILL, CommandSource.PROJECT_SKILL, CommandSource.PLUGIN_SKILL}
)


class Surface(StrEnum):
    """Where the program runs: some commands only make sense on a screen."""

    SCREEN = "screen"
    HEADLESS = "headless"


EVERYWHERE: Final = frozenset(Surface)
ON_SCREEN: Final = frozenset({Surface.SCREEN})


def always() -> bool:
    """Return True: the command is always enabled."""
    return True


class Metadata(Struct, frozen=True, kw_only=True):
    """What menus, help, the dispatcher and the model know about a command before it is loaded."""

    name: str
    """Without the slash; directories of command files become `folder:name`."""
    description: str
    argument_hint: str = ""
    aliases: tuple[str, ...] = ()
    source: CommandSource = CommandSource.BUILTIN
    availability: frozenset[Surface] = EVERYWHERE
    """The surfaces that offer it; does not change while the program runs."""
    is_enabled: Callable[[], bool] = always
    """Whether it is enabled now; called for every listing, never cached."""
    is_listed: bool = True
    """Whether menus show it; a command that is not listed is only for the model."""
    when_to_use: str = ""
    path: str = ""
    """The file it comes from; empty for built-in ones."""

    @property
    def file(self) -> Path | None:
        """The file it comes from; None for built-in ones."""
        return Path(self.path) if self.path else None


class LocalCommand(Struct, frozen=True):
    """Runs a function and returns a `CommandResult`; needs no screen."""

    meta: Metadata
    module: str
    """Dotted path of a module with `async def call(arguments, context)`; imported when run."""
    type: Literal["local"] = "local"


class InteractiveCommand(Struct, frozen=True):
    """Opens a panel; the screen knows panels by name."""

    meta: Metadata
    panel: str
    type: Literal["interactive"] = "interactive"


class Template(Struct, frozen=True):
    """The text of a prompt command, and what applies during its turn."""

    body: str
    first_argument: int = 1
    """The number of the first argument in `$N`: 1 in command files, 0 in skills."""
    directory: Path | None = None
    """The skill's own directory, for `${CLAUDE_SKILL_DIR}`."""
    plugin_root: Path | None = None
    """The directory of the plugin that it belongs to, for `${CLAUDE_PLUGIN_ROOT}`."""
    argument_names: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    """Rules allowed for the turn; deny and ask rules of every source still win."""
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    effort: str | None = None
    agent: str | None = None
    """The kind of sub-agent that carries it out; None for the conversation itself."""
    hooks: Mapping[str, object] | None = None
    """Hooks in the form of settings; in force from the first use on."""


class PromptCommand(Struct, frozen=True):
    """Expands into a prompt for the model."""

    meta: Metadata
    load: Callable[[], Template]
    """Reads the text again each time. Raises CommandError when it cannot or must not be used."""
    for_model: bool = False
    """The model may run it by itself, through the `Skill` tool."""
    render: Callable[[str], Awaitable[str]] | None = None
    """Returns the text for the arguments, instead of a template: others wrote it, so nothing in it
    is run or expanded. Raises CommandError."""
    type: Literal["prompt"] = "prompt"


Command: TypeAlias = LocalCommand | InteractiveCommand | PromptCommand
