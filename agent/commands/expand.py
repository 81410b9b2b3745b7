"""Expand prompts for the model: `/commands` become their text, `@files` their contents.

The user's own words are sent as typed; the expansion precedes them as a note, so that history,
titles and rewinding show what the user wrote.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.abort import AbortController, AbortSignal
from agent.commands.arguments import CommandArguments, substitute, uses_arguments
from agent.commands.command_registry import CommandRegistry, split_command
from agent.commands.skill_hooks import SkillHooks
from agent.commands.spec import CommandError, Metadata, PromptCommand, Template
from agent.commands.template import ShellPart, parse_template
from agent.commands.turn_scope import TurnScope
from agent.events import Notice
from agent.files.mentions import MentionReader
from agent.hook_events.hook_dispatch import HookDispatch
from agent.messages import Message, ToolUse, user_message
from agent.prompt.expansion import ExpandedPrompt, PromptExpander
from agent.stream import TurnEvents
from agent.tools.call import CallPorts
from agent.user_prompt import Prompt

MAX_TEXT_CHARS: Final = 200_000


class TemplateValues(Struct, frozen=True):
    """Values of variables in templates."""

    session_id: str
    project_dir: Path
    effort: Callable[[], str | None]


class TemplateText(Struct, frozen=True):
    """A template after expansion."""

    text: str
    own_words: tuple[str, ...]
    """The parts written by the template or the user, in which `@path` is expanded."""
    refusal: str = ""
    """Why it cannot be used: one of its commands was not allowed to run."""


class TemplateRunner:
    """Expands arguments, commands and variables in templates."""

    def __init__(
        self, calls: Callable[[], CallPorts], hooks: HookDispatch, surround: TemplateValues
    ) -> None:
        """`calls` are the ports that Bash calls of the conversation use."""
        self._calls = calls
        self._hooks = hooks
        self._surround = surround

    async def run(
        self,
        meta: Metadata,
        template: Template,
        arguments: str,
        events: TurnEvents,
        abort: AbortSignal,
        *,
        by_user: bool,
    ) -> TemplateText:
        """Return the text; events of commands inside it are sent to `events`. `by_user` is whether
        the user, not the model, ran the command."""

        async def guard(call: ToolUse) -> str | None:
            return await self._hooks.pre_skill_shell_command(
                call, meta.name, str(meta.source), by_user=by_user, abort=abort
            )

        command_arguments = CommandArguments(
            arguments, template.argument_names, template.first_argument, self._variables(template)
        )
        pieces: list[str] = []
        own: list[str] = []
        for part in parse_template(template.body):
            if not isinstance(part, ShellPart):
                text = substitute(part.text, command_arguments)
                pieces.append(text)
                own.append(text)
                continue
            command = substitute(part.command, command_arguments)
            from agent.commands.template_shell import run_shell_part  # few templates need it

            output = await run_shell_part(command, guard, self._calls(), events, abort)
            if output.refusal:
                return TemplateText("", (), f"`{command}` was not run: {output.refusal}")
            pieces.append(output.text)
        text = "".join(pieces)
        if arguments and not uses_arguments(template.body, template.argument_names):
            text = f"{text}\n\nARGUMENTS: {arguments}"
            own.append(arguments)
        return TemplateText(text[:MAX_TEXT_CHARS], tuple(own))

    def _variables(self, template: Template) -> dict[str, str]:
        values = {
            "SESSION_ID": self._surround.session_id,
            "PROJECT_DIR": str(self._surround.project_dir),
            "EFFORT": self._surround.effort() or "",
        }
        if template.directory is not None:
            values["SKILL_DIR"] = str(template.directory)
        if template.plugin_root is not None:
            values["PLUGIN_ROOT"] = str(template.plugin_root)
        prefixes = ("CLAUDE_", "AGENT_TUI_")
        return {prefix + name: value for prefix in prefixes for name, value in values.items()}


class Expander:
    """Expands what the user sends."""

    def __init__(
        self,
        registry: CommandRegistry,
        runner: TemplateRunner,
        mentions: MentionReader,
        scope: TurnScope,
        hooks: HookDispatch,
        skill_hooks: SkillHooks,
        *,
        ready: Callable[[], Awaitable[None]],
    ) -> None:
        """`ready` waits until the command files have been read."""
        self._registry = registry
        self._runner = runner
        self._mentions = mentions
        self._scope = scope
        self._hooks = hooks
        self._skill_hooks = skill_hooks
        self._ready = ready

    async def expand(
        self, prompt: Prompt, events: TurnEvents, abort: AbortSignal
    ) -> ExpandedPrompt:
        """Return the messages before the prompt, or why it is not sent."""
        await self._ready()
        command, arguments = self._command(prompt)
        if command is None:
            return ExpandedPrompt(await self._attach([prompt.text], events, abort))
        hook_context, reason = await self._ask_hooks(command, arguments, prompt.text, abort)
        await events.emit_all(self._hooks.notices())
        if reason is not None:
            return ExpandedPrompt(block_reason=reason)
        try:
            template = command.load()
        except CommandError as error:
            return ExpandedPrompt(block_reason=str(error))
        if command.render is not None:
            return await self._render(command, command.render, arguments, hook_context)
        self._skill_hooks.use(command, template)
        await events.emit_all(self._hooks.notices())
        await self._scope.enter(template)
        result = await self._runner.run(
            command.meta, template, arguments, events, abort, by_user=True
        )
        if result.refusal:
            return ExpandedPrompt(block_reason=f"/{command.meta.name}: {result.refusal}")
        files = await self._attach(result.own_words, events, abort)
        context = (user_message(hook_context, origin="hook"),) if hook_context else ()
        command_text = command_message(command, result.text, agent=template.agent)
        return ExpandedPrompt((*files, *context, command_text))

    async def _render(
        self,
        command: PromptCommand,
        render: Callable[[str], Awaitable[str]],
        arguments: str,
        hook_context: str,
    ) -> ExpandedPrompt:
        try:
            text = await render(arguments)
        except CommandError as error:
            return ExpandedPrompt(block_reason=f"/{command.meta.name}: {error}")
        context = (user_message(hook_context, origin="hook"),) if hook_context else ()
        return ExpandedPrompt((*context, command_message(command, text[:MAX_TEXT_CHARS])))

    async def _attach(
        self, texts: Sequence[str], events: TurnEvents, abort: AbortSignal
    ) -> tuple[Message, ...]:
        """Return messages with the files that texts mention."""
        files = await self._mentions.attach(texts, events.turn_id, abort)
        for note in files.notes:
            await events.notice(note.level, note.text)
        return files.messages

    async def expand_queued(self, prompt: Prompt) -> tuple[Message | Notice, ...] | None:
        """Return the messages before a prompt that joins a running turn; None for commands."""
        if self._command(prompt)[0] is not None:
            return None
        signal = AbortController().signal
        files = await self._mentions.attach([prompt.text], "", signal)
        notices = [Notice("", note.level, note.text) for note in files.notes]
        return (*notices, *files.messages)

    async def end_turn(self) -> None:
        """Undo what a command changed for its turn."""
        await self._scope.leave()

    def _command(self, prompt: Prompt) -> tuple[PromptCommand | None, str]:
        parts = split_command(prompt.text)
        command = self._registry.find(parts[0]) if parts is not None else None
        if parts is None or not isinstance(command, PromptCommand):
            return None, ""
        return command, parts[1]

    async def _ask_hooks(
        self, command: PromptCommand, arguments: str, prompt_text: str, abort: AbortSignal
    ) -> tuple[str, str | None]:
        outcome = await self._hooks.user_prompt_expansion(
            command.meta.name, arguments, str(command.meta.source), prompt_text, abort
        )
        if outcome is None:
            return "", None
        if not outcome.continue_ or outcome.decision in {"block", "deny"}:
            return "", outcome.stop_reason or outcome.reason or "a hook blocked this command"
        return outcome.additional_context or "", None


def command_message(command: PromptCommand, text: str, *, agent: str | None = None) -> Message:
    """Return a command's text as a message, which precedes the line that was typed."""
    name = command.meta.name
    directory = ""
    if command.meta.file is not None and command.meta.file.name == "SKILL.md":
        directory = f" Files of this skill are in {command.meta.file.parent}."
    how = "carry it out."
    if agent is not None:
        how = (
            f"have a sub-agent carry it out: call Agent with subagent_type {agent!r} and all of it "
            "as the prompt, and tell the user what comes back."
        )
    return user_message(
        f"The user runs /{name} with the next message. It stands for the following; {how}"
        f"{directory}\n\n{text}",
        origin="reminder",
    )


if TYPE_CHECKING:

    def _check_protocol(expander: Expander) -> PromptExpander:
        return expander
