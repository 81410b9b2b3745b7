"""Runs a configured command that prints additional headers, before each connection."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import ConnectFailed
from agent.settings.project_root import find_project_root
from permissions.base.process.ask_command import CommandFailed, ask_command
from permissions.base.text.late_pattern import compile_late

TIMEOUT_S: Final = 10.0
_CREDENTIAL: Final = compile_late(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|KEY|AUTH|COOKIE|PAT|DSN|CREDENTIALS?)(_|$)",
    re.IGNORECASE,
)


async def helper_headers(
    definition: ServerDefinition, env: Mapping[str, str], launch_dir: Path
) -> dict[str, str]:
    """Return the headers that a server's helper prints; empty if it has no helper.

    Raises:
        ConnectFailed: the helper cannot run, takes too long, or prints something else.
    """
    command = definition.headers_helper
    if command is None:
        return {}
    if definition.is_foreign:
        # The user did not write the command: it gets none of the user's credentials.
        env = {name: value for name, value in env.items() if not _CREDENTIAL.search(name)}
    variables = {
        **(definition.plugin.variables if definition.plugin is not None else {}),
        "CLAUDE_CODE_MCP_SERVER_NAME": definition.name,
        "CLAUDE_CODE_MCP_SERVER_URL": definition.url,
        "CLAUDE_PROJECT_DIR": str(find_project_root(launch_dir)),
    }
    try:
        output = await ask_command(
            command, {}, cwd=launch_dir, env={**env, **variables}, timeout_s=TIMEOUT_S
        )
        headers = json.loads(output)
    except CommandFailed as error:
        raise ConnectFailed(f"its headersHelper {error}") from error
    except ValueError as error:
        # Without the text itself, which may be a secret.
        raise ConnectFailed("its headersHelper did not print JSON") from error
    if not isinstance(headers, dict) or not all(isinstance(v, str) for v in headers.values()):
        raise ConnectFailed("its headersHelper did not print an object of strings")
    return headers
