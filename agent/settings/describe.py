"""What each setting is for, in a sentence: read by the reference, by `/config` and by the schema.

The schema itself (`agent.settings.schema`) is loaded at every start and carries no prose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from agent.settings.schema import FORBIDDEN_IN_PROJECT, SettingsFile

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "permissions": "Rules (`allow`, `ask`, `deny`), `defaultMode`, `additionalDirectories`, and "
    '`disableBypassPermissionsMode` and `disableAutoMode` (`"disable"`).',
    "hooks": "Handlers by event, as Claude Code writes them.",
    "disableAllHooks": "Run no hooks, but those of the policy.",
    "allowManagedHooksOnly": "For the policy: only its own hooks run.",
    "allowManagedPermissionRulesOnly": "For the policy: only its own rules count.",
    "allowedHttpHookUrls": "Patterns of addresses that HTTP hooks may call.",
    "httpHookAllowedEnvVars": "Variables that headers of HTTP hooks may use.",
    "env": "Variables for commands, hooks and the endpoint.",
    "model": "The model, by its id or as `opus`, `sonnet`, `haiku`.",
    "smallFastModel": "The model for small questions: titles, pages, hooks.",
    "fallbackModel": "Takes over while the model is overloaded; one name or several, in order.",
    "effortLevel": "How hard the model thinks.",
    "alwaysThinkingEnabled": "Whether the model thinks before it answers, where that can be "
    "switched off; true unless set.",
    "respondToBashCommands": "Whether the model answers when you have run a command with `!`; "
    "true unless set.",
    "respectGitignore": "Whether `@` leaves out what `.gitignore` and the like name; true unless "
    "set, and from the next start on.",
    "fileSuggestion": 'A `command` that gets `{"query": …}` and prints the files that `@` offers; '
    "from your own settings only.",
    "baseUrl": "The server that requests go to; `ANTHROPIC_BASE_URL` goes before it.",
    "apiKeyHelper": "A command that prints the key.",
    "theme": "A theme's name, or `auto` for what suits the terminal's background.",
    "editorMode": "`vim` gives the prompt vim's keys; `normal` and `emacs` are the same.",
    "vimInsertModeRemaps": "Two characters that mean a key in vim's insert mode: "
    '`{"jj": "<Esc>"}`.',
    "language": "The language the model answers in.",
    "outputStyle": "The name of an output style.",
    "statusLine": "A `command` that is given the session as JSON and prints the status line.",
    "autoCompactEnabled": "Summarise by itself when the window fills; true unless set.",
    "autoMemoryEnabled": "Look after each prompt for facts worth keeping, which costs a request; "
    "off unless set by you.",
    "autoCompactWindow": "Tokens of the model's window to use, where fewer are wanted than there "
    "are.",
    "cleanupPeriodDays": "Days after which sessions may go.",
    "includeCoAuthoredBy": "Whether commits name the agent.",
    "claudeMdExcludes": "Patterns of instruction files that are left out.",
    "mcpServers": "MCP servers by name.",
    "enableAllProjectMcpServers": "Accept every server of `.mcp.json`.",
    "enabledMcpjsonServers": "Servers of `.mcp.json` that are accepted.",
    "disabledMcpjsonServers": "Servers of `.mcp.json` that are not.",
    "blockedHosts": "Hosts that are never fetched from.",
    "maxTurns": "Model responses for one prompt; 200 on the screen and 50 without one.",
    "maxBudgetUsd": "US dollars that a session may cost.",
    "tokenBudget": "Tokens that one prompt may use.",
    "persistentRetry": "Wait for a busy model as long as it takes.",
    "prices": "Prices of models that the table does not know.",
    "autoMode": "The model classifier behind the mode `auto`, and what it should know.",
    "permissionBridge": "Another program on this machine may answer permission requests.",
    "permissionChannel": "A command that is given permission requests and may print answers.",
    "sandbox": "Settings of Claude Code's sandbox.",
    "verbose": "Whether the transcript starts in detail.",
    "syntaxHighlightingDisabled": "Whether code is shown without colours.",
    "toolDetail": "How much is shown of the calls of a tool, by its name: `line`, `short` or "
    "`full`.",
    "reducedMotion": "Nothing turns or blinks; seconds are still told.",
    "prefersReducedMotion": "The same, as Claude Code spells it.",
    "terminalProgressBarEnabled": "Show progress in the terminal's tab (OSC 9;4); without it, "
    "where the terminal is known to.",
    "askUserQuestionTimeout": "After how long without a key the model's questions go on with what "
    "was chosen so far; without it, never.",
    "axScreenReader": "Labelled lines in place of the drawn screen; from your own settings only.",
    "preferredNotifChannel": "How you are called while the window is not looked at.",
}
UNSET: Final[Mapping[str, str]] = {
    "permissions": "no rules, mode default",
    "disableAllHooks": "false",
    "allowManagedHooksOnly": "false",
    "allowManagedPermissionRulesOnly": "false",
    "allowedHttpHookUrls": "any address",
    "httpHookAllowedEnvVars": "those that each hook names",
    "model": "as ANTHROPIC_MODEL says, or Anthropic's default",
    "smallFastModel": "as ANTHROPIC_SMALL_FAST_MODEL says, or a small one of Anthropic's",
    "effortLevel": "the model's own",
    "alwaysThinkingEnabled": "true",
    "respondToBashCommands": "true",
    "respectGitignore": "true",
    "fileSuggestion": "the folder's files",
    "baseUrl": "as ANTHROPIC_BASE_URL says, or Anthropic's API",
    "apiKeyHelper": "as ANTHROPIC_API_KEY says",
    "theme": "auto",
    "editorMode": "normal",
    "language": "yours, as you write",
    "statusLine": "the built-in one",
    "autoCompactEnabled": "true",
    "autoMemoryEnabled": "false",
    "autoCompactWindow": "all of the model's window",
    "maxTurns": "200",
    "maxBudgetUsd": "no limit",
    "tokenBudget": "no limit",
    "persistentRetry": "false",
    "autoMode": "off",
    "permissionBridge": "off",
    "permissionChannel": "off",
    "syntaxHighlightingDisabled": "false",
    "toolDetail": "as suits each tool",
    "reducedMotion": "false",
    "terminalProgressBarEnabled": "where the terminal is known to show it",
    "prefersReducedMotion": "false",
    "axScreenReader": "false",
    "askUserQuestionTimeout": "never",
    "preferredNotifChannel": "auto",
}
"""What counts where nobody set a setting, in a few words; the others are empty then."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "outputStyle",
        "cleanupPeriodDays",
        "includeCoAuthoredBy",
        "mcpServers",
        "enableAllProjectMcpServers",
        "enabledMcpjsonServers",
        "disabledMcpjsonServers",
        "sandbox",
        "verbose",
    }
)
"""Read and checked, so that a file can be shared, but nothing here acts on them yet."""


class SettingDescription(Struct, frozen=True):
    """One setting."""

    key: str
    form: str
    """What its value may be, for users."""
    text: str
    has_effect: bool
    is_for_projects: bool
    """Whether it counts from a project's files."""


def setting_descriptions() -> Iterator[SettingDescription]:
    """Yield every setting, in the order of the schema."""
    schema = SettingsFile.model_json_schema()
    for key, part in schema["properties"].items():
        yield SettingDescription(
            key,
            _form(part, schema),
            DESCRIPTIONS.get(key, ""),
            key not in WITHOUT_EFFECT,
            key not in FORBIDDEN_IN_PROJECT and key != "axScreenReader",
        )


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a settings file, with descriptions, for editors."""
    schema = SettingsFile.model_json_schema()
    for key, part in schema["properties"].items():
        part.pop("title", None)
        part["description"] = DESCRIPTIONS.get(key, "")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "agent-tui settings",
    }


_TYPES: Final = {
    "object": "object",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "string": "text",
}


def _form(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return a schema's part as a few words."""
    choices = [choice for choice in part.get("anyOf", ()) if choice.get("type") != "null"]
    if choices:
        return " or ".join(dict.fromkeys(_form(choice, schema) for choice in choices))
    if "$ref" in part:
        section = schema["$defs"][part["$ref"].rpartition("/")[2]]
        return "object: " + ", ".join(f"`{name}`" for name in section["properties"])
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "const" in part:
        return f"`{part['const']}`"
    if part.get("type") == "array":
        return "list of " + _plural(_form(part.get("items", {}), schema))
    return _TYPES.get(str(part.get("type")), "any value")


def _plural(form: str) -> str:
    return {"text": "texts", "any value": "values"}.get(form, form)
