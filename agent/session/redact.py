"""Secrets taken out of what is written down: known values, and what looks like a key.

For transcripts, logs, hook payloads and crash reports; never for what is executed or approved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

MIN_VALUE_CHARACTERS: Final = 8
"""A shorter value is too likely to be an ordinary word."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|"
    r"CREDENTIALS?|AUTH|COOKIE|DSN|CONNECTION_STRING)(?:_|$)",
    re.IGNORECASE,
)
_NOT_SECRET: Final = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO"})
_PLAIN_VALUE = re.compile(r"(?:/[^\s]*|[a-z]+|[0-9]{1,9}|true|false)", re.IGNORECASE)

_FORMATS: Final[tuple[tuple[str, str], ...]] = (
    (
        "private key",
        r"-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]*KEY-----|\Z)",
    ),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,}"),
    ("AWS key id", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Google token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("package index token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("signed token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("authorization header", r"(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/=-]{16,}"),
    ("password in an address", r"(?<=://)[^\s/:@]{1,100}:[^\s/@]{3,200}(?=@)"),
)
_FORMAT = re.compile("|".join(f"({pattern})" for _, pattern in _FORMATS))
_HINT = re.compile(
    r"sk-|_|gl|AKIA|ASIA|AIza|ya29|xox|SG\.|eyJ|-----BEGIN|://|pypi-|(?i:bearer |basic )"
)
_OPAQUE_KEYS: Final = frozenset({"signature", "data", "encrypted_content"})
"""Fields of blocks that are checked or decoded byte by byte, and hold no text."""


class Redactor:
    """Takes known secrets and things that look like secrets out of texts and JSON."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        """`secrets` maps the name shown in place of a value to the value."""
        named = {
            value: name
            for name, value in (secrets or {}).items()
            if len(value) >= MIN_VALUE_CHARACTERS
        }
        self._names = named
        # Longest first: one secret may be the beginning of another.
        values = sorted(named, key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, values))) if values else None

    def text(self, text: str) -> str:
        """Return the text with each secret replaced by `[redacted: <what it was>]`."""
        if self._values is not None:
            text = self._values.sub(lambda m: f"[redacted: {self._names[m[0]]}]", text)
        if _HINT.search(text):
            text = _FORMAT.sub(_format_mark, text)
        return text

    def json(self, value: Any) -> Any:
        """Return JSON with every text in it redacted; the same object where nothing changed."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            parts = [self.json(part) for part in value]
            if all(new is old for new, old in zip(parts, value, strict=True)):
                return value
            return parts if isinstance(value, list) else tuple(parts)
        return value

    def _mapping(self, value: Mapping[str, Any]) -> Any:
        changed: dict[str, Any] = {}
        for key, part in value.items():
            if key in _OPAQUE_KEYS and isinstance(part, str):
                continue
            new = self.json(part)
            # Equal texts may be different objects; only a real change makes a copy.
            if new is not part and new != part:
                changed[key] = new
        return {**value, **changed} if changed else value


def secrets_of(env: Mapping[str, str], more: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the variables that hold secrets, judged by name, and further named values."""
    found = {name: value for name, value in env.items() if is_secret(name, value)}
    return {**found, **{name: value for name, value in more if value}}


def is_secret(name: str, value: str) -> bool:
    """Whether a variable looks like a secret: a telling name, and a value that is not plain."""
    return (
        name.upper() not in _NOT_SECRET
        and bool(_SECRET_NAME.search(name))
        and len(value) >= MIN_VALUE_CHARACTERS
        and not _PLAIN_VALUE.fullmatch(value)
    )


def _format_mark(match: re.Match[str]) -> str:
    index = (match.lastindex or 1) - 1
    return f"[redacted: {_FORMATS[index][0]}]"
