"""The tags around what the sandbox refused, which only the model should see."""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

_TAGS: Final = compile_late(r"^</?sandbox>(?:\n|\Z)", re.MULTILINE)


def without_tags(result: str) -> str:
    """Return a result without the tags, for users."""
    return _TAGS.sub("", result)
