"""A tool that an agent calls to return its answer, which ends its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from agent.tools.agent_port import AnswerForm
from agent.tools.base import AnyTool, Concurrency, ToolContext, ToolOutcome, build_tool
from agent.typed_json.read_record import as_values


def answer_tool(form: AnswerForm, take: Callable[[Mapping[str, Any]], None]) -> AnyTool:
    """Return the tool; `take` gets the answer of each call."""

    async def run(tool_input: Struct, _context: ToolContext) -> ToolOutcome:
        take(as_values(tool_input))
        return ToolOutcome(form.receipt)

    return build_tool(
        name=form.tool,
        description=form.description,
        input_model=form.model,
        run=run,
        concurrency=lambda _: Concurrency.UNSAFE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
    )
