"""Payloads of one turn: the prompt, its expansion, the display of the answer and the stop."""

from __future__ import annotations

from hooks.events.payload import HookEventPayload


class UserPromptSubmit(HookEventPayload, frozen=True, kw_only=True):
    """A prompt was sent; the model has not seen it yet."""

    prompt: str


class UserPromptExpansion(HookEventPayload, frozen=True, kw_only=True):
    """A typed command expands into a prompt; `prompt` is what was typed."""

    command_name: str
    prompt: str
    expansion_type: str = "slash_command"
    command_args: str = ""
    command_source: str | None = None


class MessageDisplay(HookEventPayload, frozen=True, kw_only=True):
    """A batch of lines of assistant text is about to be shown."""

    turn_id: str
    message_id: str
    index: int
    final: bool
    delta: str


class Stop(HookEventPayload, frozen=True, kw_only=True):
    """The main agent finished a reply; never after an interrupt."""

    last_assistant_message: str | None = None
    stop_hook_active: bool | None = None
    """Whether a stop hook continued this turn before; None: the runner counts and fills it in."""
    background_tasks: list[dict[str, object]] | None = None
    session_crons: list[dict[str, object]] | None = None


class StopFailure(HookEventPayload, frozen=True, kw_only=True):
    """An API error ended the turn; `error` is its kind, such as `rate_limit`."""

    error: str
    error_details: str | None = None
    last_assistant_message: str | None = None
    """The text of the error as it was shown."""


class Notification(HookEventPayload, frozen=True, kw_only=True):
    """The user's attention is required, such as `permission_prompt` or `idle_prompt`."""

    message: str
    notification_type: str
    title: str | None = None
