"""Payloads of the session: its start and end, set-up, compaction and the model in use."""

from __future__ import annotations

from typing import ClassVar

from hooks.events.base import HookEventPayload
from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart(HookEventPayload):
    """A session is new (`startup`) or goes on: `resume`, `clear`, `compact`, `fork`."""

    event_name: ClassVar[str] = "SessionStart"
    source: str
    model: str | None = None
    session_title: str | None = None
    seconds_since_last_response: float | None = None
    context_tokens: int | None = None
    prompt_cache_likely_expired: bool | None = None
    estimated_cache_write_usd: float | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class Setup(HookEventPayload):
    """Asked for on the command line only: `init` or `maintenance`."""

    event_name: ClassVar[str] = "Setup"
    trigger: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(HookEventPayload):
    """The session ends: `clear`, `resume`, `logout`, `prompt_input_exit` or `other`."""

    event_name: ClassVar[str] = "SessionEnd"
    reason: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class PreCompact(HookEventPayload):
    """History is about to be compacted, `manual` or `auto`."""

    event_name: ClassVar[str] = "PreCompact"
    trigger: str
    custom_instructions: str = ""


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class PostCompact(HookEventPayload):
    """History was compacted."""

    event_name: ClassVar[str] = "PostCompact"
    trigger: str
    compact_summary: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class _ModelSwitch(HookEventPayload):
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


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class PreModelSwitch(_ModelSwitch):
    """Another model was asked for."""

    event_name: ClassVar[str] = "PreModelSwitch"


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class PostModelSwitch(_ModelSwitch):
    """Another model is in use from now on."""

    event_name: ClassVar[str] = "PostModelSwitch"
