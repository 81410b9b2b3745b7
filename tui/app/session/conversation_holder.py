"""Makes the conversation after the first frame, and replaces it on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from permissions.mode import Mode
from tui.app.session.prompt_runner import PromptRunner
from tui.ports.conversation import ConversationPort, MakeConversation, Release, ScreenPorts
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.transcript_model import TranscriptModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands.command_registry import CommandRegistry
    from agent.commands.service import CommandService
    from agent.orchestration.run.workflow_run import WorkflowRun
    from agent.subagents.running_agent import RunningAgent

BUSY: Final = "A turn is still running. Press esc to interrupt it, then try again."


class ConversationHolder:
    """Holds the conversation on the screen; `current` is None until it is made."""

    def __init__(
        self,
        make: MakeConversation,
        release: Release | None,
        runner: PromptRunner,
        document: TranscriptModel,
        past: EarlierPages,
        on_taken: Callable[[], None],
        on_failed: Callable[[str], None],
    ) -> None:
        """`make` makes a conversation, `release` ends it.

        `on_taken` is called when `current` has changed; `on_failed` receives the reason why no
        conversation could be made, after which the program cannot continue.
        """
        self.make = make
        self._release = release
        self._runner = runner
        self._document = document
        self._past = past
        self._on_taken = on_taken
        self._on_failed = on_failed
        self._ports: ScreenPorts | None = None
        self._is_there = asyncio.Event()
        self._early_cycles = 0
        self.current: ConversationPort | None = None

    @property
    def commands(self) -> CommandService | None:
        """The conversation's command service; None without a conversation."""
        return self.current.commands if self.current is not None else None

    @property
    def registry(self) -> CommandRegistry:
        """The commands that can be typed now."""
        if self.commands is not None:
            return self.commands.registry
        # Imported with the first `/`, not with the first frame.
        from agent.commands.command_registry import CommandRegistry
        from agent.commands.spec import Surface
        from agent.commands.table import BUILTIN_COMMANDS

        return CommandRegistry([lambda: BUILTIN_COMMANDS], Surface.SCREEN)

    @property
    def background_count(self) -> int:
        """Number of shell commands and agents that run in the background."""
        if self.commands is None:
            return 0
        agents = sum(agent.in_background for agent in self.agents if agent.is_running)
        return self.commands.context.shells.running_count + agents

    @property
    def agents(self) -> Sequence[RunningAgent]:
        """The agents of the conversation, in the order they were started, and those of its team."""
        if self.commands is None:
            return ()
        team = self.commands.context.team()
        return (*self.commands.context.agents.all(), *(team.rows() if team is not None else ()))

    @property
    def workflow_runs(self) -> Sequence[WorkflowRun]:
        """The conversation's workflow runs that have not ended."""
        return self.commands.context.workflows.running if self.commands is not None else ()

    @property
    def notification_channel(self) -> str:
        """The setting `preferredNotifChannel`."""
        values = self.commands.context.settings().values if self.commands is not None else None
        return (values.preferredNotifChannel if values is not None else None) or "auto"

    async def begin(self, ports: ScreenPorts) -> None:
        """Make the first conversation."""
        self._ports = ports
        await self._replace_current(ports)

    async def wait(self) -> None:
        """Return once there is a conversation."""
        await self._is_there.wait()

    async def change(self, session_id: str | None, *, team: str | None = None) -> str:
        """Replace the conversation by another session or a new one; return why not, or "".

        `team`: see `tui.ports.conversation.Release`.
        """
        if self._release is None or self._ports is None or self.current is None:
            return "not available here"
        if self._runner.is_running:
            return BUSY
        self._runner.detach()
        self._is_there.clear()
        self.current = None
        self._past.close()
        self._document.start_over()
        self._on_taken()
        await self._release(session_id, team=team)
        await self._replace_current(self._ports)
        return ""

    def cycle_mode(self) -> Mode | None:
        """Switch to the next mode and return it; without a conversation, defer that: None."""
        if self.current is None:
            self._early_cycles += 1
            return None
        return self.current.controls.cycle_mode()

    async def _replace_current(self, ports: ScreenPorts) -> None:
        try:
            conversation = await self.make(ports)
        except Exception as error:  # noqa: BLE001 - start-up failures of any kind end in one line
            self._on_failed(str(error) or type(error).__name__)
            return
        self.current = conversation
        self._document.directory = str(conversation.view.cwd)
        # A turn that has already started is shown by its events.
        if self._past.path is None and self._runner.first_turn is None:
            self._document.restore(conversation.view.messages)
        self._document.todos = conversation.view.todos
        for _ in range(self._early_cycles):
            conversation.controls.cycle_mode()
        self._early_cycles = 0
        self._runner.attach(conversation)
        self._is_there.set()
        self._on_taken()
