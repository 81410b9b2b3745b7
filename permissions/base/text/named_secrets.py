"""Redacts secrets that the name before them gives away: `API_KEY=…`, `--token …`, `Authorization:
…`.

For logs about a call, never for what runs. The placeholder is one plain word, so that a logged
command is evaluated like the original.
"""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

PLACEHOLDER: Final = "REDACTED"
SECRET_NAME: Final = compile_late(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|"
    r"CREDENTIALS?|AUTH|COOKIE|DSN|CONNECTION_STRING)(?:_|$)",
    re.IGNORECASE,
)
"""Matches the names of variables that hold secrets."""

_NAME: Final = (
    r"(?:[A-Za-z0-9]{1,40}[_-]){0,4}"
    r"(?:api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|token|secret|password|passwd|passphrase"
    r"|credentials?|pwd)"
    r"(?:[_-][A-Za-z0-9]{1,40}){0,3}"
)
_VALUE: Final = r"""(?:'[^']+'|"[^"$`\\]+"|[^\s'"$`;&|<>()\\]+)"""
"""One word of a shell without anything that it would expand."""
_RULES: Final = (
    # NAME=value, --name=value, ?name=value, "name": "value"
    compile_late(rf"(?i)(?<![A-Za-z0-9])({_NAME}=)({_VALUE})"),
    compile_late(rf"""(?i)(["'](?:{_NAME}|authorization|cookie)["']\s*:\s*)("[^"\\]+"|'[^']+')"""),
    # --name value
    compile_late(rf"(?i)(?<!\S)(--{_NAME}\s+)(?!-)({_VALUE})"),
    # headers, up to the quote or the end of their line
    compile_late(
        r"(?i)\b((?:proxy-)?authorization:\s*(?:[A-Za-z]{2,20}\s+)?|(?:x-)?(?:api-key|auth-token|"
        r"access-token|csrf-token):\s*|private-token:\s*|(?:set-)?cookie:\s*)([^\s'\"$`][^'\"$`\n]*)"
    ),
    # curl -u user:password
    compile_late(r"(?<!\S)((?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"]{1,100}:)([^\s'\"$`]+)"),
    # https://token@host
    compile_late(r"(://)([^\s/:@'\"$`\[]{16,200})(?=@)"),
)
_HINT: Final = compile_late("key|token|secret|pass|pwd|credential|authorization|cookie|@|-u")
"""One of these is in every text that a rule matches."""
_FIELD_HINT: Final = compile_late(f"{_HINT.pattern}|auth|dsn|connection")
_PLAIN: Final = compile_late(r"(?i)REDACTED|true|false|null|none|\d{1,6}")


def without_named_secrets(text: str) -> str:
    """Return the text with every value after such a name replaced by `PLACEHOLDER`."""
    if not _HINT.search(text.lower()):
        return text
    for rule in _RULES:
        text = rule.sub(_taken_out, text)
    return text


def may_name_secrets(line: str) -> bool:
    """Return whether a line of JSON may hold a named secret.

    Never False for a line that does; may be True for one that only mentions such a name.
    """
    lower_line = line.lower()
    return _FIELD_HINT.search(lower_line) is not None


def is_secret_name(name: str) -> bool:
    """Return whether a field's name is that of a secret; `key` alone is too common."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name)
    return words.upper() != "KEY" and SECRET_NAME.search(words) is not None


def _taken_out(match: re.Match[str]) -> str:
    value = match[2]
    quote = value[0] if value[0] in "'\"" else ""
    bare = value.strip("'\"")
    if _PLAIN.fullmatch(bare) or bare.startswith("[redacted"):
        return match[0]
    return f"{match[1]}{quote}{PLACEHOLDER}{quote}"
