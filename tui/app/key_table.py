"""The current keymap, and the actions that its keys perform on the main screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tui.input.keymap import ChordReader, Keymap


class KeyTable:
    """Implements `tui.ports.command_screen.KeyBindings`; parts of the screen add their actions."""

    def __init__(self, chords: ChordReader) -> None:
        """`chords` holds the keymap."""
        self._chords = chords
        self._actions: dict[str, Callable[[], object]] = {}

    @property
    def keymap(self) -> Keymap:
        """The current keymap."""
        return self._chords.keymap

    def use(self, keymap: Keymap) -> None:
        """Replace the keymap."""
        self._chords.keymap = keymap

    @property
    def action_ids(self) -> frozenset[str]:
        """The actions that keys of the main screen perform."""
        return frozenset((*self._actions, "app:interrupt", "app:exit"))

    def add(self, actions: Mapping[str, Callable[[], object]]) -> None:
        """Add functions by action id; one that returns False leaves its key to the prompt."""
        self._actions.update(actions)

    def perform(self, action_id: str) -> bool:
        """Perform an action; False if it does not exist or leaves the key to the prompt."""
        perform = self._actions.get(action_id)
        return perform is not None and perform() is not False
