"""Payloads of one turn: the prompt, its expansion, the display of the answer and the stop."""

from __future__ import annotations

from typing import ClassVar

from hooks.events.base import HookEventPayload
from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class UserPromptSubmit(HookEventPayload):
    """A prompt was sent; the model has not seen it yet."""

    event_name: ClassVar[str] = "UserPromptSubmit"
    prompt: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class UserPromptExpansion(HookEventPayload):
    """A typed command expands into a prompt; `prompt` is what was typed."""

    event_name: ClassVar[str] = "UserPromptExpansion"
    command_name: str
    prompt: str
    expansion_type: str = "slash_command"
    command_args: str = ""
    command_source: str | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class MessageDisplay(HookEventPayload):
    """A batch of lines of assistant text is about to be shown."""

    event_name: ClassVar[str] = "MessageDisplay"
    turn_id: str
    message_id: str
    index: int
    final: bool
    delta: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class Stop(HookEventPayload):
    """The main agent finished a reply; never after an interrupt."""

    event_name: ClassVar[str] = "Stop"
    last_assistant_message: str | None = None
    stop_hook_active: bool | None = None
    """Whether a stop hook already made this turn go on; None lets the runner, which counts, say."""
    background_tasks: list[dict[str, object]] | None = None
    session_crons: list[dict[str, object]] | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class StopFailure(HookEventPayload):
    """An API error ended the turn; `error` is its kind, such as `rate_limit`."""

    event_name: ClassVar[str] = "StopFailure"
    error: str
    error_details: str | None = None
    last_assistant_message: str | None = None
    """The text of the error as it was shown."""


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class Notification(HookEventPayload):
    """The person's attention is wanted, such as `permission_prompt` or `idle_prompt`."""

    event_name: ClassVar[str] = "Notification"
    message: str
    notification_type: str
    title: str | None = None
