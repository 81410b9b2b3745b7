"""A description of each setting, for the reference, `/config` and the JSON schema.

The schema itself (`agent.settings.schema`) is loaded at every start and contains no descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from agent.settings.schema import SettingsFile
from agent.settings.sections.project_limits import FORBIDDEN_IN_PROJECT
from agent.typed_json.record_schema import record_schema

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "permissions": "Rules (`allow`, `ask`, `deny`), `defaultMode`, `additionalDirectories`, and "
    '`disableBypassPermissionsMode` and `disableAutoMode` (`"disable"`).',
    "hooks": "Handlers by event, in Claude Code's format.",
    "disableAllHooks": "Run no hooks except managed ones.",
    "allowManagedHooksOnly": "For administrators: only managed hooks run.",
    "allowManagedPermissionRulesOnly": "For administrators: only managed rules apply.",
    "allowedHttpHookUrls": "Addresses that HTTP hooks may call, as patterns.",
    "httpHookAllowedEnvVars": "Environment variables that HTTP hooks may use in headers.",
    "env": "Environment variables for commands, hooks and the endpoint; those of a project only for"
    " commands, and for hooks that are not yours.",
    "model": "The model: an id, or `opus`, `sonnet`, `haiku`; `ANTHROPIC_MODEL` overrides it.",
    "smallFastModel": "The model for small tasks: titles, fetched pages, prompt hooks.",
    "fallbackModel": "The model to use while the main model is overloaded: one name, or several in "
    "order.",
    "effortLevel": "How hard the model thinks.",
    "alwaysThinkingEnabled": "Whether the model thinks before it answers, if it supports both.",
    "respondToBashCommands": "Whether the model answers after you run a command with `!`.",
    "respectGitignore": "Whether `@` leaves out ignored files (`.gitignore` and similar). Takes "
    "effect at the next start.",
    "fileSuggestion": 'A `command` that gets `{"query": …}` and prints the files that `@` offers. '
    "User settings only.",
    "baseUrl": "The server for requests; `ANTHROPIC_BASE_URL` overrides it.",
    "apiKeyHelper": "A command that prints the API key.",
    "theme": "A theme's name, or `auto` to follow the terminal's background. User settings only.",
    "editorMode": "Keys of the prompt: `vim`, or `normal` (`emacs` is the same).",
    "vimInsertModeRemaps": "Two characters that stand for a key in vim's insert mode: "
    '`{"jj": "<Esc>"}`.',
    "language": "The language that the model answers in.",
    "outputStyle": "The name of an output style.",
    "statusLine": "A `command` that receives the session as JSON and prints the status line.",
    "autoCompactEnabled": "Compact the conversation when the window fills up.",
    "autoMemoryEnabled": "After a turn, look for facts to remember in later sessions; costs up to "
    "five short requests. A project can only turn it off.",
    "autoCompactWindow": "Maximum tokens of the model's context window to use.",
    "cleanupPeriodDays": "Days to keep sessions.",
    "includeCoAuthoredBy": "Whether commits name the agent as co-author.",
    "claudeMdExcludes": "Instruction files to leave out, as patterns.",
    "mcpServers": "MCP servers by name.",
    "enableAllProjectMcpServers": "Accept all servers in `.mcp.json`.",
    "enabledMcpjsonServers": "Accepted servers in `.mcp.json`.",
    "disabledMcpjsonServers": "Rejected servers in `.mcp.json`.",
    "allowedMcpServers": "The only servers that may be used: entries with `serverName`, "
    "`serverCommand` or `serverUrl`.",
    "deniedMcpServers": "Servers that are never used, in the same form.",
    "allowManagedMcpServersOnly": "For administrators: only the managed list of allowed servers "
    "applies.",
    "mcp": "`toolChanges` (`withhold`, `notify`): what to do with a tool that changed after you "
    "accepted it. "
    "`toolSearch`: percentage of the window that MCP tools may take before only their names are "
    "sent.",
    "blockedHosts": "Hosts that WebFetch never contacts.",
    "maxTurns": "Maximum answers with tool calls per prompt; 200 interactively, 50 with `-p`.",
    "maxBudgetUsd": "Maximum cost of a session in US dollars.",
    "tokenBudget": "Maximum tokens per prompt.",
    "persistentRetry": "Keep retrying for up to six hours while the model is overloaded.",
    "maxParallelTools": "How many tool calls that only read run at once.",
    "backgroundOnTimeout": "Whether a command that times out continues in the background.",
    "prices": "Prices of models that are not in the built-in table.",
    "agents": "Limits of sub-agents: how many at once, how deep, tokens and dollars.",
    "agent": "The agent that leads new sessions, as with --agent.",
    "workflows": "Limits of workflows: agents at once; agents, tokens and dollars of a session.",
    "orchestration": "Whether sessions start in orchestration mode.",
    "webSearch": "The search service for WebSearch; its key is in BRAVE_API_KEY or TAVILY_API_KEY.",
    "serverTools": "Tools that the model's server may run itself, if it supports them.",
    "modelCapabilities": "Capabilities of models by name, if the server does not report them.",
    "advisorModel": "A stronger model that the main model may consult on hard decisions.",
    "advisorMaxUses": "How often the advisor model may be consulted in one prompt.",
    "providers": "Other model providers, by the name before `/`: address, key variable or helper, "
    "models, headers.",
    "autoMode": "The model classifier for the mode `auto`, and its instructions.",
    "permissionBridge": "Let another program on this machine answer permission requests.",
    "permissionChannel": "A command that receives permission requests and may print answers.",
    "sandbox": "Where commands run: `enabled` lets them work inside the sandbox, `filesystem` and "
    "`network` control what they can access there. A project's files may only tighten it.",
    "teammateMode": "Where the workers of a team run. `auto` means `in-process`; `panes` uses "
    "panes of the terminal or of tmux.",
    "teamLeaderGraceSeconds": "How long a worker in a separate process waits for a missing leader "
    "before its question counts as declined and it exits.",
    "verbose": "Whether the transcript starts with full detail.",
    "syntaxHighlightingDisabled": "Show code without syntax colors.",
    "screen": "`full` draws the whole window; `inline` keeps the conversation in the terminal's "
    "own scrollback. User settings only; applies at the next start.",
    "readingWidth": "Maximum width of the conversation's text, in columns; 100 to 120 reads well.",
    "sideBySideDiff": "Show changes in two columns if the window has at least 160 columns; may be "
    "wider than `readingWidth`.",
    "pinPrompt": "Keep your prompt visible while you scroll its answer.",
    "toolDetail": "How much of a tool's calls is shown, by tool name: `line`, `short` or `full`.",
    "reducedMotion": "No animation; elapsed time is still shown.",
    "prefersReducedMotion": "Another name for `reducedMotion`.",
    "terminalProgressBarEnabled": "Show progress in the terminal's tab (OSC 9;4).",
    "askUserQuestionTimeout": "How long the model's questions wait for a key press before they "
    "continue with the current choices.",
    "axScreenReader": "Labeled lines instead of the drawn screen. User settings only.",
    "preferredNotifChannel": "How to notify you when the window isn't focused.",
}
UNSET: Final[Mapping[str, str]] = {
    "permissions": "no rules, mode default",
    "disableAllHooks": "false",
    "enableAllProjectMcpServers": "false",
    "allowManagedHooksOnly": "false",
    "allowManagedPermissionRulesOnly": "false",
    "allowedHttpHookUrls": "any",
    "httpHookAllowedEnvVars": "the ones that each hook names",
    "model": "ANTHROPIC_MODEL, or Anthropic's default",
    "smallFastModel": "ANTHROPIC_SMALL_FAST_MODEL, or a small Anthropic model",
    "effortLevel": "the model's default",
    "alwaysThinkingEnabled": "true",
    "respondToBashCommands": "true",
    "respectGitignore": "true",
    "fileSuggestion": "files of this folder",
    "baseUrl": "ANTHROPIC_BASE_URL, or Anthropic's API",
    "apiKeyHelper": "from ANTHROPIC_API_KEY",
    "theme": "auto",
    "editorMode": "normal",
    "language": "the language of your prompts",
    "statusLine": "built-in",
    "autoCompactEnabled": "true",
    "autoMemoryEnabled": "asks once",
    "autoCompactWindow": "no limit",
    "maxTurns": "200",
    "maxBudgetUsd": "no limit",
    "tokenBudget": "no limit",
    "persistentRetry": "false",
    "maxParallelTools": "10",
    "backgroundOnTimeout": "false",
    "agents": "10 at once, 3 deep, 200 in a session",
    "agent": "none",
    "workflows": "10 agents at once, 400 in a session",
    "orchestration": "false",
    "webSearch": "the model server's own search, if it has one",
    "serverTools": "none",
    "modelCapabilities": "as the server reports, or a built-in table",
    "providers": "the built-in providers",
    "advisorModel": "none",
    "advisorMaxUses": "3",
    "autoMode": "off",
    "permissionBridge": "off",
    "permissionChannel": "off",
    "sandbox": "off",
    "teammateMode": "auto",
    "teamLeaderGraceSeconds": "300",
    "syntaxHighlightingDisabled": "false",
    "screen": "full",
    "readingWidth": "the whole width",
    "sideBySideDiff": "true",
    "pinPrompt": "false",
    "toolDetail": "depends on the tool",
    "reducedMotion": "false",
    "terminalProgressBarEnabled": "if the terminal supports it",
    "prefersReducedMotion": "false",
    "axScreenReader": "false",
    "askUserQuestionTimeout": "never",
    "preferredNotifChannel": "auto",
}
"""The defaults of unset settings, in a few words; those not listed are empty."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "outputStyle",
        "cleanupPeriodDays",
        "includeCoAuthoredBy",
        "verbose",
    }
)
"""Read and checked, so that a file can be shared, but nothing here acts on them yet."""


_USERS_OWN: Final = frozenset({"axScreenReader", "screen", "theme"})
"""Read before the project is known; without effect in other files."""


def has_effect(key: str) -> bool:
    """Whether a key of a settings file has an effect in any file."""
    return key in DESCRIPTIONS and key not in WITHOUT_EFFECT


class SettingDescription(Struct, frozen=True):
    """One setting."""

    key: str
    form: str
    """The permitted values, as text for users."""
    text: str
    has_effect: bool
    is_for_projects: bool
    """Whether it has an effect in a project's files."""


def setting_descriptions() -> Iterator[SettingDescription]:
    """Yield every setting, in the order of the schema."""
    schema = record_schema(SettingsFile)
    for key, part in schema["properties"].items():
        yield SettingDescription(
            key,
            _type_text(part),
            DESCRIPTIONS.get(key, ""),
            key not in WITHOUT_EFFECT,
            key not in FORBIDDEN_IN_PROJECT and key not in _USERS_OWN,
        )


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a settings file, with descriptions, for editors."""
    schema = record_schema(SettingsFile)
    for key, part in schema["properties"].items():
        part["description"] = DESCRIPTIONS.get(key, "")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "agent-tui settings",
    }


def choices_of(key: str) -> tuple[object, ...] | None:
    """Return a setting's possible values, with None for "not set"; None if they are not listed."""
    kind = next(each.type for each in fields(SettingsFile) if each.name == key)
    choices: list[object] = []
    for part in get_args(kind) or (kind,):
        if part is bool:
            choices += [True, False]
        elif get_origin(part) is Literal:
            choices += get_args(part)
        elif part is not NoneType:
            return None
    return (*choices, None) if choices else None


_TYPES: Final = {
    "object": "object",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "string": "text",
}


def _type_text(part: Mapping[str, Any]) -> str:
    """Return a short text about the type of a schema's part."""
    choices = [choice for choice in part.get("anyOf", ()) if choice.get("type") != "null"]
    if choices:
        return " or ".join(dict.fromkeys(_type_text(choice) for choice in choices))
    if "properties" in part:
        return "object: " + ", ".join(f"`{name}`" for name in part["properties"])
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "const" in part:
        return f"`{part['const']}`"
    if part.get("type") == "array":
        return "list of " + _plural(_type_text(part.get("items", {})))
    return _TYPES.get(str(part.get("type")), "any value")


def _plural(form: str) -> str:
    return {"text": "texts", "any value": "values"}.get(form, form)
