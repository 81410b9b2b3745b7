"""Where settings are stored: the agent's home, the project's root, the managed directory."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.settings.user_values import agent_home_path
from permissions.rule import RuleSource

POLICY_DIR: Final = Path("/etc/agent-tui")


def find_home(env: Mapping[str, str], uid: int) -> Path:
    """Return the home directory: `HOME`, else that of the user database, else `/`."""
    value = env.get("HOME", "")
    if value and Path(value).is_absolute():
        return Path(value)
    try:
        return Path(pwd.getpwuid(uid).pw_dir)
    except KeyError:
        return Path("/")


def find_agent_home(env: Mapping[str, str], home: Path) -> Path:
    """Return the directory of settings and sessions: `AGENT_TUI_HOME`, or `~/.agent`."""
    return Path(agent_home_path(env, home))


def expand_home(text: str, home: Path) -> Path:
    """Return a path with a leading `~` replaced by the given home directory."""
    if text == "~":
        return home
    if text.startswith("~/"):
        return home / text[2:]
    return Path(text)


def settings_files(
    source: RuleSource, *, project_root: Path, home: Path, agent_home: Path
) -> tuple[Path, ...]:
    """Return the files of a source in order of precedence."""
    match source:
        case RuleSource.USER:
            return (agent_home / "settings.json", home / ".claude" / "settings.json")
        case RuleSource.PROJECT:
            names = (".agent/settings.json", ".claude/settings.json")
        case RuleSource.LOCAL:
            names = (".agent/settings.local.json", ".claude/settings.local.json")
        case RuleSource.POLICY | RuleSource.CLI | RuleSource.SESSION:
            return ()
    own = {
        os.path.realpath(agent_home / "settings.json"),
        os.path.realpath(home / ".claude" / "settings.json"),
    }
    # In the home directory, the user's own file must not count as a project's too.
    return tuple(p for n in names if os.path.realpath(p := project_root / n) not in own)


def policy_files(policy_dir: Path) -> tuple[Path, ...]:
    """Return the managed files that exist, in the order they apply: the base, then the directory's.

    Raises:
        OSError: the directory exists but cannot be listed.
    """
    base = policy_dir / "managed-settings.json"
    paths = [base] if os.path.lexists(base) else []
    try:
        names = sorted(os.listdir(policy_dir / "managed-settings.d"))
    except (FileNotFoundError, NotADirectoryError):
        names = []
    paths += [
        policy_dir / "managed-settings.d" / name
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]
    return tuple(paths)
