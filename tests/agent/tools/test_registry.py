"""The set of tools, and what every one of them must declare."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.tools.base import Concurrency, Tool, build_tool
from agent.tools.builtin.bash import BashInput, bash_tool
from agent.tools.registry import ToolRegistry, builtin_tools
from permissions.tool_names import KNOWN_TOOLS

SAMPLES: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "a"},
    "Edit": {"file_path": "a", "old_string": "x", "new_string": "y"},
    "Write": {"file_path": "a", "content": "x"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "Bash": {"command": "make"},
    "BashOutput": {"bash_id": "bash_1"},
    "TaskStop": {"task_id": "bash_1"},
    "WebFetch": {"url": "https://example.com", "prompt": "x"},
    "WebSearch": {"query": "how to"},
    "TodoWrite": {"todos": []},
    "AskUserQuestion": {
        "questions": [{"question": "x?", "options": [{"label": "a"}, {"label": "b"}]}]
    },
    "EnterPlanMode": {},
    "ExitPlanMode": {"plan": "x"},
    "Agent": {"description": "x", "prompt": "y"},
    "SendMessage": {"to": "explore-1", "message": "go on"},
    "ListAgents": {},
    "Skill": {"skill": "x"},
    "Workflow": {"subtasks": ["x"]},
}
TOOLS = builtin_tools()


def test_order_of_the_tools_is_fixed() -> None:
    assert [tool.name for tool in TOOLS] == list(SAMPLES)
    assert [wire["name"] for wire in ToolRegistry().to_wire()] == list(SAMPLES)
    assert ToolRegistry().to_wire() == ToolRegistry().to_wire()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schema_is_plain_json_that_takes_the_sample(tool: Tool[Any]) -> None:
    text = json.dumps(tool.to_wire())
    assert "$ref" not in text
    assert "$defs" not in text
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    parsed = tool.parse(SAMPLES[tool.name])
    assert set(SAMPLES[tool.name]) <= set(tool.input_schema.get("properties", {}))
    assert tool.name in KNOWN_TOOLS
    assert isinstance(tool.concurrency(parsed), Concurrency)
    with pytest.raises(ValueError, match="surprise"):
        tool.parse({**SAMPLES[tool.name], "surprise": 1})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_parameter_is_explained(tool: Tool[Any]) -> None:
    assert "Use it" in tool.description
    assert "not" in tool.description
    properties = tool.input_schema.get("properties", {})
    unexplained = [name for name, field in properties.items() if "description" not in field]
    assert unexplained == [name for name in unexplained if name in {"questions"}]


@pytest.mark.parametrize(
    ("name", "concurrency", "read_only", "destructive", "permission"),
    [
        ("Read", "read_only", True, False, False),
        ("Edit", "write_exclusive", False, False, True),
        ("Write", "write_exclusive", False, True, True),
        ("Glob", "read_only", True, False, False),
        ("Grep", "read_only", True, False, False),
        ("Bash", "unsafe", False, True, True),
        ("WebFetch", "read_only", False, False, True),
        ("WebSearch", "read_only", False, False, True),
        ("Agent", "independent", False, True, False),
        ("TaskStop", "write_exclusive", False, True, False),
    ],
)
def test_flags(
    name: str, concurrency: str, read_only: bool, destructive: bool, permission: bool
) -> None:
    tool = ToolRegistry().get(name)
    assert tool is not None
    parsed = tool.parse(SAMPLES[name])
    assert (
        tool.concurrency(parsed),
        tool.is_read_only(parsed),
        tool.is_destructive(parsed),
        tool.requires_permission,
    ) == (concurrency, read_only, destructive, permission)


def extra(name: str, **flags: Any) -> Tool[BashInput]:
    async def run(_input: Any, _context: Any) -> Any:
        raise AssertionError("never run")

    return build_tool(name=name, description="x", input_model=BashInput, run=run, **flags)


def test_aliases_are_for_built_in_tools_only() -> None:
    registry = ToolRegistry()
    task, shell = registry.get("Task"), registry.get("KillShell")
    assert task is not None
    assert task.name == "Agent"
    assert shell is not None
    assert shell.name == "TaskStop"
    registry.register(extra("mcp__x__y", aliases=("Shell",)))
    assert registry.get("Shell") is None
    with pytest.raises(ValueError, match="already"):
        registry.register(extra("Task"))
    with pytest.raises(ValueError, match="already"):
        registry.register(bash_tool())


def test_deferred_tools_are_sent_once_loaded() -> None:
    registry = ToolRegistry([])
    registry.register(extra("a", should_defer=True))
    registry.register(extra("b", should_defer=True, always_load=True))
    registry.register(extra("c"))
    assert [wire["name"] for wire in registry.to_wire()] == ["b", "c"]
    assert [wire["name"] for wire in registry.to_wire({"a"})] == ["a", "b", "c"]


def test_a_smaller_set_keeps_order_and_aliases() -> None:
    smaller = ToolRegistry().without({"Task", "AskUserQuestion"})
    names = [tool.name for tool in smaller.all()]
    assert names == [name for name in SAMPLES if name not in {"Agent", "AskUserQuestion"}]
    assert smaller.get("Task") is None
    assert smaller.get("KillShell") is not None


def test_only_a_tool_that_may_leave_the_sandbox_says_how() -> None:
    registry = ToolRegistry()
    assert "dangerouslyDisableSandbox" not in json.dumps(registry.to_wire())
    registry.replace(bash_tool(may_leave=True))
    assert "dangerouslyDisableSandbox" in json.dumps(registry.to_wire())
    assert [tool.name for tool in registry.all()] == [tool.name for tool in TOOLS]
