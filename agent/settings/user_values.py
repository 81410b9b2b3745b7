"""The few values of the user's own settings that the first frame needs, read as written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from permissions.base.files.plain_file import read_text

if TYPE_CHECKING:
    from pathlib import Path


def user_values(agent_home: Path | str) -> Mapping[str, object]:
    """Return the values of the user's own settings, as written; {} where nothing can be read.

    For the few values that the first frame needs; the settings as a whole are read behind it.
    """
    import json  # the early prompt does without

    try:
        text = read_text(os.path.join(agent_home, "settings.json"))
        data = json.loads(text) if text is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
