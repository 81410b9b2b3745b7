"""The environment of programs that the agent starts: the user's own, without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from permissions.base.text.late_pattern import compile_late

_OURS: Final = compile_late(r"^(ANTHROPIC_|AGENT_TUI_)")
_SECRET_NAMES: Final = compile_late(
    r"(^|_)(API_?KEY|SECRET|TOKEN|CREDENTIALS?|PRIVATE_KEY|PASSPHRASE|PAT)(_|$)"
    r"|PASSWORD|PASSWD|^MYSQL_PWD$",
    re.IGNORECASE,
)
_ALWAYS_INHERITED: Final = frozenset({"SSH_AUTH_SOCK", "GPG_AGENT_INFO"})


def is_secret(name: str) -> bool:
    """Return whether a variable may hold a key: one of the endpoint's, or named like a secret."""
    return name.startswith("ANTHROPIC_") or _SECRET_NAMES.search(name) is not None


def child_environment(
    env: Mapping[str, str], settings_env: Mapping[str, str], *, keep: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Return the environment of commands, without our own variables and those named like secrets.

    `settings_env` is added after that, even secrets: variables set there are meant for commands.
    """
    inherited_env = {
        name: value
        for name, value in env.items()
        if name in keep
        or name in _ALWAYS_INHERITED
        or not (_OURS.match(name) or _SECRET_NAMES.search(name) or name == "BASH_ENV")
    }
    return {**inherited_env, **{k: v for k, v in settings_env.items() if not _OURS.match(k)}}
