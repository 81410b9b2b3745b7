"""Hooks in the head of a skill or command: in force from its first use to the session's end."""

from __future__ import annotations

from collections.abc import Mapping

from agent.commands.spec import PromptCommand, Template
from agent.hook_events.hook_dispatch import HookDispatch
from hooks.config.section import parse_hooks
from hooks.config.spec import HookSource


class SkillHooks:
    """Registers the hooks of what is used."""

    def __init__(self, hooks: HookDispatch) -> None:
        """Nothing is in force yet."""
        self._hooks = hooks
        self._in_force: dict[str, Mapping[str, object]] = {}

    def use(self, command: PromptCommand, template: Template) -> None:
        """Put the hooks of a command in force; used again, those of its file as it is now.

        Trust is the file's own: what waits for it cannot be used at all.
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
