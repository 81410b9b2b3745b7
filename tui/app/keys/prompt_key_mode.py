"""Keys of the prompt: completion menu, vim mode and chords; other keys are text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tui.app.key_table import KeyTable
from tui.input.actions import ABSENT, Context, describe_action
from tui.input.event import RoutedEvent
from tui.input.key_names import Chord, display_chord
from tui.input.keymap import COMMAND_PREFIX, ChordReader, Match, Pending
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.completions import PromptCompletions
from tui.prompt.vim_setting import VimSetting

_SHORT: Final[Mapping[str, str]] = {
    "chat:copyAnswer": "copy answer",
    "chat:copyCode": "copy code",
    "chat:externalEditor": "editor",
    "chat:expandPastes": "show pastes",
    "chat:killAgents": "stop background",
    "task:background": "to background",
}
"""Short descriptions of the actions of default chords, several of which fit in one line."""
CONTEXTS = (Context.CHAT, Context.TASK, Context.SCROLL)


class PromptKeyMode:
    """The keyboard mode of the prompt, which applies while no other mode is open."""

    def __init__(
        self,
        chords: ChordReader,
        table: KeyTable,
        menu: CompletionMenu,
        offers: PromptCompletions,
        editor: VimSetting,
        submit: Callable[[str], None],
        hint: Callable[[str], None],
    ) -> None:
        """`submit` runs the command that a key is bound to."""
        self._chords = chords
        self._table = table
        self._menu = menu
        self._offers = offers
        self._editor = editor
        self._submit = submit
        self._hint = hint
        self._shows_chord = False

    def press(self, event: RoutedEvent) -> bool:
        """Perform the action of a key; False leaves the key to the prompt, as text."""
        offers = self._offers
        if offers.press(event) if self._menu.is_open else offers.ask(event):
            return True
        if not self._chords.continues(event.key, CONTEXTS) and self._press_in_editor(event):
            return True
        if self._shows_chord:
            # Cleared before the chord's action, which may show a hint itself.
            self._shows_chord = False
            self._hint("")
        match self._chords.press(event.key, CONTEXTS):
            case Match(action_id=action_id) if action_id.startswith(COMMAND_PREFIX):
                self._submit(f"/{action_id.removeprefix(COMMAND_PREFIX)}")
                return True
            case Match(action_id=action_id):
                return self._table.perform(action_id)
            case Pending(chord=chord):
                self._hint(self._continuations(chord))
                self._shows_chord = True
                return True
            case None:
                return False

    def _continuations(self, chord: Chord) -> str:
        """Return the keys that continue a chord, each with a description.

        Commands come first: the user has bound them, and a narrow line is cut off.
        """
        keys = [
            f"{display_chord(rest)} {_SHORT.get(action_id) or describe_action(action_id)}"
            for rest, action_id in sorted(
                self._chords.keymap.continuations(chord, CONTEXTS),
                key=lambda binding: not binding[1].startswith(COMMAND_PREFIX),
            )
            if action_id not in ABSENT
        ]
        return f"{display_chord(chord)} …  {' · '.join(keys)}"

    def _press_in_editor(self, event: RoutedEvent) -> bool:
        """Let the vim mode handle a key; False leaves it to actions and to the prompt."""
        match self._editor.press(event):
            case "taken":
                return True
            case "up":
                self._table.perform("history:previous")
                return True
            case "down":
                self._table.perform("history:next")
                return True
            case "search":
                self._table.perform("history:search")
                return True
            case "passed":
                return False
