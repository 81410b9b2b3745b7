"""Completes the word at the cursor in a menu: commands after `/`, files after `@`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.editing.draft import Draft
from tui.input.actions import Context
from tui.input.event import RoutedEvent
from tui.input.key_names import canonical_key
from tui.input.keymap import ChordReader, Match
from tui.prompt.argument_completion import ArgumentCompletion
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.composer import Composer
from tui.prompt.file_completion import FileCompletion
from tui.prompt.prompt_history import PromptHistory
from tui.prompt.word_completion import (
    Completion,
    candidates,
    complete,
    complete_shell,
    mention_prefix,
)

if TYPE_CHECKING:
    from agent.commands.command_registry import CommandRegistry


class PromptCompletions:
    """Fills the menu below the prompt, and handles its keys while it is open."""

    def __init__(
        self,
        composer: Composer,
        menu: CompletionMenu,
        files: FileCompletion,
        arguments: ArgumentCompletion,
        history: PromptHistory,
        chords: ChordReader,
        registry: Callable[[], CommandRegistry],
        submit: Callable[[], None],
    ) -> None:
        """`submit` sends the prompt, since a chosen command runs at once."""
        self._composer = composer
        self._menu = menu
        self._files = files
        self._arguments = arguments
        self._history = history
        self._chords = chords
        self._registry = registry
        self._submit = submit
        menu.offer_pressed = self._accept_selected

    def update_menu(self) -> None:
        """Update the menu for the current text."""
        draft = self._composer.buffer.draft
        self._composer.set_ghost(self._argument_hint(draft.text))
        if not self._composer.vim.is_typing:
            # There is nothing to complete, and the arrow keys are for the history.
            self.close()
            return
        if draft.text.startswith("!"):
            earlier = self._history.shell_commands()
            self._menu.show(complete_shell(draft.text, draft.cursor, earlier))
            return
        if proposals := self._arguments.complete(draft.text, draft.cursor):
            self._menu.show(proposals)
            return
        query = mention_prefix(draft.text, draft.cursor)
        files = self._files.complete(query) if query is not None else []
        offers = candidates(self._registry()) if draft.text.startswith("/") else ()
        self._menu.show(complete(draft.text, draft.cursor, offers, files))

    def commands_changed(self) -> None:
        """Update the menu if a command is being typed."""
        if self._composer.buffer.draft.text.startswith("/"):
            self.update_menu()

    def _argument_hint(self, text: str) -> str:
        """Return a command's argument hint, if the text is just its name and a space; else ""."""
        name = text[1:].removesuffix(" ")
        if not text.startswith("/") or not text.endswith(" ") or not name or " " in name:
            return ""
        command = self._registry().find(name)
        return command.meta.argument_hint if command is not None else ""

    def close(self) -> None:
        """Close the menu."""
        self._menu.show(None)

    def ask(self, event: RoutedEvent) -> bool:
        """Offer all earlier commands if the text is `!` and the key accepts; otherwise False."""
        if self._composer.buffer.text != "!":
            return False
        keymap = self._chords.keymap
        if canonical_key(event.key) not in {c[0] for c in keymap.keys_of("autocomplete:accept")}:
            return False
        earlier = self._history.shell_commands()
        self._menu.show(complete_shell("!", 1, earlier, is_asked=True))
        return True

    def press(self, event: RoutedEvent) -> bool:
        """Handle a key for the open menu; False leaves it to the prompt."""
        menu, completion = self._menu, self._menu.completion
        if completion is None:
            return False
        match self._chords.press(event.key, (Context.AUTOCOMPLETE,)):
            case Match(action_id="autocomplete:next"):
                menu.move(1)
            case Match(action_id="autocomplete:previous"):
                menu.move(-1)
            case Match(action_id="autocomplete:dismiss"):
                menu.show(None)
            case Match(action_id="autocomplete:accept"):
                self._accept(completion)
            case _ if event.key == "enter":
                self._enter(completion)
            case _:
                return False
        return True

    def _enter(self, completion: Completion) -> None:
        if self._menu.selected_index is None:
            self._menu.show(None)
            self._submit()
            return
        old_text = self._composer.buffer.text
        self._accept(completion)
        if completion.kind not in ("file", "argument") or self._composer.buffer.text == old_text:
            self._menu.show(None)
            self._submit()

    def _accept_selected(self) -> None:
        if (completion := self._menu.completion) is not None:
            self._accept(completion)

    def _accept(self, completion: Completion) -> None:
        text, cursor = completion.apply_to(
            self._composer.buffer.text, self._menu.selected_index or 0
        )
        chips = self._composer.buffer.draft.chips
        self._composer.load(Draft(text, cursor, chips))
        if completion.kind != "file" or not text[:cursor].endswith("/"):
            self._menu.show(None)
