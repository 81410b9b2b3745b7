"""The offer to run commands inside the sandbox without asking; shown until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from agent.errors import AgentError
from agent.settings.change import set_switch
from permissions.confinement import SandboxLevel
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.styled_rows import TEXT, Row
from tui.text.wrap import wrap

if TYPE_CHECKING:
    from agent.commands.service import CommandService

InsideAnswer = Literal["yes", "no", "later"]

_ASKING: Final = frozenset({Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO})
_TEXT: Final = (
    "They can change only this project and reach only hosts you allow. The kernel enforces it. "
    "Deny rules still apply, and you are asked about what the sandbox refuses. "
    "/sandbox changes it later."
)


class WorkInside:
    """The offer: when it is shown, its dialog, and how its answer is stored."""

    def __init__(self, commands: Callable[[], CommandService | None]) -> None:
        """`commands` returns the command service, with settings and the sandbox's state."""
        self._commands = commands
        self._is_put_off = False

    def is_offered(self, request: PermissionRequest) -> bool:
        """Whether the permission dialog of this call shows the offer."""
        command_service = self._commands()
        if command_service is None or self._is_put_off or request.tool != "Bash":
            return False
        context = command_service.context.gate.context
        state = context.sandbox
        if context.mode not in _ASKING or state.level is not SandboxLevel.FULL:
            return False
        sections = (one.model.sandbox for one in command_service.context.settings().sandbox_files)
        is_answered = any(one is not None and one.enabled is not None for one in sections)
        return not (is_answered or state.runs_inside or state.is_read_only)

    def dialog(self) -> ChoiceDialog[InsideAnswer]:
        """Return the dialog of the offer."""

        def body(width: int) -> Sequence[Row]:
            return wrap([(_TEXT, TEXT)], width)

        answers: list[tuple[Choice, InsideAnswer]] = [
            (Choice("Yes", "stored in ~/.agent/settings.json"), "yes"),
            (Choice("No, and do not offer it again"), "no"),
            (Choice("Not now"), "later"),
        ]
        question = "Run commands without asking inside the sandbox?"
        return ChoiceDialog("Sandbox", body, question, answers)

    async def take(self, answer: InsideAnswer) -> None:
        """Store the answer and reload the settings, which also apply to the open question."""
        self._is_put_off = True
        command_service = self._commands()
        if answer == "later" or command_service is None:
            return
        file = command_service.context.agent_home / "settings.json"
        try:
            await asyncio.to_thread(set_switch, file, "sandbox", "enabled", answer == "yes")
            # Shielded: the gate cancels this question while the settings are still being applied.
            await asyncio.shield(command_service.context.reload_settings())
        except (AgentError, OSError):
            # Ignored here: /sandbox reports why the file cannot be changed.
            self._is_put_off = False
