"""`!`: runs the user's shell commands, shows their output, and passes it to the model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agent.user_prompt import Prompt
from tui.app.frame_clock import EventBridge
from tui.app.notices import Notices
from tui.app.session.conversation_holder import ConversationHolder
from tui.app.session.prompt_runner import PromptRunner
from tui.app.signal import Signal
from tui.ports.conversation import ConversationPort
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.transcript_widget import TranscriptWidget

if TYPE_CHECKING:
    from tui.prompt.bang_command import ShellCommand


def user_shell(
    command: str, conversation: ConversationPort, env: Mapping[str, str]
) -> ShellCommand | None:
    """Return a shell command of the user, not started; None if the conversation cannot run one."""
    from agent.messages import new_uid  # both rarely used: not for the first frame
    from tui.prompt.bang_command import ShellCommand

    command_service = conversation.commands
    if command_service is None:
        return None
    context = command_service.context
    files = context.gate.context.scratch_dir or context.agent_home / "cache" / "commands"
    view = conversation.view
    directory = view.cwd if os.path.isdir(view.cwd) else view.launch_dir
    return ShellCommand(command, directory, env, new_uid(), shells=context.shells, files=files)


class BangCommands:
    """Runs shell commands; several may run at once."""

    def __init__(
        self,
        conversations: ConversationHolder,
        document: TranscriptModel,
        transcript: TranscriptWidget,
        bridge: EventBridge,
        runner: PromptRunner,
        notices: Notices,
        show_lines: Callable[[], None],
        env: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        """`env` is the environment of the commands."""
        self._conversations = conversations
        self._document = document
        self._transcript = transcript
        self._bridge = bridge
        self._runner = runner
        self._notices = notices
        self._show_lines = show_lines
        self._env = env
        self._clock = clock
        self._running: list[ShellCommand] = []
        self._waiting: list[str] = []
        """Commands typed before the conversation existed."""
        self.list_changed: Signal[[]] = Signal()
        """Sent when a command starts and when it ends."""

    async def run(self, command: str) -> None:
        """Run a command to its end, or until it is moved to the background."""
        self._waiting.append(command)
        try:
            await self._conversations.wait()
        finally:
            self._waiting.remove(command)
        conversation = self._conversations.current
        if not command or conversation is None:
            return
        shell = user_shell(command, conversation, self._env)
        if shell is None:
            return
        self._running.append(shell)
        self.list_changed()
        self._document.add_prompt(f"!{command}", kind="shell", at_s=self._clock())
        self._transcript.to_end()
        try:
            async for event in shell.events():
                await self._bridge.put(event)
        finally:
            self._running.remove(shell)
            self.list_changed()
        self._bridge.flush()
        if note := pass_result(shell, conversation, self._notices.notice):
            self._runner.submit(Prompt(note))
        elif not self._runner.is_running:
            self._document.stop()
        self._show_lines()

    @property
    def latest(self) -> str:
        """The latest command that has not ended, as it was typed; "" if there is none.

        The model and the session receive a command only after it has ended.
        """
        commands = [*(shell.command for shell in self._running), *self._waiting]
        return f"!{commands[-1]}" if commands and commands[-1] else ""

    def kill_latest(self) -> bool:
        """Kill the command that was started last; False if none runs."""
        if not self._running:
            return False
        self._running[-1].kill()
        return True


def pass_result(
    shell: ShellCommand, conversation: ConversationPort, notice: Callable[[str], None]
) -> str | None:
    """Pass an ended command to the model; return a prompt if the model should answer it.

    Otherwise it becomes a note of the next prompt: if the user killed it or moved it to the
    background, or if `respondToBashCommands` is false. The working directory follows `cd`, unless
    that leads out of the scope, which `notice` reports.
    """
    command_service = conversation.commands
    values = command_service.context.settings().values if command_service is not None else None
    remark = ""
    if (directory := shell.final_cwd) is not None and not conversation.controls.move_to(directory):
        remark = f"The current directory is still {conversation.view.cwd}: {directory} is outside."
        notice(f"still in {conversation.view.cwd}: {directory} is outside the working directories")
    is_answered = values is None or values.respondToBashCommands is not False
    if is_answered and not shell.was_killed and not shell.background_id:
        return shell.note(remark)
    conversation.prompt_queue.add_note(shell.note(remark))
    return None
