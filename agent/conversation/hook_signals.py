"""Between what happens beside the turns and whoever shows a conversation."""

from __future__ import annotations

from collections.abc import Callable

from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.loop_ports import MailPort
from agent.subagents.supervisor import AgentSupervisor


class HookSignals:
    """Notifies hooks that the user is waited for; reports that one wants the model to go on."""

    def __init__(
        self, hooks: HookDispatch, agents: AgentSupervisor, mail: MailPort | None = None
    ) -> None:
        """Use the hooks and the agents of one conversation; `mail` wakes a member of a team."""
        self._hooks = hooks
        self._agents = agents
        self._mail = mail

    @property
    def wants_notifications(self) -> bool:
        """Whether a hook listens for the moments in which the user is waited for."""
        return self._hooks.runner.has("Notification")

    async def notify(self, kind: str, message: str) -> None:
        """Fire Notification: the user is waited for."""
        await self._hooks.notification(kind, message)

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Set what is called when a background hook wants the model to go on, or an agent in the
        background has something for it."""
        self._hooks.runner.background.on_wake = on_wake
        self._agents.on_report = on_wake
        if self._mail is not None:
            self._mail.listen(on_wake)

    @property
    def is_woken(self) -> bool:
        """Whether something waits for the model that came in the background."""
        has_mail = self._mail is not None and self._mail.waits()
        return has_mail or self._hooks.runner.background.has_wake or self._agents.has_reports
