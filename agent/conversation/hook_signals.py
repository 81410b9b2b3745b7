"""Between what happens beside the turns and the display of a conversation."""

from __future__ import annotations

from collections.abc import Callable

from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.loop_ports import MailPort
from agent.orchestration.workflows import Workflows
from agent.subagents.delivery.report_delivery import ReportDelivery


class HookSignals:
    """Notifies hooks that the user is waited for; reports that one wants the model to continue."""

    def __init__(
        self,
        hooks: HookDispatch,
        reporting: tuple[ReportDelivery, Workflows],
        mail: MailPort | None = None,
    ) -> None:
        """Use the hooks, agents and workflows of one conversation; `mail` wakes a team's member."""
        self._hooks = hooks
        self._reporting = reporting
        self._mail = mail

    @property
    def wants_notifications(self) -> bool:
        """Whether a hook listens for the moments in which the user is waited for."""
        return self._hooks.runner.has("Notification")

    async def notify(self, kind: str, message: str) -> None:
        """Fire Notification: the user is waited for."""
        await self._hooks.notification(kind, message)

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Set what is called when a background hook wants the model to continue, or an agent in the
        background has something for it."""
        self._hooks.runner.background.on_wake = on_wake
        for each in self._reporting:
            each.on_report = on_wake
        if self._mail is not None:
            self._mail.listen(on_wake)

    @property
    def is_woken(self) -> bool:
        """Whether something waits for the model that came in the background."""
        has_mail = self._mail is not None and self._mail.waits()
        has_reports = any(each.has_reports for each in self._reporting)
        return has_mail or has_reports or self._hooks.runner.background.has_wake
