"""Git configuration that disables the monitors, hooks and transports that a repository names.

Values of the command line and the environment take precedence over a repository's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from permissions.base.text.late_pattern import compile_late

NEUTRAL_VALUES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "core.fsmonitor": "false",
        "core.hooksPath": "/dev/null",
        # Showing signatures would run the program that `gpg.program` names.
        "log.showSignature": "false",
        "protocol.ext.allow": "never",
        "safe.bareRepository": "explicit",
    }
)
FILTER_QUERY: Final = ("config", "--list", "--show-scope", "--name-only", "-z")
"""Arguments that print what `repository_filters` reads; git runs nothing for them."""
_FILTER: Final = compile_late(r"filter\.(.+)\.(?:clean|smudge|process|required)", re.DOTALL)
_OWN_SCOPES: Final = frozenset({"local", "worktree"})


def with_neutral_git(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment whose git commands use `NEUTRAL_VALUES`; other values in it are kept.

    Needs git 2.31; older versions ignore these variables.
    """
    return with_git_values(env, NEUTRAL_VALUES.items())


def with_git_values(env: Mapping[str, str], values: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return an environment that gives git more configuration; the last pair of a key applies."""
    count_text = env.get("GIT_CONFIG_COUNT", "")
    count = int(count_text) if count_text.isascii() and count_text.isdigit() else 0
    extended_env = dict(env)
    for key, value in values:
        extended_env[f"GIT_CONFIG_KEY_{count}"] = key
        extended_env[f"GIT_CONFIG_VALUE_{count}"] = value
        count += 1
    extended_env["GIT_CONFIG_COUNT"] = str(count)
    return extended_env


def repository_filters(listing: bytes) -> frozenset[str]:
    """Return the filters that the repository itself configures, from the output of `FILTER_QUERY`.

    Those of the user's own configuration are not among them.
    """
    fields = listing.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    matches = (_FILTER.fullmatch(name) for scope, name in pairs if scope in _OWN_SCOPES)
    return frozenset(match[1] for match in matches if match is not None)


def filters_off(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the values that disable these filters."""
    return [
        (f"filter.{name}.{key}", value)
        for name in sorted(names)
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
