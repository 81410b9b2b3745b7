"""Names of the settings in `/config`, by group, without settings for administrators only."""

from __future__ import annotations

from typing import Final

GROUPS: Final = {
    "Model": {
        "model": "Model",
        "smallFastModel": "Model for small tasks",
        "fallbackModel": "Fallback models",
        "modelCapabilities": "Model capabilities",
        "providers": "Model providers",
        "advisorModel": "Advisor",
        "advisorMaxUses": "Advisor uses per prompt",
        "effortLevel": "Effort",
        "alwaysThinkingEnabled": "Thinking",
        "language": "Language of answers",
        "agent": "Lead agent",
    },
    "Screen": {
        "theme": "Theme",
        "syntaxHighlightingDisabled": "Code without colors",
        "screen": "Screen",
        "readingWidth": "Reading width",
        "sideBySideDiff": "Changes in two columns",
        "pinPrompt": "Pin the prompt",
        "toolDetail": "Detail of tool calls",
        "reducedMotion": "Reduced motion",
        "axScreenReader": "Screen reader mode",
        "statusLine": "Status line command",
        "terminalProgressBarEnabled": "Progress in the terminal's tab",
        "preferredNotifChannel": "Notifications",
    },
    "Prompt": {
        "editorMode": "Editing keys",
        "vimInsertModeRemaps": "Vim insert-mode mappings",
        "respectGitignore": "@ follows .gitignore",
        "fileSuggestion": "@ file command",
        "respondToBashCommands": "Answer after ! commands",
        "askUserQuestionTimeout": "Timeout of the model's questions",
    },
    "Permissions": {
        "permissions": "Rules and mode",
        "autoMode": "Auto mode",
        "permissionBridge": "Permission bridge",
        "permissionChannel": "Permission channel",
        "blockedHosts": "Blocked hosts",
        "sandbox": "Sandbox",
    },
    "MCP servers": {
        "mcpServers": "Servers",
        "mcp": "Changed tools, tool search",
        "enableAllProjectMcpServers": "Start all project servers",
        "enabledMcpjsonServers": "Project servers to start",
        "disabledMcpjsonServers": "Project servers to reject",
        "allowedMcpServers": "Allowed servers",
        "deniedMcpServers": "Denied servers",
    },
    "Context": {
        "autoCompactEnabled": "Automatic compaction",
        "autoCompactWindow": "Context window limit",
        "autoMemoryEnabled": "Automatic memory",
        "claudeMdExcludes": "Excluded instruction files",
    },
    "Limits": {
        "maxTurns": "Turns per prompt",
        "maxBudgetUsd": "Budget per session (USD)",
        "tokenBudget": "Tokens per prompt",
        "persistentRetry": "Keep retrying a busy model",
        "maxParallelTools": "Tool calls at once",
        "agents": "Agents",
        "workflows": "Workflows",
        "orchestration": "Orchestration mode",
        "teammateMode": "Where workers of a team run",
        "teamLeaderGraceSeconds": "Workers wait for a leader (s)",
        "backgroundOnTimeout": "Continue timed-out commands",
    },
    "Hooks": {
        "hooks": "Hooks",
        "disableAllHooks": "Disable all hooks",
        "allowedHttpHookUrls": "Addresses for HTTP hooks",
        "httpHookAllowedEnvVars": "Variables for HTTP hook headers",
    },
    "Endpoint": {
        "baseUrl": "Server",
        "apiKeyHelper": "API key command",
        "env": "Environment variables",
        "prices": "Model prices",
        "webSearch": "Web search",
        "serverTools": "Server-side tools",
    },
}
"""Key and name of each setting, by group, in display order."""
