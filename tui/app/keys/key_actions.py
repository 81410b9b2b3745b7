"""Turns keys of the main screen into their actions, before the focused component sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tui.input.actions import ABSENT, Context, described
from tui.input.event import RoutedEvent
from tui.input.key_names import Chord, display_chord
from tui.input.keymap import COMMAND_PREFIX, ChordReader, Match, Pending
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.completions import PromptCompletions
from tui.prompt.history_search import HistorySearch
from tui.prompt.vim_setting import VimSetting
from tui.transcript.reading.reading_mode import ReadingMode

_SHORT: Final[Mapping[str, str]] = {
    "chat:copyAnswer": "copy answer",
    "chat:copyCode": "copy code",
    "chat:externalEditor": "editor",
    "chat:expandPastes": "show pastes",
    "chat:killAgents": "stop background",
    "task:background": "to background",
}
"""What actions of the default chords do, in words of which several fit into a line."""
CONTEXTS = (Context.CHAT, Context.TASK, Context.SCROLL)


class KeyActions:
    """Search and menu own the keyboard while they are open; else a key is an action or text."""

    def __init__(
        self,
        chords: ChordReader,
        actions: Mapping[str, Callable[[], object]],
        reading: ReadingMode,
        search: HistorySearch,
        menu: CompletionMenu,
        offers: PromptCompletions,
        editor: VimSetting,
        is_covered: Callable[[], bool],
        submit: Callable[[str], None],
        say: Callable[[str], None],
    ) -> None:
        """Take what each action does (False from it: the key is not for it after all).

        `submit` runs a command that a key is bound to. `is_covered` says that something above the
        main screen has the keyboard.
        """
        self._chords = chords
        self._actions = actions
        self._reading = reading
        self._search = search
        self._menu = menu
        self._offers = offers
        self._editor = editor
        self._is_covered = is_covered
        self._submit = submit
        self._say = say
        self._is_chord_told = False

    def on_key(self, event: RoutedEvent) -> None:
        """Do what a key stands for; claim it when it stood for something."""
        if self._is_covered():
            return
        if self._reading.is_open:
            event.claim()
            self._reading.press(event)
            return
        if self._search.is_open:
            event.claim()
            if self._search.press(event) == "send":
                self._actions["chat:submit"]()
            return
        offers = self._offers
        if offers.press(event) if self._menu.is_open else offers.ask(event):
            event.claim()
            return
        if not self._chords.continues(event.key, CONTEXTS) and self._press_in_editor(event):
            event.claim()
            return
        if self._is_chord_told:
            # Before the whole chord acts: it may have something to say itself.
            self._is_chord_told = False
            self._say("")
        match self._chords.press(event.key, CONTEXTS):
            case Match(action_id=action_id) if action_id.startswith(COMMAND_PREFIX):
                event.claim()
                self._submit(f"/{action_id.removeprefix(COMMAND_PREFIX)}")
            case Match(action_id=action_id):
                perform = self._actions.get(action_id)
                if perform is not None and perform() is not False:
                    event.claim()
            case Pending(chord=chord):
                event.claim()
                self._say(self._what_may_follow(chord))
                self._is_chord_told = True
            case None:
                pass

    def _what_may_follow(self, chord: Chord) -> str:
        """Return the keys that go on with a chord, each with what it does; commands first.

        Those are bound by the user only, and a narrow line would not come to them.
        """
        keys = [
            f"{display_chord(rest)} {_SHORT.get(action_id) or described(action_id)}"
            for rest, action_id in sorted(
                self._chords.keymap.continuations(chord, CONTEXTS),
                key=lambda found: not found[1].startswith(COMMAND_PREFIX),
            )
            if action_id not in ABSENT
        ]
        return f"{display_chord(chord)} …  {' · '.join(keys)}"

    def _press_in_editor(self, event: RoutedEvent) -> bool:
        """Take a key for vim's modes; False leaves it to actions and to the prompt."""
        match self._editor.press(event):
            case "taken":
                return True
            case "up":
                self._actions["history:previous"]()
                return True
            case "down":
                self._actions["history:next"]()
                return True
            case "search":
                self._actions["history:search"]()
                return True
            case "passed":
                return False
