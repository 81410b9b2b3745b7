"""The tools as the permission engine knows them: names, aliases, groups and path parameters.

A name that is neither here nor an MCP name is an unknown tool.
"""

from __future__ import annotations

ALIASES = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "SlashCommand": "Skill",
}
"""Other names of built-in tools, accepted in rules and in calls."""

EDIT_TOOLS = {
    "Edit": "file_path",
    "Write": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change one file, with the parameter that has its path."""

READ_TOOLS = {"Read": "file_path", "Glob": "path", "Grep": "path", "LS": "path"}
"""Tools that only read files, with the parameter that has the path."""

PATH_TOOLS = frozenset(EDIT_TOOLS) | frozenset(READ_TOOLS) | {"Cd"}
"""Tools whose specifier is a path pattern. `Cd` rules apply to the targets of `cd` in Bash."""

DEFAULT_ALLOWED_TOOLS = frozenset(
    """
    TodoWrite AskUserQuestion EnterPlanMode ExitPlanMode Agent ListAgents BashOutput TaskStop
    ToolSearch StructuredOutput report_findings Advisor ListMcpResourcesTool SpawnTeammate
    SendMessage StopTeammate TaskCreate TaskList TaskUpdate
    """.split()
)
"""Tools without an effect of their own: their calls need no permission unless a rule requires it.

`AskUserQuestion` and `ExitPlanMode` ask the user themselves; each call of a sub-agent is decided
separately.
"""

KNOWN_TOOLS = (
    PATH_TOOLS
    | DEFAULT_ALLOWED_TOOLS
    | frozenset({"Bash", "WebFetch", "WebSearch", "Skill", "ReadMcpResourceTool", "Workflow"})
)

CONTENT_PARAMETERS = frozenset({"command", "file_path", "path", "notebook_path", "url"})
"""Parameters with a grammar of their own, so a parameter rule on them is refused."""

SCALAR_PARAMETERS = {
    "Bash": frozenset({"timeout", "description", "run_in_background"}),
    "Read": frozenset({"offset", "limit", "pages"}),
    "Edit": frozenset({"replace_all"}),
    "NotebookEdit": frozenset({"edit_mode", "cell_type", "cell_id"}),
    "Glob": frozenset({"pattern"}),
    "Grep": frozenset(
        {"pattern", "glob", "type", "output_mode", "head_limit", "offset", "multiline"}
    ),
    "WebFetch": frozenset({"prompt"}),
    "WebSearch": frozenset({"query"}),
    "Agent": frozenset(
        {"model", "subagent_type", "description", "prompt", "run_in_background", "isolation"}
    ),
}
"""Parameters that a deny or ask rule may constrain, for tools that have another specifier too."""


def canonical_tool(name: str) -> str:
    """Return the tool's own name for one of its aliases; other names are returned unchanged."""
    return ALIASES.get(name, name)


def is_mcp_name(name: str) -> bool:
    """Return whether this is the name of an MCP server's tool (`mcp__server__tool`)."""
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    return name.startswith("mcp__") and bool(server and separator and tool)


_OTHER_NAMES: dict[str, tuple[str, ...]] = {}


def remember_names(tool: str, other_names: tuple[str, ...]) -> None:
    """Remember other names of an MCP tool, or of its server, for as long as the program runs.

    Names that the same tool has already keep applying: they only restrict.
    """
    _OTHER_NAMES[tool] = tuple(dict.fromkeys((*_OTHER_NAMES.get(tool, ()), *other_names)))


def restricting_names(tool: str) -> tuple[str, ...]:
    """Return all names of a tool, its own first, for what denies, asks, or guards.

    What allows applies to the own name alone: another name may be that of another server's tool.
    """
    return (tool, *_OTHER_NAMES.get(tool, ()))


def is_known_tool(name: str) -> bool:
    """Return whether a call of this tool can be decided."""
    return canonical_tool(name) in KNOWN_TOOLS or is_mcp_name(name)
