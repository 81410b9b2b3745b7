"""The keys in force, and the actions that they perform on the main screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tui.input.keymap import ChordReader, Keymap


class KeyTable:
    """Implements `tui.ports.command_screen.KeyBindings`; whatever performs actions adds them."""

    def __init__(self, chords: ChordReader) -> None:
        """Take what reads keys."""
        self._chords = chords
        self._actions: dict[str, Callable[[], object]] = {}

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return self._chords.keymap

    def use(self, keymap: Keymap) -> None:
        """Read keys by another table."""
        self._chords.keymap = keymap

    @property
    def action_ids(self) -> frozenset[str]:
        """The actions that keys of the main screen perform."""
        return frozenset((*self._actions, "app:interrupt", "app:exit"))

    def add(self, actions: Mapping[str, Callable[[], object]]) -> None:
        """Add what actions do; one that returns False leaves its key to the prompt."""
        self._actions.update(actions)

    def perform(self, action_id: str) -> bool:
        """Perform an action; False where there is none, or the key is not for it."""
        perform = self._actions.get(action_id)
        return perform is not None and perform() is not False
