"""The marks around what the sandbox refused, which are for the model alone."""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

_TAGS: Final = compile_late(r"^</?sandbox>(?:\n|\Z)", re.MULTILINE)


def without_tags(result: str) -> str:
    """Return a result as users read it."""
    return _TAGS.sub("", result)
