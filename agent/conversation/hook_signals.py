"""Between the user's hooks and whoever shows a conversation: who waits, and who was woken."""

from __future__ import annotations

from collections.abc import Callable

from agent.hook_events.hook_dispatch import HookDispatch


class HookSignals:
    """Notifies hooks that the user is waited for; reports that one wants the model to go on."""

    def __init__(self, hooks: HookDispatch) -> None:
        """Use the hooks of one conversation."""
        self._hooks = hooks

    @property
    def wants_notifications(self) -> bool:
        """Whether a hook listens for the moments in which the user is waited for."""
        return self._hooks.runner.has("Notification")

    async def notify(self, kind: str, message: str) -> None:
        """Fire Notification: the user is waited for."""
        await self._hooks.notification(kind, message)

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Set what is called when a background hook wants the model to go on."""
        self._hooks.runner.background.on_wake = on_wake

    @property
    def is_woken(self) -> bool:
        """Whether a background hook wants the model to go on, which it has not yet."""
        return self._hooks.runner.background.has_wake
