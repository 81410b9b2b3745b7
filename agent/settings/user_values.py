"""The directory of the user's own settings, and the few values that the first frame needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from permissions.base.files.plain_file import read_text

if TYPE_CHECKING:
    from pathlib import Path

HOME_VARIABLE: Final = "AGENT_TUI_HOME"


def agent_home_path(env: Mapping[str, str], home: Path | str) -> str:
    """Return the directory of settings and sessions: `AGENT_TUI_HOME`, or `.agent` in `home`.

    A leading `~` is replaced by `home`; a relative path is below the current directory.
    """
    text = env.get(HOME_VARIABLE, "").strip()
    if not text:
        return os.path.join(home, ".agent")
    if text == "~" or text.startswith("~/"):
        text = f"{home}{text[1:]}"
    return os.path.abspath(text)


def user_values(agent_home: Path | str) -> Mapping[str, object]:
    """Return the values of the user's own settings, as written; {} if they cannot be read.

    For the few values that the first frame needs; all settings are read after it.
    """
    import json  # not needed by the early prompt

    try:
        text = read_text(os.path.join(agent_home, "settings.json"))
        data = json.loads(text) if text is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
