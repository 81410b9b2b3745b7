"""The tools of a conversation: the built-in ones in a fixed order, then those added."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agent.tools.base import AnyTool
from agent.tools.builtin.agent import agent_tool
from agent.tools.builtin.ask_user_question import ask_user_question_tool
from agent.tools.builtin.bash import bash_tool
from agent.tools.builtin.bash_output import bash_output_tool
from agent.tools.builtin.edit import edit_tool
from agent.tools.builtin.enter_plan_mode import enter_plan_mode_tool
from agent.tools.builtin.exit_plan_mode import exit_plan_mode_tool
from agent.tools.builtin.glob import glob_tool
from agent.tools.builtin.grep import grep_tool
from agent.tools.builtin.list_agents import list_agents_tool
from agent.tools.builtin.read import read_tool
from agent.tools.builtin.send_message import send_message_tool
from agent.tools.builtin.skill import skill_tool
from agent.tools.builtin.task_stop import task_stop_tool
from agent.tools.builtin.todo_write import todo_write_tool
from agent.tools.builtin.tool_search import tool_search_tool
from agent.tools.builtin.web_fetch import web_fetch_tool
from agent.tools.builtin.web_search import web_search_tool
from agent.tools.builtin.workflow import workflow_tool
from agent.tools.builtin.write import write_tool


def builtin_tools() -> tuple[AnyTool, ...]:
    """Return a fresh set of the built-in tools, in the order in which the model receives them."""
    return (
        read_tool(),
        edit_tool(),
        write_tool(),
        glob_tool(),
        grep_tool(),
        bash_tool(),
        bash_output_tool(),
        task_stop_tool(),
        web_fetch_tool(),
        web_search_tool(),
        todo_write_tool(),
        ask_user_question_tool(),
        enter_plan_mode_tool(),
        exit_plan_mode_tool(),
        agent_tool(),
        send_message_tool(),
        list_agents_tool(),
        skill_tool(),
        workflow_tool(),
    )


class ToolRegistry:
    """The tools of one conversation. Their order is fixed: a change would miss the prompt cache."""

    __slots__ = ("_aliases", "_tools")

    def __init__(self, tools: Iterable[AnyTool] | None = None) -> None:
        """Start with `tools`, which then count as built in, or with the built-in tools."""
        self._tools: dict[str, AnyTool] = {}
        self._aliases: dict[str, str] = {}
        for tool in builtin_tools() if tools is None else tools:
            self.register(tool)
            # Only built-in tools have aliases; otherwise a server could impersonate one.
            self._aliases.update(dict.fromkeys(tool.aliases, tool.name))

    def offer_search(self) -> None:
        """Add `ToolSearch` if there are deferred tools."""
        if any(t.should_defer and not t.always_load for t in self._tools.values()):
            self.register(tool_search_tool())

    def register(self, tool: AnyTool) -> None:
        """Add a tool at the end.

        Raises:
            ValueError: a tool or an alias has this name already.
        """
        if tool.name in self._tools or tool.name in self._aliases:
            raise ValueError(f"there is already a tool named {tool.name!r}")
        self._tools[tool.name] = tool

    def replace(self, tool: AnyTool) -> None:
        """Replace the tool of the same name; do nothing if there is none."""
        if tool.name in self._tools:
            self._tools[tool.name] = tool

    def unregister(self, name: str) -> None:
        """Remove a tool; an unknown name is not an error."""
        self._tools.pop(name, None)

    def get(self, name: str) -> AnyTool | None:
        """Return the tool of this name, an alias of a built-in tool included, or None."""
        return self._tools.get(name) or self._tools.get(self._aliases.get(name, ""))

    def all(self) -> tuple[AnyTool, ...]:
        """Return every tool in order."""
        return tuple(self._tools.values())

    def without(self, names: Collection[str]) -> ToolRegistry:
        """Return a registry that lacks these tools, given by name or alias; the order stays."""
        left_out = {self._aliases.get(name, name) for name in names}
        copy = ToolRegistry(())
        copy._tools = {n: tool for n, tool in self._tools.items() if n not in left_out}
        copy._aliases = {a: n for a, n in self._aliases.items() if n not in left_out}
        return copy

    def with_tools(self, tools: Iterable[AnyTool]) -> ToolRegistry:
        """Return a registry with these tools added, except those whose names it already has."""
        copy = self.without(())
        for tool in tools:
            copy._tools.setdefault(tool.name, tool)
        return copy

    def to_wire(self, loaded_names: Collection[str] = ()) -> tuple[dict[str, object], ...]:
        """Return the tools as JSON for the Messages API, in order.

        Deferred ones are left out, unless they are in `loaded_names` or always loaded.
        """
        return tuple(
            tool.to_wire()
            for tool in self._tools.values()
            if not tool.should_defer or tool.always_load or tool.name in loaded_names
        )
