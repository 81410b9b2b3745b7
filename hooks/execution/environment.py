"""The environment of a hook's program: inherited and added variables, and placeholders."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hooks.config.spec import PluginRoot
from hooks.ports import HookSession
from permissions.base.text.late_pattern import compile_late
from permissions.paths.resolve import is_below

NEVER_INHERITED: Final = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND"})
"""They would make a shell run something before the hook."""
SECRETS: Final = frozenset(
    """
    ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_CUSTOM_HEADERS AWS_SECRET_ACCESS_KEY
    AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK GOOGLE_APPLICATION_CREDENTIALS
    """.split()
)
LONGEST_ID_CHARS: Final = 1_000
PLACEHOLDER: Final = compile_late(
    r"\$\{((?:CLAUDE|AGENT_TUI)_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA|SKILL_DIR))\}"
)
SINGLE_QUOTED: Final = compile_late(r"'[^']*'")
DOUBLE_QUOTED_OR_ESCAPED: Final = compile_late(r"\"(?:\\.|[^\"\\])*\"|\\.|'[^']*'", re.DOTALL)


def hook_environment(
    parent_env: Mapping[str, str],
    session: HookSession,
    payload: Mapping[str, object],
    *,
    plugin: PluginRoot | None,
    skill_dir: Path | None = None,
    env_file: Path | None,
) -> dict[str, str]:
    """Return the variables a program receives, each under an `AGENT_TUI_` and a `CLAUDE_` name."""
    env = {
        name: value
        for name, value in parent_env.items()
        if name not in NEVER_INHERITED and not name.startswith(("OTEL_", "BASH_FUNC_"))
    }
    if env.get("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") not in (None, "", "0"):
        env = {name: value for name, value in env.items() if name not in SECRETS}
    own = _own_variables(session, payload, plugin=plugin, skill_dir=skill_dir, env_file=env_file)
    for name, value in own.items():
        env[f"AGENT_TUI_{name}"] = value
        env[f"CLAUDE_{name}"] = value
    session_id = str(payload.get("session_id", session.session_id))
    # A payload given as JSON may contain any id; characters that the system refuses would prevent
    # the hook from starting.
    session_id = session_id.encode("utf-8", "replace").decode().replace("\0", "")[:LONGEST_ID_CHARS]
    env["AGENT_TUI_SESSION_ID"] = env["CLAUDE_CODE_SESSION_ID"] = session_id
    env["AGENT_TUI"] = env["CLAUDECODE"] = env["CLAUDE_CODE_CHILD_SESSION"] = "1"
    if session.is_remote:
        env["CLAUDE_CODE_REMOTE"] = "true"
    return env


def _own_variables(
    session: HookSession,
    payload: Mapping[str, object],
    *,
    plugin: PluginRoot | None,
    skill_dir: Path | None,
    env_file: Path | None,
) -> dict[str, str]:
    """Return the variables that get both prefixes, without one."""
    own = {"PROJECT_DIR": str(session.project_dir)}
    if plugin is not None:
        own["PLUGIN_ROOT"] = str(plugin.root)
        if plugin.data is not None:
            own["PLUGIN_DATA"] = str(plugin.data)
        for name, value in (plugin.options or {}).items():
            own[f"PLUGIN_OPTION_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}"] = value
    if skill_dir is not None:
        own["SKILL_DIR"] = str(skill_dir)
    if env_file is not None:
        own["ENV_FILE"] = str(env_file)
    effort = payload.get("effort")
    level = effort.get("level") if isinstance(effort, Mapping) else session.effort
    if isinstance(level, str) and "\0" not in level:
        own["EFFORT"] = level.encode("utf-8", "replace").decode()
    if session.pid is not None:
        own["PID"] = str(session.pid)
    return own


def fill_placeholders(text: str, env: Mapping[str, str]) -> str:
    """Replace `${CLAUDE_PROJECT_DIR}` and its like by plain text; unknown ones stay."""
    return PLACEHOLDER.sub(lambda match: env.get(match.group(1), match.group(0)), text)


def fill_single_quoted(command: str, env: Mapping[str, str]) -> str:
    """Fill placeholders where a shell would not: inside single quotes.

    Everywhere else the shell itself expands them as variables. A value with a single quote in it
    would end the quotes, so it is left for the shell.
    """

    def fill(match: re.Match[str]) -> str:
        span = match.group(0)
        if not SINGLE_QUOTED.fullmatch(span):
            return span
        result = fill_placeholders(span, env)
        return result if result.count("'") == 2 else span

    return DOUBLE_QUOTED_OR_ESCAPED.sub(fill, command)


def working_directory(payload: Mapping[str, object], session: HookSession) -> Path:
    """Return where a program runs: the current directory, or another if that was removed.

    Never the session's temporary directory: read-only commands may write there, even in plan mode,
    and hooks run what they find in their directory (`make lint`).
    """
    cwd_text = payload.get("cwd")
    cwd = Path(cwd_text) if isinstance(cwd_text, str) and cwd_text else session.cwd
    scratch = session.scratch_dir
    is_scratch = scratch is not None and is_below(os.path.realpath(cwd), os.path.realpath(scratch))
    places = (session.project_dir, session.home)
    for directory in places if is_scratch else (cwd, *places):
        if os.path.isdir(directory):  # unlike `Path.is_dir` it never raises: a name may be too long
            return directory
    return Path("/")
