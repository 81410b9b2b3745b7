"""What is accepted in a hooks section but most likely does not do what its author meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hooks.config.condition import condition_problem
from hooks.config.match import MatchEverything, MatchNames, MatchNothing, parse_matcher
from hooks.config.spec import CommandHandler, HandlerSpec, HookSource, HttpHandler
from hooks.events.capabilities import EFFECTS
from permissions.base.text.late_pattern import compile_late

KNOWN_TOOLS: Final = tuple(
    """
    Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell
    MultiEdit NotebookEdit Read Skill Task TaskStop TodoWrite ToolSearch WebFetch WebSearch Write
    """.split()
)
PERMISSION_RULE: Final = compile_late(rf"^(?:{'|'.join(KNOWN_TOOLS)}|mcp__\w+)\(.*\)$", re.DOTALL)
RULE_TOOL: Final = compile_late(rf"(?:^|\|)\s*({'|'.join(KNOWN_TOOLS)}|mcp__\w+)\(")
UNQUOTED_PLACEHOLDER: Final = compile_late(
    r"(?<![\"'\w])\$\{?(CLAUDE|AGENT_TUI)_(PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA|SKILL_DIR)\}?"
)
RELATIVE_SCRIPT: Final = compile_late(
    r"^\s*(?:(?:python3?|node|bash|sh|bun|deno run|uv run|ruby|tsx|npx tsx)\s+)?"
    r"(\.{1,2}/\S+|[\w-]+(?:/[\w.-]+)+\.(?:sh|py|js|mjs|cjs|ts|rb))(?:\s|$)"
)
PLUGIN_DIRECTORY: Final = compile_late(r"\$\{?(?:CLAUDE|AGENT_TUI)_PLUGIN_(?:ROOT|DATA)\b\}?")
UNSET_VARIABLES: Final = compile_late(
    r"\$\{?(CLAUDE_(?:TOOL|FILE|HOOK|EVENT|NOTIFICATION|USER_PROMPT|SESSION_ID)\w*|"
    r"TOOL_INPUT|TOOL_OUTPUT|TOOL_NAME|tool_input_path|session_id|timestamp)\b"
)


def lint_matcher(event: str, matcher: str | None) -> Iterator[str]:
    """Yield suspected mistakes of a group's matcher."""
    rules = EFFECTS[event]
    if matcher is None or matcher.strip() in ("", "*"):
        return
    if rules.matcher_field is None:
        yield f"{event} has no matcher: `{matcher}` is ignored; the hooks always run"
        return
    if rules.is_tool_event and PERMISSION_RULE.match(matcher):
        yield _rule_as_matcher(matcher)
        return
    meaning = parse_matcher(matcher, strict_exact=rules.strict_exact_matcher)
    if isinstance(meaning, MatchNothing):
        yield f"matcher `{matcher}` is {meaning.reason}; the group never runs"
    elif isinstance(meaning, MatchEverything):
        yield f"matcher `{matcher}` is {meaning.reason}: it is taken for `*`"
    elif rules.is_tool_event and isinstance(meaning, MatchNames):
        yield from _lint_tool_names(sorted(meaning.names))


def _rule_as_matcher(matcher: str) -> str:
    tools = RULE_TOOL.findall(matcher)
    rules_fit = matcher if len(tools) == 1 else f"{tools[0]}(…)"
    each = "in the handler" if len(tools) == 1 else "in one handler for each rule"
    return (
        f"matcher `{matcher}` is a permission rule and matches no tool: "
        f'use "matcher": "{"|".join(dict.fromkeys(tools))}" and, {each}, "if": "{rules_fit}"'
    )


def _lint_tool_names(names: list[str]) -> Iterator[str]:
    by_lower = {tool.lower(): tool for tool in KNOWN_TOOLS}
    for name in names:
        right_name = by_lower.get(name.lower())
        if right_name is not None and right_name != name:
            yield f"matcher `{name}` matches no tool: names are case-sensitive, use `{right_name}`"
        elif name.startswith("mcp__") and name.count("__") == 1:
            prefix = name.rstrip("_") + "__"
            yield f"matcher `{name}` is an exact name and matches no tool: use `{prefix}.*`"


def lint_handler(spec: HandlerSpec) -> Iterator[str]:
    """Yield suspected mistakes of a handler."""
    if spec.condition is not None and not EFFECTS[spec.event].is_tool_event:
        yield f"`if` works for tool events only: on {spec.event} this handler never runs"
    elif spec.condition is not None and (problem := condition_problem(spec.condition)):
        yield problem
    match spec.handler:
        case CommandHandler() as handler:
            yield from _lint_command(handler)
            yield from _lint_plugin_directory(spec, handler)
        case HttpHandler(url=url):
            if not url.lower().startswith(("http://", "https://")):
                yield f"`url` {url!r} is neither http nor https: every request will be refused"
        case _:
            return


def _lint_plugin_directory(spec: HandlerSpec, handler: CommandHandler) -> Iterator[str]:
    """Yield a warning about a plugin's hook that was copied into settings."""
    if spec.plugin is not None or spec.source is HookSource.PLUGIN:
        return
    match = PLUGIN_DIRECTORY.search(" ".join((handler.command, *(handler.args or ()))))
    if match is not None:
        yield (
            f"{match.group(0)} is set for hooks of plugins only: write the folder itself, or use "
            "the plugin with --plugin-dir"
        )


def _lint_command(handler: CommandHandler) -> Iterator[str]:
    if handler.args is not None:
        return
    if match := UNQUOTED_PLACEHOLDER.search(handler.command):
        yield (
            f"{match.group(0)} is not quoted: a path with a space in it would break the command "
            f'(write "{match.group(0)}/…" in double quotes)'
        )
    if match := RELATIVE_SCRIPT.match(handler.command):
        yield (
            f"`{match.group(1)}` is relative to the current directory, which moves: "
            f'use "$CLAUDE_PROJECT_DIR"/{match.group(1).removeprefix("./")}'
        )
    if match := UNSET_VARIABLES.search(handler.command):
        yield f"{match.group(0)} is never set: read the JSON on standard input instead"
