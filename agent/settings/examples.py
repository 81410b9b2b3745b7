"""One value for each setting that takes more than a word from a list: read by the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

EXAMPLES: Final[Mapping[str, Any]] = {
    "permissions": {"allow": ["Bash(npm test)"], "deny": ["Read(.env)"], "defaultMode": "plan"},
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "make lint"}]}]},
    "allowedHttpHookUrls": ["https://hooks.example.org/*"],
    "httpHookAllowedEnvVars": ["HOOK_TOKEN"],
    "env": {"RUST_BACKTRACE": "1"},
    "model": "opus",
    "smallFastModel": "haiku",
    "fallbackModel": ["sonnet", "haiku"],
    "fileSuggestion": {"type": "command", "command": "~/.agent/files.sh"},
    "baseUrl": "http://localhost:11434",
    "apiKeyHelper": "pass show anthropic",
    "theme": "light",
    "vimInsertModeRemaps": {"jj": "<Esc>"},
    "language": "Deutsch",
    "statusLine": {"type": "command", "command": "~/.agent/status.sh", "padding": 1},
    "autoCompactWindow": 150000,
    "claudeMdExcludes": ["vendor/**/CLAUDE.md"],
    "mcpServers": {"files": {"command": "npx", "args": ["-y", "server-files@1.2.0", "."]}},
    "enabledMcpjsonServers": ["files"],
    "disabledMcpjsonServers": ["browser"],
    "allowedMcpServers": [{"serverUrl": "https://*.example.org/*"}, {"serverName": "files"}],
    "deniedMcpServers": [{"serverCommand": ["npx", "-y", "server-browser"]}],
    "mcp": {"toolChanges": "withhold", "toolSearch": 10},
    "blockedHosts": ["internal.example.org"],
    "maxTurns": 40,
    "maxBudgetUsd": 5,
    "tokenBudget": 200000,
    "maxParallelTools": 4,
    "prices": {"my-model": {"input": 0.5, "output": 2.0}},
    "agents": {"maxConcurrent": 4, "maxUsdEach": 1.5, "onFailure": "cancel"},
    "agent": "reviewer",
    "webSearch": {"provider": "searxng", "url": "http://localhost:8888"},
    "modelCapabilities": {"my-alias": {"contextWindow": 200000, "thinking": "adaptive"}},
    "providers": {"work": {"baseUrl": "https://models.example.org/v1", "keyVariable": "WORK_KEY"}},
    "autoMode": {"enabled": True, "environment": ["Deploys go through the release job only"]},
    "permissionBridge": {"enabled": True, "port": 7711},
    "permissionChannel": {"command": ["ask-my-phone", "--wait"]},
    "sandbox": {"enabled": True, "network": {"allowedDomains": ["*.example.org"]}},
    "readingWidth": 110,
    "toolDetail": {"Bash": "full", "Read": "line"},
}
