"""Whether the user wants the screen reader mode: by flag, environment variable or setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.options import RunOptions
from agent.settings.user_values import agent_home_path, user_values

VARIABLES: Final = ("AGENT_TUI_SCREEN_READER", "CLAUDE_AX_SCREEN_READER")
SETTING: Final = "axScreenReader"
_NO: Final = frozenset({"", "0", "false", "no"})


def wants_lines(options: RunOptions, env: Mapping[str, str]) -> bool:
    """Read flag, variables, then the user's own settings; the first that is set applies.

    Called before the first frame: it reads one small file and imports no modules.
    """
    if options.screen_reader:
        return True
    for name in VARIABLES:
        if name in env:
            return env[name].strip().lower() not in _NO
    agent_home = agent_home_path(env, env.get("HOME") or "/")
    return user_values(agent_home).get(SETTING) is True
