"""Skills for the model: a list that it receives, and texts that it loads by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agent.abort import AbortSignal
from agent.commands.command_registry import CommandRegistry
from agent.commands.expand import TemplateRunner
from agent.commands.skill_hooks import SkillHooks
from agent.commands.spec import CommandError, Metadata, PromptCommand, Template
from agent.commands.turn_scope import TurnScope
from agent.files.mentions import MentionReader
from agent.messages import text_block
from agent.stream import Emit, TurnEvents
from agent.tools.base import ToolError
from agent.tools.services import SkillPort, SkillText

MAX_LIST_CHARS: Final = 12_000
MAX_ENTRY_CHARS: Final = 400


class Skills:
    """The port of the `Skill` tool."""

    def __init__(
        self,
        registry: CommandRegistry,
        runner: TemplateRunner,
        mentions: MentionReader,
        scope: TurnScope,
        skill_hooks: SkillHooks,
        emit: Emit,
        only: Sequence[str] | None = None,
    ) -> None:
        """`emit` takes the events of commands that a skill runs.

        `only` limits the skills to these names; the plugin's part may be omitted.
        """
        self._only = only
        self._registry = registry
        self._runner = runner
        self._mentions = mentions
        self._scope = scope
        self._skill_hooks = skill_hooks
        self._emit = emit
        self._listing: str | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names of the skills that the model may use."""
        return tuple(command.meta.name for command in self._offered_commands())

    def is_text_alone(self, name: str) -> bool:
        """Return whether a skill exists and has neither rules nor hooks of its own."""
        try:
            _, template = self._find(name)
        except ToolError:
            return False
        return not (template.allowed_tools or template.hooks)

    def _offered_commands(self) -> tuple[PromptCommand, ...]:
        commands = self._registry.for_model()
        if self._only is None:
            return commands
        chosen = {*self._only}
        return tuple(c for c in commands if chosen & {c.meta.name, c.meta.name.rpartition(":")[2]})

    async def load(self, name: str, arguments: str, turn_id: str, abort: AbortSignal) -> SkillText:
        """Return a skill's text with mentioned files; apply rules and hooks. Raises ToolError."""
        command, template = self._find(name)
        # The turn continues with the model that asked; only rules are added.
        self._scope.add_rules(template)
        self._skill_hooks.use(command, template)
        return await self._text(command.meta, template, arguments, turn_id, abort)

    async def read(self, name: str, turn_id: str, abort: AbortSignal) -> SkillText:
        """Return a skill's text without applying its rules and hooks. Raises
        ToolError."""
        command, template = self._find(name)
        return await self._text(command.meta, template, "", turn_id, abort)

    def _find(self, name: str) -> tuple[PromptCommand, Template]:
        command = next((c for c in self._offered_commands() if c.meta.name == name), None)
        if command is None:
            raise ToolError(f"There is no skill named {name!r}.")
        try:
            return command, command.load()
        except CommandError as error:
            raise ToolError(str(error)) from error

    async def _text(
        self,
        meta: Metadata,
        template: Template,
        arguments: str,
        turn_id: str,
        abort: AbortSignal,
    ) -> SkillText:
        events = TurnEvents(self._emit, turn_id)
        result = await self._runner.run(meta, template, arguments, events, abort, by_user=False)
        if result.refusal:
            raise ToolError(result.refusal)
        files = await self._mentions.attach(result.own_words, turn_id, abort, by_user=False)
        directory = (
            f"Files of this skill are in {template.directory}.\n\n" if template.directory else ""
        )
        extra = [block for message in files.messages for block in message.content]
        agent = template.agent
        if agent is not None and not self._scope.may_start_agent(agent):
            # A skill must not start an agent that a rule denies the model.
            agent = None
        blocks = (text_block(directory + result.text), *extra)
        return SkillText(blocks, agent, template.model)

    def news(self) -> str | None:
        """Return the list of skills for the model; None if it is unchanged since the last call."""
        listing = skill_list(self._offered_commands())
        if listing == (self._listing or ""):
            return None
        self._listing = listing
        if not listing:
            return "There are no skills now."
        return f"Skills you can load with the Skill tool:\n\n{listing}"


def skill_list(commands: tuple[PromptCommand, ...]) -> str:
    """Return one line per skill up to `MAX_LIST_CHARS`, then the names of the others."""
    lines: list[str] = []
    room = MAX_LIST_CHARS
    for command in commands:
        meta = command.meta
        hint = f" {meta.argument_hint}" if meta.argument_hint else ""
        use = f" — {meta.when_to_use}" if meta.when_to_use else ""
        line = f"- {meta.name}{hint}: {meta.description}{use}"[:MAX_ENTRY_CHARS]
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    others = [command.meta.name for command in commands[len(lines) :]]
    return "\n".join([*lines, *([f"- also: {', '.join(others)}"] if others else [])])


if TYPE_CHECKING:

    def _check_protocol(skills: Skills) -> SkillPort:
        return skills
