"""Hooks in the frontmatter of a skill or command: in force from its first use on."""

from __future__ import annotations

from collections.abc import Mapping

from agent.commands.spec import PromptCommand, Template
from agent.hook_events.hook_dispatch import HookDispatch
from hooks.config.section import parse_hooks
from hooks.config.spec import HookSource


class SkillHooks:
    """Registers the hooks of commands when they are used."""

    def __init__(self, hooks: HookDispatch) -> None:
        """Start without hooks."""
        self._hooks = hooks
        self._in_force: dict[str, Mapping[str, object]] = {}

    def use(self, command: PromptCommand, template: Template) -> None:
        """Register the hooks of a command, in place of those of an earlier use.

        Trust was checked with the file: a command that waits for trust cannot be used at all.
        """
        owner = f"skill:{command.meta.name}"
        hooks = template.hooks or {}
        if self._in_force.get(owner, {}) == hooks:
            return
        self._in_force[owner] = hooks
        runner = self._hooks.runner
        runner.unregister(owner)
        file = str(command.meta.file) if command.meta.file is not None else None
        specs, warnings = parse_hooks(hooks, source=HookSource.SKILL, file=file, owner=owner)
        runner.register(specs)
        for warning in warnings:
            self._hooks.firing.warn(str(warning))
