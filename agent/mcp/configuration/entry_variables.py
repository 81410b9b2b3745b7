"""`${VAR}` and `${VAR:-default}` in the texts of an entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from permissions.base.text.late_pattern import compile_late

_REFERENCE: Final = compile_late(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class EntryVariables:
    """Replaces variables, and collects those that are not set."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` is the environment of the start; with a default, an empty variable counts as not
        set, as in a shell."""
        self._env = env
        self.missing: dict[str, None] = {}

    def text(self, text: str) -> str:
        """Return a text with its variables replaced, except unset ones."""
        return _REFERENCE.sub(self._value, text)

    def table(self, table: Mapping[str, str]) -> dict[str, str]:
        """Return a table with the variables of its values replaced."""
        return {name: self.text(value) for name, value in table.items()}

    def _value(self, match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        value = self._env.get(name)
        if default is not None:
            return value or default
        if value is None:
            self.missing[name] = None
            return match[0]
        return value
