"""Connects notifications and background events of a conversation with its display."""

from __future__ import annotations

from collections.abc import Callable

from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.loop_ports import MailPort
from agent.orchestration.workflows import Workflows
from agent.subagents.delivery.report_delivery import ReportDelivery


class HookSignals:
    """Fires Notification hooks; reports when something in the background is ready for the model."""

    def __init__(
        self,
        hooks: HookDispatch,
        reporting: tuple[ReportDelivery, Workflows],
        mail: MailPort | None = None,
    ) -> None:
        """Use these hooks and report sources; `mail` is only given for a member of a team."""
        self._hooks = hooks
        self._reporting = reporting
        self._mail = mail

    @property
    def wants_notifications(self) -> bool:
        """Whether there is a Notification hook."""
        return self._hooks.runner.has("Notification")

    async def notify(self, kind: str, message: str) -> None:
        """Fire Notification: the program waits for the user."""
        await self._hooks.notification(kind, message)

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Call `on_wake` when a background hook, agent or workflow, or a message has something for
        the model."""
        self._hooks.runner.background.on_wake = on_wake
        for each in self._reporting:
            each.on_report = on_wake
        if self._mail is not None:
            self._mail.listen(on_wake)

    @property
    def is_woken(self) -> bool:
        """Whether a background hook, agent, workflow or message has something for the model."""
        has_mail = self._mail is not None and self._mail.waits()
        has_reports = any(each.has_reports for each in self._reporting)
        return has_mail or has_reports or self._hooks.runner.background.has_wake
