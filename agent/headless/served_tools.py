"""Read, Glob and Grep for other programs (`agent-tui mcp serve`), limited by rules and scope.

There is no user to ask, so an ask is a denial; no hooks and no model are involved.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.abort import AbortController
from agent.permission_config.bare_services import bare_services
from agent.permission_config.permission_context import permission_setup
from agent.settings.load import Settings
from agent.tools.base import AnyTool, InputError, ToolContext, ToolError, ToolOutcome
from agent.tools.builtin.glob import glob_tool
from agent.tools.builtin.grep import grep_tool
from agent.tools.builtin.read import read_tool
from agent.tools.large_results import bound_result
from permissions.base.text.failure_text import error_reason
from permissions.decision import Behavior
from permissions.evaluate.cascade import evaluate_parts
from permissions.request import PermissionRequest

REFUSED: Final = "Not allowed here ({reason}). A rule in the user's settings can allow it."


class ServedTools:
    """The tools, with the permissions of the settings at the start."""

    def __init__(self, settings: Settings, env: Mapping[str, str], scratch: Path) -> None:
        """`scratch` is the directory for results that are too long."""
        self.tools: tuple[AnyTool, ...] = (read_tool(), glob_tool(), grep_tool())
        self._context = permission_setup(
            settings, bypass_available=False, scratch_dir=scratch
        ).context
        self._numbers = itertools.count(1)
        self._services = bare_services(
            settings,
            env,
            scratch,
            self._context,
            lambda path: self._is_allowed("Read", {"file_path": str(path)}),
        )

    async def call(self, name: str, raw: Mapping[str, object]) -> ToolOutcome:
        """Run a call; every failure is an error result."""
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None:
            return ToolOutcome(f"There is no tool named {name}.", is_error=True)
        context = ToolContext(
            tool_use_id=f"served_{next(self._numbers)}",
            turn_id="",
            agent_id=None,
            abort=AbortController().signal,
            progress=lambda _text: None,
            services=self._services,
        )
        try:
            return await self._run(tool, raw, context)
        except InputError as error:
            return ToolOutcome(f"The input does not fit: {', '.join(error.places)}", is_error=True)
        except (ToolError, OSError) as error:
            return ToolOutcome(error_reason(error), is_error=True)

    async def _run(
        self, tool: AnyTool, raw: Mapping[str, object], context: ToolContext
    ) -> ToolOutcome:
        tool_input = tool.parse(raw)
        if (problem := await tool.validate(tool_input, context)) is not None:
            return ToolOutcome(problem, is_error=True)
        request = PermissionRequest(tool.name, tool.permission_input(tool_input, raw, context))
        evaluation = evaluate_parts(request, self._context)
        decision = evaluation.decision
        if decision.behavior is not Behavior.ALLOW:
            reason = decision.message or str(decision.reason)
            return ToolOutcome(REFUSED.format(reason=reason), is_error=True)
        outcome = await tool.run(tool_input, replace(context, target=evaluation.target))
        return await bound_result(outcome, tool, context)

    def _is_allowed(self, tool: str, tool_input: Mapping[str, object]) -> bool:
        evaluation = evaluate_parts(PermissionRequest(tool, tool_input), self._context)
        return evaluation.decision.behavior is Behavior.ALLOW
