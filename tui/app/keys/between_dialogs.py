"""Holds keys typed between two dialogs of a command: they are for the next dialog.

A command often shows one dialog after another, and reads data in between. Keys that arrive in
between wait: the command's next dialog receives them in the order typed, or the main screen does
once the command has ended. Reserved keys do not wait.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final

from textual.timer import Timer

from tui.dialogs.dialog import key_handling_of
from tui.dialogs.host import DialogHost
from tui.input.key_handover import KeyHandover

HOLD_LIMIT_S: Final = 2.0
"""How long keys wait for the next dialog; after that they go to the prompt, which is visible."""


class BetweenDialogs:
    """Decides which keys wait, depending on running commands and open dialogs."""

    def __init__(
        self,
        dialogs: DialogHost,
        handover: KeyHandover,
        give_back: Callable[[str], None],
        set_timer: Callable[[float, Callable[[], None]], Timer],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`give_back` receives text that was typed before a question opened, for the prompt."""
        self._dialogs = dialogs
        self._handover = handover
        handover.must_wait = self.must_wait
        self._give_back = give_back
        self._set_timer = set_timer
        self._clock = clock
        self._running = 0
        self._has_shown = False
        self._held_until_s: float | None = None

    def command(self, work: Awaitable[None]) -> Awaitable[None]:
        """Wrap the work of a command, which counts as running from now until it has ended."""
        self._running += 1
        return self._run_to_end(work)

    def note_dialog(self) -> None:
        """Note that a command shows a dialog: from now on keys between its dialogs wait."""
        self._has_shown = True

    def must_wait(self) -> bool:
        """Return whether a key that arrives now has to wait."""
        dialog = self._dialogs.current
        if dialog is not None:
            # An answered dialog is about to close and would ignore the key.
            return dialog.is_done
        return self._held_until_s is not None and self._clock() < self._held_until_s

    def on_dialogs(self) -> None:
        """React to a dialog that was opened, or to the last one that was closed."""
        dialog = self._dialogs.current
        if dialog is not None:
            if self._held_until_s is not None and key_handling_of(dialog).is_guarded:
                # A question of the program, for which the keys were not meant.
                self._give_back(self._handover.take_text())
            self._held_until_s = None
        elif self._running and self._has_shown:
            self._held_until_s = self._clock() + HOLD_LIMIT_S
            self._set_timer(HOLD_LIMIT_S, self._handover.resume)
        self._handover.resume()

    async def _run_to_end(self, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self._running -= 1
            if not self._running:
                self._has_shown = False
                self._held_until_s = None
                self._handover.resume()
