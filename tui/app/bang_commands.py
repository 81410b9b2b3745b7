"""`!`: runs the user's own commands, shows their output, and tells the model of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from agent.user_prompt import Prompt
from tui.app.app_options import AppOptions
from tui.app.conversation_holder import ConversationHolder
from tui.app.frame_clock import EventBridge
from tui.app.prompt_runner import PromptRunner
from tui.ports.conversation import ConversationPort
from tui.prompt.draft_autosave import DraftAutosave
from tui.transcript.model import TranscriptModel
from tui.transcript.widget import TranscriptWidget

if TYPE_CHECKING:
    from tui.app.bottom_lines import Lines
    from tui.prompt.bang_command import ShellCommand


def own_shell(
    command: str, conversation: ConversationPort, env: Mapping[str, str]
) -> ShellCommand | None:
    """Return a command of the user's, not started; None where nothing can run one."""
    from agent.messages import new_uid  # both rarely used: not for the first frame
    from tui.prompt.bang_command import ShellCommand

    center = conversation.commands
    if center is None:
        return None
    context = center.context
    files = context.gate.context.scratch_dir or context.agent_home / "cache" / "commands"
    folder = conversation.cwd if os.path.isdir(conversation.cwd) else conversation.launch_dir
    return ShellCommand(command, folder, env, new_uid(), shells=context.shells, files=files)


class TypedHost(Protocol):
    """The screen, as typed commands see it."""

    options: AppOptions
    document: TranscriptModel
    transcript: TranscriptWidget
    bridge: EventBridge
    runner: PromptRunner
    lines: Lines
    conversations: ConversationHolder
    drafts: DraftAutosave

    def notice(self, text: str, level: str = "info") -> None: ...


class TypedCommands:
    """The commands that run, newest last."""

    def __init__(self, host: TypedHost, clock: Callable[[], float]) -> None:
        """Take the screen, which shows them."""
        self._host = host
        self._clock = clock
        self._running: list[ShellCommand] = []
        self._waiting: list[str] = []
        """Typed before there was a conversation."""

    async def run(self, command: str) -> None:
        """Run a command to its end, or until it goes on in the background."""
        host = self._host
        self._waiting.append(command)
        try:
            await host.conversations.wait()
        finally:
            self._waiting.remove(command)
        conversation = host.conversations.current
        if not command or conversation is None:
            return
        shell = own_shell(command, conversation, host.options.shell_env)
        if shell is None:
            return
        self._running.append(shell)
        host.drafts.touched()
        host.document.add_prompt(f"!{command}", kind="shell", at_s=self._clock())
        host.transcript.to_end()
        try:
            async for event in shell.events():
                await host.bridge.put(event)
        finally:
            self._running.remove(shell)
            host.drafts.touched()
        host.bridge.flush()
        if note := hear_of(shell, conversation, host.notice):
            host.runner.submit(Prompt(note))
        elif not host.runner.is_running:
            host.document.stop()
        host.lines.show()

    @property
    def latest(self) -> str:
        """The command typed last that has not ended, as it was typed; empty when there is none.

        Until it has ended nothing else holds it: the model is told of it, and the session, then.
        """
        commands = [*(shell.command for shell in self._running), *self._waiting]
        return f"!{commands[-1]}" if commands and commands[-1] else ""

    def kill_latest(self) -> bool:
        """End the command started last; False when none runs."""
        if not self._running:
            return False
        self._running[-1].kill()
        return True


def hear_of(
    shell: ShellCommand, conversation: ConversationPort, notice: Callable[[str], None]
) -> str | None:
    """Have the model know of a command that has ended; return a prompt, where it is to answer.

    It is told with the next prompt of what the user ended or sent to the background, and of
    everything where `respondToBashCommands` is false. The working directory goes along with `cd`;
    `notice` hears where it cannot.
    """
    center = conversation.commands
    values = center.context.settings().values if center is not None else None
    remark = ""
    if (folder := shell.final_cwd) is not None and not conversation.move_to(folder):
        remark = f"The current directory is still {conversation.cwd}: {folder} is outside."
        notice(f"still in {conversation.cwd}: {folder} is outside the working directories")
    is_answered = values is None or values.respondToBashCommands is not False
    if is_answered and not shell.was_killed and not shell.background_id:
        return shell.note(remark)
    conversation.tell(shell.note(remark))
    return None
