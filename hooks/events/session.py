"""Payloads of the session: its start and end, set-up, compaction and the model in use."""

from __future__ import annotations

from hooks.events.payload import HookEventPayload


class SessionStart(HookEventPayload, frozen=True, kw_only=True):
    """A session is new (`startup`) or continues: `resume`, `clear`, `compact`, `fork`."""

    source: str
    model: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None


class Setup(HookEventPayload, frozen=True, kw_only=True):
    """Asked for on the command line only: `init` or `maintenance`."""

    trigger: str


class SessionEnd(HookEventPayload, frozen=True, kw_only=True):
    """The session ends: `clear`, `resume`, `logout`, `prompt_input_exit` or `other`."""

    reason: str


class PreCompact(HookEventPayload, frozen=True, kw_only=True):
    """History is about to be compacted, `manual` or `auto`."""

    trigger: str
    custom_instructions: str = ""


class PostCompact(HookEventPayload, frozen=True, kw_only=True):
    """History was compacted."""

    trigger: str
    compact_summary: str


class _ModelSwitch(HookEventPayload, frozen=True, kw_only=True):
    to_model: str
    """Canonical name; the matcher is tested against it."""
    from_model: str | None = None
    requested_model: str | None = None
    source: str | None = None
    """`command`, `picker`, `sdk`; afterwards also `auto`, `resume`."""
    context_tokens: int | None = None
    prompt_cache_warm: bool | None = None
    cache_ttl: str | None = None
    estimated_cache_write_usd: float | None = None
    pricing: dict[str, object] | None = None


class PreModelSwitch(_ModelSwitch, frozen=True, kw_only=True):
    """Another model was asked for."""


class PostModelSwitch(_ModelSwitch, frozen=True, kw_only=True):
    """Another model is in use from now on."""
