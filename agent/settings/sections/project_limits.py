"""What a project's settings can never set, trusted or not."""

from __future__ import annotations

from typing import Final

FORBIDDEN_IN_PROJECT: Final = frozenset(
    {
        "fileSuggestion",
        "apiKeyHelper",
        "autoMode",
        "awsAuthRefresh",
        "awsCredentialExport",
        "baseUrl",
        "cleanupPeriodDays",
        "forceLoginMethod",
        "forceLoginOrgUUID",
        "advisorModel",
        "modelCapabilities",
        "providers",
        "webSearch",
        "serverTools",
        "agents",
        "agent",
        "orchestration",
        "workflows",
        "gcpAuthRefresh",
        "httpProxy",
        "otelHeadersHelper",
        "permissionBridge",
        "permissionChannel",
        "prices",
        "proxy",
        "skipDangerousModePermissionPrompt",
        "allowedHttpHookUrls",
        "httpHookAllowedEnvVars",
        "allowedMcpServers",
        "enableAllProjectMcpServers",
        "enabledMcpjsonServers",
        "mcp",
    }
)
"""Keys that have no effect in project and local settings, even trusted (safety-and-permissions)."""

FORBIDDEN_PERMISSIONS_IN_PROJECT: Final = frozenset({"defaultMode", "additionalDirectories"})

_FORBIDDEN_VARIABLES: Final = frozenset(
    {
        "ALL_PROXY",
        "BASHOPTS",
        "BASH_ENV",
        "CURL_CA_BUNDLE",
        "ENV",
        "FTP_PROXY",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "IFS",
        "NODE_EXTRA_CA_CERTS",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "NO_PROXY",
        "PATH",
        "PROMPT_COMMAND",
        "PS4",
        "REQUESTS_CA_BUNDLE",
        "SHELL",
        "SHELLOPTS",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TMPDIR",
    }
)
_FORBIDDEN_PREFIXES: Final = (
    "AGENT_TUI_",
    "ANTHROPIC_",
    "AWS_",
    "BASH_FUNC_",
    "CLAUDE_",
    "DYLD_",
    "GIT_",
    "GOOGLE_APPLICATION_",
    "LD_",
    "OTEL_",
)


def is_forbidden_variable(name: str) -> bool:
    """Whether a project's `env` must not set this variable, trusted or not.

    Such variables decide which program runs, where traffic is sent, or whose credentials are used.
    """
    upper = name.upper()
    return upper in _FORBIDDEN_VARIABLES or upper.startswith(_FORBIDDEN_PREFIXES) or "=" in name
