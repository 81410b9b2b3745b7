"""What `/` does on the screen itself: a small table; other commands belong to the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from agent.errors import AgentError
from tui.completion import Candidate
from tui.input.actions import ACTIONS, Context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.messages import Message
    from themes.theme import Theme
    from tui.components.composer import Composer
    from tui.conversation_port import ConversationPort
    from tui.dialogs.choices import Choice
    from tui.document import Document
    from tui.input.keymap import Keymap
    from tui.prompt_runner import PromptRunner


class CommandScreen(Protocol):
    """The screen, as commands use it."""

    conversation: ConversationPort | None
    document: Document
    runner: PromptRunner
    composer: Composer

    @property
    def action_ids(self) -> frozenset[str]: ...
    @property
    def keymap(self) -> Keymap: ...
    @property
    def theme_name(self) -> str: ...
    @property
    def themes_dir(self) -> Path | None: ...
    @property
    def folder(self) -> Path: ...
    def notice(self, text: str, level: str = "info") -> None: ...
    def start(self, work: Awaitable[None]) -> None: ...
    def leave(self) -> None: ...
    def use_theme(self, theme: Theme) -> None: ...
    def display_path(self, path: Path) -> str: ...
    def output_figures(self) -> object: ...
    def show_history(self, messages: Sequence[Message]) -> None: ...
    async def pick(self, title: str, question: str, choices: Sequence[Choice]) -> int | None: ...


@dataclass(frozen=True, slots=True)
class CommandHost:
    """What a command may use."""

    app: CommandScreen


@dataclass(frozen=True, slots=True)
class ScreenCommand:
    """One command."""

    name: str
    description: str
    run: Callable[[CommandHost, str], Awaitable[None] | None]
    """What it returns to await runs beside the screen."""
    argument: str = ""
    aliases: tuple[str, ...] = ()


def run_command(text: str, host: CommandHost) -> bool:
    """Run the command that a line begins with; False when there is none of that name."""
    name, _, argument = text[1:].partition(" ")
    command = _BY_NAME.get(name)
    if command is None:
        return False
    work = command.run(host, argument.strip())
    if work is not None:
        host.app.start(work)
    return True


def command_candidates() -> tuple[Candidate, ...]:
    """Return all commands, for the menu below the prompt."""
    return tuple(Candidate(command.name, command.description) for command in COMMANDS)


def _help(host: CommandHost, _argument: str) -> None:
    keymap = host.app.keymap
    lines = ["Keys"]
    shown = {Context.GLOBAL, Context.CHAT, Context.SCROLL}
    for action in ACTIONS:
        key = keymap.display(action.id)
        if action.context in shown and key and action.id in host.app.action_ids:
            lines.append(f"{key:<18} {action.description}")
    lines.append("")
    lines.append("Commands")
    lines.extend(f"/{c.name + ' ' + c.argument:<17} {c.description}" for c in COMMANDS)
    host.app.notice("\n".join(lines))


def _quit(host: CommandHost, _argument: str) -> None:
    host.app.leave()


def _clear(host: CommandHost, _argument: str) -> None:
    host.app.document.clear()


def _theme(host: CommandHost, argument: str) -> None:
    from themes.registry import available_themes, load_theme  # reads TOML: not for the first frame
    from themes.theme import ThemeError

    app = host.app
    names = available_themes(app.themes_dir)
    if not argument:
        app.notice(f"theme {app.theme_name}; there are: {', '.join(names)}")
        return
    try:
        theme, warnings = load_theme(argument, user_dir=app.themes_dir)
    except ThemeError as error:
        app.notice(str(error), "warning")
        return
    app.use_theme(theme)
    for warning in warnings:
        app.notice(warning, "warning")


def _cost(host: CommandHost, _argument: str) -> None:
    figures = host.app.document.figures
    usage = figures.session_usage
    if usage is None:
        host.app.notice("nothing was sent yet")
        return
    host.app.notice(
        f"${figures.cost_usd:.4f} · {usage.input_tokens} in · {usage.output_tokens} out · "
        f"{usage.cache_read_tokens} from cache"
    )


def _status(host: CommandHost, _argument: str) -> None:
    app, conversation = host.app, host.app.conversation
    lines = [f"folder {app.display_path(app.folder)}"]
    if conversation is not None:
        lines.append(f"session {conversation.session_id}")
        lines.append(f"model {conversation.model}" + (" (demo)" if conversation.is_demo else ""))
        lines.append(f"mode {conversation.mode}")
    figures = app.output_figures()
    if figures is not None:
        lines.append(f"screen {figures}")
    app.notice("\n".join(lines))


async def _model(host: CommandHost, argument: str) -> None:
    app, conversation = host.app, host.app.conversation
    if conversation is None:
        return
    if not argument:
        app.notice(f"model {conversation.model}; /model <name> changes it")
        return
    try:
        await conversation.set_model(argument)
    except AgentError as error:
        app.notice(str(error), "warning")
        return
    app.notice(f"model {conversation.model} from the next request on")


def _compact(host: CommandHost, argument: str) -> None:
    app = host.app
    if app.conversation is not None:
        app.runner.run_events(app.conversation.compact(argument))


def _permissions(host: CommandHost, _argument: str) -> None:
    conversation = host.app.conversation
    if conversation is None:
        return
    lines = [f"mode {conversation.mode}"]
    for rule in conversation.rules:
        place = f"{rule.file}:{rule.line}" if rule.file and rule.line else rule.file or ""
        lines.append(f"{rule.behavior:<6} {rule.text}  {rule.source} {place}".rstrip())
    if len(lines) == 1:
        lines.append("no rules: everything that writes or runs asks")
    host.app.notice("\n".join(lines))


async def _rewind(host: CommandHost, _argument: str) -> None:
    from tui.dialogs.choices import Choice  # with the first dialog, not with the first frame

    app, conversation = host.app, host.app.conversation
    prompts = list(conversation.prompts) if conversation is not None else []
    if conversation is None or not prompts:
        app.notice("there is no message to go back to yet")
        return
    newest_first = prompts[::-1]
    choices = [Choice(" ".join(message.text.split())[:200]) for message in newest_first]
    question = "Go back to before which message? Files stay as they are."
    index = await app.pick("Rewind", question, choices)
    if index is None:
        return
    try:
        text = await conversation.rewind(newest_first[index].uid)
    except AgentError as error:
        app.notice(str(error), "warning")
        return
    app.show_history(conversation.messages)
    app.composer.edit(lambda buffer: buffer.set_text(text))


def _resume(host: CommandHost, _argument: str) -> None:
    host.app.notice("agent-tui -c continues the latest session, agent-tui -r ID any other")


COMMANDS: Final[tuple[ScreenCommand, ...]] = (
    ScreenCommand("help", "Show keys and commands", _help),
    ScreenCommand("clear", "Clear the screen", _clear),
    ScreenCommand("compact", "Summarise the conversation to make room", _compact, "[focus]"),
    ScreenCommand("model", "Show or change the model", _model, "[name]"),
    ScreenCommand("permissions", "Show the mode and the rules in force", _permissions),
    ScreenCommand("resume", "Say how to continue another session", _resume),
    ScreenCommand("rewind", "Go back to before one of your messages", _rewind),
    ScreenCommand("theme", "Show or change the theme", _theme, "[name]"),
    ScreenCommand("cost", "Show tokens and cost of this session", _cost),
    ScreenCommand("status", "Show session, model, mode and screen figures", _status),
    ScreenCommand("quit", "Leave", _quit, aliases=("exit",)),
)
_BY_NAME: Final = {
    name: command for command in COMMANDS for name in (command.name, *command.aliases)
}
