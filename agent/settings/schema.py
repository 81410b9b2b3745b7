"""What a settings file may contain: one record, with the keys as users spell them.

Validation is lenient: an invalid key is reported and ignored, the rest of the file applies; unknown
keys are preserved. Next: `agent.settings.file` (one file), `agent.settings.load` (all of them).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from agent.settings.json_positions import JsonValue
from agent.settings.sections.agents_section import AgentsSection
from agent.settings.sections.project_limits import FORBIDDEN_IN_PROJECT
from agent.settings.sections.sandbox_section import SANDBOX_PARTS, SandboxSection
from agent.settings.sections.workflows_section import WorkflowsSection
from agent.typed_json.read_record import Place, Problem, read_record

ServerTool = Literal["web_search", "web_fetch", "code_execution", "programmatic_tool_calling"]
"""A tool that the model's server runs itself."""


class PermissionsSection(Struct, frozen=True, kw_only=True):
    """`permissions`: the rule lists are read apart, each rule with its line."""

    allow: list[Any] | None = None
    ask: list[Any] | None = None
    deny: list[Any] | None = None
    defaultMode: str | None = None
    additionalDirectories: list[str] | None = None
    disableBypassPermissionsMode: Literal["disable"] | bool | None = None
    disableAutoMode: Literal["disable"] | bool | None = None


class StatusLineSection(Struct, frozen=True, kw_only=True):
    """`statusLine`: a command whose first output line is shown below the prompt."""

    type: Literal["command"] = "command"
    command: str
    padding: Annotated[int, Meta(ge=0, le=40)] = 0
    refreshInterval: Annotated[float, Meta(ge=0.3)] | None = None
    """Seconds after which it is run again."""


class FileSuggestionSection(Struct, frozen=True, kw_only=True):
    """`fileSuggestion`: a command that names files for what was typed after `@`."""

    type: Literal["command"] = "command"
    command: str


class WebSearchSection(Struct, frozen=True, kw_only=True):
    """`webSearch`: the service that WebSearch asks; its key is in the environment."""

    provider: Literal["brave", "tavily", "searxng"]
    url: str | None = None


class ModelSection(Struct, frozen=True, kw_only=True):
    """One entry of `modelCapabilities`: what a model can take, where its server reports nothing."""

    contextWindow: Annotated[int, Meta(gt=0)] | None = None
    maxOutputTokens: Annotated[int, Meta(gt=0)] | None = None
    thinking: Literal["adaptive", "budget", "none"] | None = None
    promptCaching: bool | None = None


class ProviderSection(Struct, frozen=True, kw_only=True):
    """One entry of `providers`: where models of another provider are, and whose key they take."""

    api: (
        Literal["messages", "responses", "chat", "gemini", "bedrock", "vertex", "foundry"] | None
    ) = None
    baseUrl: str | None = None
    keyVariable: str | None = None
    keyHelper: str | None = None
    headers: dict[str, str] | None = None
    models: list[str] | None = None
    smallModel: str | None = None
    options: dict[str, str] | None = None
    reasoningBack: Literal["never", "calls", "always"] | None = None


class AutoModeSection(Struct, frozen=True, kw_only=True):
    """`autoMode`: the model classifier, and what it should know, in plain words."""

    enabled: bool | None = None
    environment: list[str] | None = None
    allow: list[str] | None = None
    soft_deny: list[str] | None = None
    hard_deny: list[str] | None = None


class PermissionBridgeSection(Struct, frozen=True, kw_only=True):
    """`permissionBridge`: another program may answer permission requests, over loopback."""

    enabled: bool = False
    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """0 selects a free port."""
    origins: list[str] | None = None
    """Web pages that may call it."""


class PermissionChannelSection(Struct, frozen=True, kw_only=True):
    """`permissionChannel`: a command that is given permission requests and may print answers."""

    command: Annotated[list[str], Meta(min_length=1)]


class McpMatchSection(Struct, frozen=True, kw_only=True):
    """One entry of `allowedMcpServers` and `deniedMcpServers`: exactly one of its keys."""

    serverName: str | None = None
    serverCommand: list[str] | None = None
    serverUrl: str | None = None
    """`*` matches any characters; without a path, every path matches."""

    def __post_init__(self) -> None:
        keys = (self.serverName, self.serverCommand, self.serverUrl)
        if sum(one is not None for one in keys) != 1:
            raise ValueError("expected one of serverName, serverCommand, serverUrl")


class McpSection(Struct, frozen=True, kw_only=True):
    """`mcp`: how servers are handled."""

    toolChanges: Literal["withhold", "notify"] | None = None
    """What happens to a tool whose description or schema changed after it was accepted."""
    toolSearch: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Percentage of the window that definitions of MCP tools may take before they are deferred."""


class SettingsFile(Struct, frozen=True, kw_only=True):
    """One settings file. Absent keys are None."""

    permissions: PermissionsSection | None = None
    hooks: dict[str, Any] | None = None
    disableAllHooks: bool | None = None
    allowManagedHooksOnly: bool | None = None
    allowManagedPermissionRulesOnly: bool | None = None
    allowedHttpHookUrls: list[str] | None = None
    httpHookAllowedEnvVars: list[str] | None = None
    env: dict[str, str] | None = None
    model: str | None = None
    smallFastModel: str | None = None
    fallbackModel: str | list[str] | None = None
    advisorModel: str | None = None
    advisorMaxUses: Annotated[int, Meta(ge=1, le=50)] | None = None
    effortLevel: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    alwaysThinkingEnabled: bool | None = None
    respondToBashCommands: bool | None = None
    respectGitignore: bool | None = None
    fileSuggestion: FileSuggestionSection | None = None
    baseUrl: str | None = None
    apiKeyHelper: str | None = None
    theme: str | None = None
    editorMode: Literal["normal", "vim", "emacs"] | None = None
    vimInsertModeRemaps: dict[str, str] | None = None
    language: str | None = None
    outputStyle: str | None = None
    statusLine: StatusLineSection | None = None
    autoCompactEnabled: bool | None = None
    autoMemoryEnabled: bool | None = None
    autoCompactWindow: Annotated[int, Meta(gt=0)] | None = None
    cleanupPeriodDays: Annotated[int, Meta(ge=0)] | None = None
    includeCoAuthoredBy: bool | None = None
    claudeMdExcludes: list[str] | None = None
    mcpServers: dict[str, Any] | None = None
    """Read entry by entry: `agent.settings.servers.mcp_file`."""
    enableAllProjectMcpServers: bool | None = None
    enabledMcpjsonServers: list[str] | None = None
    disabledMcpjsonServers: list[str] | None = None
    allowedMcpServers: list[McpMatchSection] | None = None
    deniedMcpServers: list[McpMatchSection] | None = None
    allowManagedMcpServersOnly: bool | None = None
    mcp: McpSection | None = None
    blockedHosts: list[str] | None = None
    maxTurns: Annotated[int, Meta(gt=0)] | None = None
    maxBudgetUsd: Annotated[float, Meta(ge=0)] | None = None
    tokenBudget: Annotated[int, Meta(gt=0)] | None = None
    persistentRetry: bool | None = None
    maxParallelTools: Annotated[int, Meta(ge=1, le=100)] | None = None
    backgroundOnTimeout: bool | None = None
    prices: dict[str, Any] | None = None
    webSearch: WebSearchSection | None = None
    serverTools: list[ServerTool] | None = None
    modelCapabilities: dict[str, ModelSection] | None = None
    providers: dict[str, ProviderSection] | None = None
    autoMode: AutoModeSection | None = None
    permissionBridge: PermissionBridgeSection | None = None
    permissionChannel: PermissionChannelSection | None = None
    sandbox: SandboxSection | None = None
    agents: AgentsSection | None = None
    workflows: WorkflowsSection | None = None
    orchestration: bool | None = None
    agent: str | None = None
    teammateMode: Literal["auto", "in-process", "process", "panes", "tmux", "iterm2"] | None = None
    teamLeaderGraceSeconds: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    verbose: bool | None = None
    syntaxHighlightingDisabled: bool | None = None
    screen: Literal["full", "inline"] | None = None
    readingWidth: Annotated[int, Meta(ge=40)] | None = None
    sideBySideDiff: bool | None = None
    pinPrompt: bool | None = None
    toolDetail: dict[str, Literal["line", "short", "full"]] | None = None
    reducedMotion: bool | None = None
    terminalProgressBarEnabled: bool | None = None
    prefersReducedMotion: bool | None = None
    axScreenReader: bool | None = None
    askUserQuestionTimeout: Literal["60s", "5m", "10m", "never"] | None = None
    preferredNotifChannel: (
        Literal[
            "auto",
            "iterm2",
            "iterm2_with_bell",
            "kitty",
            "ghostty",
            "terminal_bell",
            "notifications_disabled",
        ]
        | None
    ) = None


ACCEPTED_ELSEWHERE: Final = frozenset(
    {
        "$schema",
        "attribution",
        "autoUpdatesChannel",
        "awsAuthRefresh",
        "awsCredentialExport",
        "companyAnnouncements",
        "enabledPlugins",
        "extraKnownMarketplaces",
        "forceLoginMethod",
        "forceLoginOrgUUID",
        "gcpAuthRefresh",
        "minimumVersion",
        "otelHeadersHelper",
        "plansDirectory",
        "showClearContextOnPlanAccept",
        "skipDangerousModePermissionPrompt",
        "spinnerTipsEnabled",
        "spinnerVerbs",
        "strictKnownMarketplaces",
        "strictPluginOnlyCustomization",
        "teammateMode",
        "worktree",
    }
)
"""Keys of other agents' settings files that have no effect here: preserved, not reported."""


def check(raw: Mapping[str, JsonValue]) -> tuple[SettingsFile, tuple[Problem, ...]]:
    """Return the record of all valid values in a file's object, and the problems of others."""
    model, problems = read_record(SettingsFile, raw)
    assert model is not None, "no field is required"
    return model, tuple((path, _expectation(message, path)) for path, message in problems)


def unknown_keys(
    raw: Mapping[str, JsonValue],
) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """Return the paths of unknown keys, each with the known key that may be meant, or None."""
    known_keys = SettingsFile.__struct_fields__
    elsewhere = ACCEPTED_ELSEWHERE | FORBIDDEN_IN_PROJECT
    unknown: list[tuple[tuple[str, ...], str | None]] = [
        ((key,), _MEANT.get(key) or _closest_key(key, known_keys, 0.75))
        for key in raw
        if key not in known_keys and key not in elsewhere
    ]
    permissions = raw.get("permissions")
    fields = PermissionsSection.__struct_fields__
    for key in permissions if isinstance(permissions, dict) else ():
        if key not in fields and key not in ACCEPTED_ELSEWHERE:
            # A list of restrictions must not be lost because of a misspelled name.
            unknown.append((("permissions", key), _closest_key(key, fields, 0.6)))
    unknown.extend(_unknown_sandbox_keys(raw))
    return tuple(unknown)


def _unknown_sandbox_keys(
    raw: Mapping[str, JsonValue],
) -> Iterator[tuple[tuple[str, ...], str | None]]:
    for path, model in SANDBOX_PARTS.items():
        part: JsonValue = dict(raw)
        for step in path:
            part = part.get(step) if isinstance(part, dict) else None
        for key in part if isinstance(part, dict) else ():
            if key not in model.__struct_fields__:
                yield (*path, key), _closest_key(key, model.__struct_fields__, 0.6)


def _closest_key(key: str, known_keys: Iterable[str], cutoff: float) -> str | None:
    return next(iter(difflib.get_close_matches(key, list(known_keys), n=1, cutoff=cutoff)), None)


_MEANT: Final = {
    **{name: f"permissions.{name}" for name in ("allow", "ask", "deny", "defaultMode")},
    "rules": "permissions",
}
"""Top-level keys that belong in a section."""


def _expectation(message: str, path: Place) -> str:
    return "expected the name of a mode" if path == ("permissions", "defaultMode") else message
