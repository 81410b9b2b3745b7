"""Redacts secrets: known values, and text that looks like a key.

For files and logs; never for what is executed or approved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.named_secrets import SECRET_NAME

MIN_VALUE_CHARACTERS: Final = 8
"""A shorter value is too likely to be an ordinary word."""

_NOT_SECRET: Final = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "GPG_AGENT_INFO"})
_PLAIN_VALUE = compile_late(r"(?:/[^\s]*|[a-z]+|[0-9]{1,9}|true|false)", re.IGNORECASE)


class _Format(Struct, frozen=True):
    """The format of one kind of key. Patterns begin with literal text, which is fast to find."""

    name: str
    needles: tuple[str, ...]
    """One of these is in every text that holds such a key; in lower case for `any_case`."""
    pattern: re.Pattern[str]
    any_case: bool = False
    own_word: bool = True
    """The key does not begin inside a word: `task-…` is not `sk-…`."""


def _format(
    name: str, needles: str, pattern: str, *, any_case: bool = False, own_word: bool = True
) -> _Format:
    flags = re.IGNORECASE if any_case else re.NOFLAG
    return _Format(
        name, tuple(needles.split("|")), compile_late(pattern, flags), any_case, own_word
    )


_FORMATS: Final = (
    _format(
        "private key",
        "-----BEGIN ",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:\s*(?:Proc-Type|DEK-Info):[^\n]{0,200})*"
        r"[^-]{0,20000}(?:-----END [A-Z0-9 ]{0,40}KEY-----)?",
        own_word=False,
    ),
    _format("Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    _format("OpenAI key", "sk-", r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    _format(
        "GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        r"g(?:h[pousr]_[A-Za-z0-9]{30,}|ithub_pat_[A-Za-z0-9_]{30,})",
    ),
    _format(
        "GitLab token",
        "glpat-|gldt-|glrt-|glcbt-|glptt-",
        r"gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,}",
    ),
    _format("AWS key id", "AKIA|ASIA", r"A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _format("Google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _format("Google token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _format("Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _format("Stripe key", "k_live_|k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _format("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _format("package index token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}"),
    _format("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _format("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _format(
        "signed token", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    ),
    _format(
        "authorization header",
        "bearer |basic ",
        r"(?:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/=-]{16,}",
        any_case=True,
        own_word=False,
    ),
    _format("password in an address", "://", r"(?<=://)[^\s/:@]+:[^\s/@]{3,}(?=@)", own_word=False),
)
_OPAQUE_KEYS: Final = {
    "thinking": "signature",
    "redacted_thinking": "data",
    "base64": "data",
    "compaction": "encrypted_content",
    "reasoning": "encrypted_content",
    "web_search_result": "encrypted_content",
}
"""By block type, the field that is verified or decoded byte by byte and holds no text. A field of
that name elsewhere holds other data: a tool has parameters of any name."""


class Redactor:
    """Redacts known secrets, and text that looks like a secret, in texts and JSON."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        """`secrets` maps the name shown in place of a value to the value."""
        names_by_value = {
            value: name
            for name, value in (secrets or {}).items()
            if len(value) >= MIN_VALUE_CHARACTERS
        }
        # Longest first: one secret may be the beginning of another.
        values = sorted(names_by_value, key=len, reverse=True)
        self._names = [names_by_value[value] for value in values]
        alternatives = "|".join(f"({_value_pattern(value)})" for value in values)
        self._values = re.compile(alternatives) if values else None

    def text(self, text: str) -> str:
        """Return the text with each secret replaced by `[redacted: <kind>]`.

        Secrets are also found and replaced in their JSON form.
        """
        if self._values is not None:
            text = self._values.sub(self._name, text)
        lower_text: str | None = None
        for form in _FORMATS:
            haystack = text
            if form.any_case:
                haystack = lower_text = text.lower() if lower_text is None else lower_text
            # A plain loop: faster than a generator, for every line that is written.
            for needle in form.needles:
                if needle in haystack:
                    text = form.pattern.sub(partial(_mark, form), text)
                    break
        return text

    def line(self, line: str) -> str:
        """Return a finished line of a file without secrets: JSON field by field, else as text.

        Most lines hold no secret, which is detected without parsing them.
        """
        text = self.text(line)
        if text == line:
            return line
        try:
            value = json.loads(line)
        except ValueError:
            return text
        safe = self.json(value)
        if safe is value:
            return line
        return json.dumps(safe, ensure_ascii=line.isascii(), separators=(",", ":"))

    def _name(self, match: re.Match[str]) -> str:
        assert match.lastindex is not None
        return f"[redacted: {self._names[match.lastindex - 1]}]"

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
        kind = value.get("type")
        opaque_key = _OPAQUE_KEYS.get(kind) if isinstance(kind, str) else None
        safe = {
            self.text(key): part if key == opaque_key else self.json(part)
            for key, part in value.items()
        }
        # Equal texts may be different objects; only a real change makes a copy.
        return value if safe == value else safe


def secrets_of(env: Mapping[str, str], more: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the variables that hold secrets, judged by name, and further named values."""
    variables = {name: value for name, value in env.items() if is_secret(name, value)}
    return {**variables, **{name: value for name, value in more if value}}


def is_secret(name: str, value: str) -> bool:
    """Return whether a variable has the name of a secret and a value that is not plain."""
    return (
        name.upper() not in _NOT_SECRET
        and bool(SECRET_NAME.search(name))
        and len(value) >= MIN_VALUE_CHARACTERS
        and not _PLAIN_VALUE.fullmatch(value)
    )


def _value_pattern(value: str) -> str:
    """Return a pattern of a value as it is and as JSON writes it, at any level of nesting."""
    return "".join(map(_character_pattern, value))


def _character_pattern(character: str) -> str:
    plain = re.escape(character)
    if character == '"':
        return r'\\*"'
    if character == "\\":
        return r"\\+"
    json_form = json.dumps(character)[1:-1]
    if json_form == character:
        return plain
    # A character beyond 16 bits is two escapes.
    forms = {json_form, "".join(f"\\u{unit:04x}" for unit in _code_units(character))}
    return "(?:" + "|".join([plain, *(form.replace("\\", r"\\+") for form in forms)]) + ")"


def _code_units(character: str) -> Iterator[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[i : i + 2]) for i in range(0, len(data), 2))


_ESCAPE: Final = compile_late(r"\\(?:[bfnrt]|u[0-9a-fA-F]{4})\Z")
"""A JSON escape of a character, which is not a letter of a word."""


def _mark(form: _Format, match: re.Match[str]) -> str:
    text_before = match.string[max(0, match.start() - 6) : match.start()]
    is_inside = text_before[-1:].isalnum() or text_before[-1:] == "_"
    if form.own_word and is_inside and not _ESCAPE.search(text_before):
        return match[0]
    return f"[redacted: {form.name}]"
