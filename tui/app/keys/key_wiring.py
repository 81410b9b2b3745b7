"""Connects the keys of the main screen with keyboard modes and actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from tui.app.activity_line import FRAME_S
from tui.app.bottom_lines import BottomLines
from tui.app.key_table import KeyTable
from tui.app.keys.background_stop import BackgroundStop
from tui.app.keys.conversation_keys import ConversationKeys
from tui.app.keys.image_paste import ImagePaste
from tui.app.keys.key_modes import KeyMode, KeyModes
from tui.app.keys.key_panels import KeyPanels
from tui.app.keys.keyboard_selection import KeyboardSelection
from tui.app.keys.prompt_key_mode import PromptKeyMode
from tui.app.keys.prompt_keys import PromptKeys
from tui.app.keys.quit_keys import QuitKeys
from tui.app.main_screen import MainScreen, ScreenRuntime
from tui.app.notices import Notices
from tui.app.session.bang_commands import BangCommands
from tui.app.session.conversation_holder import ConversationHolder
from tui.app.session.prompt_runner import PromptRunner
from tui.app.session.unsent_text import UnsentText
from tui.app.workspace import ScreenWorkspace
from tui.input.event import RoutedEvent
from tui.input.key_names import canonical_key
from tui.input.keymap import ChordReader
from tui.prompt.argument_completion import ArgumentCompletion
from tui.prompt.completions import PromptCompletions
from tui.prompt.edit_externally import Editing
from tui.prompt.file_completion import FileCompletion, FilesBelow, SuggestionCommand, resource_names
from tui.prompt.history_search import HistorySearch
from tui.prompt.prompt_history import PromptHistory
from tui.prompt.prompt_log import TypedPromptLog
from tui.prompt.vim_setting import VimSetting
from tui.status_line.user_status_command import UserStatusCommand
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.reading.reading_mode import ReadingMode, scroll_actions
from tui.transcript.transcript_model import TranscriptModel


class KeyboardParts(Struct, frozen=True, eq=False, kw_only=True):
    """The parts of the screen that keys act on."""

    runtime: ScreenRuntime
    screen: MainScreen
    table: KeyTable
    panels: KeyPanels
    chords: ChordReader
    document: TranscriptModel
    past: EarlierPages
    history: PromptHistory
    typed_prompts: TypedPromptLog
    conversations: ConversationHolder
    runner: PromptRunner
    bang_commands: BangCommands
    unsent: UnsentText
    editing: Editing
    notices: Notices
    lines: BottomLines
    user_status: UserStatusCommand
    workspace: ScreenWorkspace
    shell_env: Mapping[str, str]
    program_env: Mapping[str, str]
    clock: Callable[[], float]
    on_reading: Callable[[], None]
    """Called when reading mode starts and ends."""
    submit: Callable[[str], None]
    leave: Callable[[], None]
    undo_files: Callable[[], None]
    redraw: Callable[[], None]
    suspend: Callable[[], None]


class Keyboard:
    """Handles keys: `modes` gets them first, except the reserved keys of `quit_keys`."""

    def __init__(self, parts: KeyboardParts) -> None:
        """Connect the keys, and add their actions to the table."""
        self._parts = parts
        screen, chords, start_worker = parts.screen, parts.chords, parts.runtime.start_worker
        self.reading = ReadingMode(
            screen.transcript,
            screen.transcript_bar,
            chords,
            parts.editing,
            parts.on_reading,
            parts.panels.choose_detail,
            parts.past,
            start_worker,
        )
        self.search = HistorySearch(
            parts.history,
            screen.composer,
            chords,
            load_everywhere=parts.typed_prompts.load_everywhere,
        )
        self._images = ImagePaste(
            screen.composer, parts.conversations, parts.notices, start_worker, parts.program_env
        )
        self._prompt = PromptKeys(
            screen.composer,
            parts.history,
            parts.runner,
            parts.submit,
            self._log_prompt,
            parts.lines.show,
            lambda: chords.keymap.display("chat:stash"),
            parts.panels.show_keys,
            parts.editing,
            parts.unsent.stash,
            self._images.send_later,
        )
        self.files = self._file_picker()
        self._offers = PromptCompletions(
            screen.composer,
            screen.menu,
            self.files,
            ArgumentCompletion(lambda: parts.conversations.commands, start_worker, self._on_files),
            parts.history,
            chords,
            lambda: parts.conversations.registry,
            self._prompt.send,
        )
        self.modes = self._modes()
        self.quit_keys = QuitKeys(
            screen.composer,
            screen.transcript,
            screen.dialogs,
            parts.history,
            parts.runner,
            parts.bang_commands,
            parts.notices.hint,
            self.modes.close_open,
            parts.clock,
            parts.workspace.copy_to_clipboard,
            parts.leave,
            lambda: parts.conversations.background_count,
        )
        parts.table.add(self._actions())

    def text_changed(self) -> None:
        """React to a change of the prompt: offer completions of the word at the cursor."""
        self.quit_keys.disarm()
        if self.search.is_open:
            self._offers.close()
        else:
            self._offers.update_menu()

    def commands_changed(self) -> None:
        """Update the offered commands if one is being typed."""
        if not self.search.is_open:
            self._offers.commands_changed()

    def paste(self, text: str) -> bool:
        """Handle pasted text that is not for the prompt; False if it is."""
        if self.reading.is_open:
            self.reading.paste(text)
            return True
        return self._images.take(text)

    def _file_picker(self) -> FileCompletion:
        parts, conversations = self._parts, self._parts.conversations
        runtime = parts.runtime
        return FileCompletion(
            FilesBelow(lambda: conversations.commands, self._launch_dir, parts.shell_env),
            runtime.start_worker,
            lambda work: runtime.set_timer(FRAME_S / 2, work),
            self._on_files,
            SuggestionCommand(
                lambda: conversations.commands, runtime.start_worker, parts.notices.warn
            ),
            lambda: resource_names(conversations.commands),
        )

    def _modes(self) -> KeyModes:
        parts, screen = self._parts, self._parts.screen
        prompt = PromptKeyMode(
            parts.chords,
            parts.table,
            screen.menu,
            self._offers,
            VimSetting(
                screen.composer,
                lambda: parts.conversations.commands,
                lambda: parts.workspace.agent_home,
                parts.user_status.plan,
            ),
            parts.submit,
            parts.notices.hint,
        )
        return KeyModes(
            (
                # Dialogs and panels have their own listeners.
                KeyMode(lambda _event: False, self._is_covered),
                KeyMode(self._press_in_reading, lambda: self.reading.is_open, self.reading.close),
                KeyMode(self._press_in_search, lambda: self.search.is_open, self.search.cancel),
                KeyMode(prompt.press),
            )
        )

    def _actions(self) -> Mapping[str, Callable[[], object]]:
        parts, screen, hint = self._parts, self._parts.screen, self._parts.notices.hint
        copy = parts.workspace.copy_to_clipboard
        background_stop = BackgroundStop(
            lambda: parts.conversations.commands,
            hint,
            parts.runtime.start_worker,
            lambda: parts.chords.keymap.display("chat:killAgents"),
            lambda: parts.chords.keymap.display("task:background"),
            parts.clock,
        )
        conversation_keys = ConversationKeys(
            parts.conversations, parts.document, parts.user_status, hint, parts.lines.show, copy
        )
        return {
            "chat:cancel": self._cancel,
            "chat:clearInput": parts.redraw,
            "app:redraw": parts.redraw,
            "chat:clearScreen": partial(parts.submit, "/clear"),
            "chat:modelPicker": partial(parts.submit, "/model"),
            "chat:killAgents": background_stop.press,
            "chat:undoFiles": parts.undo_files,
            "chat:imagePaste": self._images.from_clipboard,
            "history:search": self.search.open,
            "app:toggleTranscript": self.reading.open,
            "app:toggleTodos": self._toggle_todos,
            "app:suspend": parts.suspend,
            "app:commandPalette": parts.panels.open_palette,
            "transcript:toolDetail": parts.panels.choose_detail,
            **self._prompt.actions(),
            **conversation_keys.actions(),
            **self._scroll_actions(),
            **KeyboardSelection(screen.composer, screen.transcript, hint, copy).actions(),
        }

    def _is_covered(self) -> bool:
        parts = self._parts
        return parts.screen.dialogs.open_count > 0 or len(parts.runtime.screen_stack) > 1

    def _scroll_actions(self) -> Mapping[str, Callable[[], None]]:
        """Return the scroll actions; in the inline mode they open the reading mode."""
        transcript = self._parts.screen.transcript

        def scroll(action_id: str, action: Callable[[], None]) -> None:
            if transcript.inline is None or not transcript.inline.is_partial:
                action()
            elif "Up" in action_id or action_id.endswith("top"):
                self.reading.open()

        actions = scroll_actions(transcript)
        return {name: partial(scroll, name, action) for name, action in actions.items()}

    def _press_in_reading(self, event: RoutedEvent) -> bool:
        if not self._suspend(event):
            self.reading.press(event)
        return True

    def _press_in_search(self, event: RoutedEvent) -> bool:
        if not self._suspend(event) and self.search.press(event) == "send":
            self._prompt.send()
        return True

    def _suspend(self, event: RoutedEvent) -> bool:
        """Suspend the program if this is the key for it, whatever the mode."""
        is_key = (canonical_key(event.key),) in self._parts.chords.keymap.keys_of("app:suspend")
        if is_key:
            self._parts.suspend()
        return is_key

    def _cancel(self) -> None:
        self.quit_keys.cancel()
        self._parts.lines.show()

    def _toggle_todos(self) -> None:
        if not self._parts.lines.toggle_todos():
            self._parts.notices.hint("no tasks yet")

    def _log_prompt(self, text: str) -> None:
        if self._parts.workspace.agent_home is not None:
            conversation = self._parts.conversations.current
            session_id = conversation.view.session_id if conversation is not None else None
            self._parts.typed_prompts.add(text, session_id)

    def _on_files(self) -> None:
        if self._parts.runtime.is_live:
            self.text_changed()

    def _launch_dir(self) -> Path:
        conversation = self._parts.conversations.current
        if conversation is None:
            return self._parts.workspace.directory
        return conversation.view.launch_dir
