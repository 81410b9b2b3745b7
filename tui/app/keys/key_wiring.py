"""Wires what keys do on the main screen: one table from action to what performs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tui.app.app_options import AppOptions
from tui.app.bang_commands import TypedCommands
from tui.app.bottom_lines import Lines
from tui.app.conversation_holder import ConversationHolder
from tui.app.keys.background_stop import BackgroundStop
from tui.app.keys.key_actions import KeyActions
from tui.app.keys.key_panels import OwnPanels
from tui.app.keys.keyboard_selection import Marking
from tui.app.keys.prompt_keys import PromptKeys
from tui.app.keys.quit_keys import Leaving
from tui.app.prompt_runner import PromptRunner
from tui.dialogs.host import DialogHost
from tui.input.keymap import ChordReader
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.completions import PromptCompletions
from tui.prompt.composer import Composer
from tui.prompt.edit_externally import Editing
from tui.prompt.file_completion import FileCompletion, FilesBelow, SuggestionCommand
from tui.prompt.history_search import HistorySearch
from tui.prompt.prompt_history import PromptHistory
from tui.prompt.prompt_log import TypedPromptLog
from tui.prompt.vim_setting import VimSetting
from tui.status_line.hint import Hint
from tui.status_line.user_status_command import UserStatusCommand
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.model import TranscriptModel
from tui.transcript.reading.reading_bar import ReadingBar
from tui.transcript.reading.reading_mode import ReadingMode, scroll_actions
from tui.transcript.widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.commands.registry import CommandRegistry
    from agent.commands.service import CommandService


class KeyboardHost(Protocol):
    """The screen as its keys see it."""

    options: AppOptions
    document: TranscriptModel
    history: PromptHistory
    chords: ChordReader
    runner: PromptRunner
    conversations: ConversationHolder
    transcript: TranscriptWidget
    transcript_bar: ReadingBar
    dialogs: DialogHost
    composer: Composer
    menu: CompletionMenu
    lines: Lines
    hint_text: Hint
    own_status: UserStatusCommand
    past: EarlierPages
    typed_prompts: TypedPromptLog
    typed_commands: TypedCommands
    editing: Editing
    own_panels: OwnPanels

    @property
    def commands(self) -> CommandService | None: ...
    @property
    def registry(self) -> CommandRegistry: ...
    @property
    def is_covered(self) -> bool: ...
    @property
    def is_live(self) -> bool: ...
    def on_reading(self) -> None: ...
    def submit(self, text: str) -> None: ...
    def leave(self) -> None: ...
    def notice(self, text: str, level: str = "info") -> None: ...
    def copy_to_clipboard(self, text: str) -> None: ...
    def invalidate_screen(self) -> None: ...
    def action_suspend_process(self) -> None: ...
    def start_worker(self, work: Awaitable[None]) -> None: ...
    def call_next_frame(self, work: Callable[[], None]) -> None: ...


class Keyboard:
    """What takes keys, and the actions."""

    def __init__(self, host: KeyboardHost, clock: Callable[[], float]) -> None:
        """Make what takes keys out of the parts of the screen."""
        self._host = host
        self._clock = clock
        self.reading = ReadingMode(
            host.transcript,
            host.transcript_bar,
            host.chords,
            host.editing,
            host.on_reading,
            host.own_panels.choose_detail,
            host.past,
            host.start_worker,
        )
        self.search = HistorySearch(
            host.history,
            host.composer,
            host.chords,
            load_everywhere=lambda: host.typed_prompts.load_everywhere(self.search.refresh),
        )
        self.prompt = PromptKeys(
            host.composer,
            host.history,
            host.runner,
            host.submit,
            self._on_sent,
            host.lines.show,
            lambda: host.chords.keymap.display("chat:stash"),
            host.own_panels.show_keys,
        )
        self.files = FileCompletion(
            FilesBelow(lambda: host.commands, self._launch_dir, host.options.shell_env),
            host.start_worker,
            host.call_next_frame,
            self._on_files_found,
            SuggestionCommand(
                lambda: host.commands, host.start_worker, lambda text: host.notice(text, "warning")
            ),
        )
        self.offers = PromptCompletions(
            host.composer,
            host.menu,
            self.files,
            host.history,
            host.chords,
            lambda: host.registry,
            self.prompt.send,
        )
        self.leaving = Leaving(
            host.composer,
            host.transcript,
            host.dialogs,
            self.search,
            host.history,
            host.runner,
            host.typed_commands,
            host.hint_text,
            self.reading,
            clock,
            host.copy_to_clipboard,
            host.leave,
            self._count_in_background,
        )
        host.composer.shell_hint = self._shell_hint
        self.actions: Mapping[str, Callable[[], object]] = self._action_table()
        """What each action does; False from it: the key is not for it after all."""
        self.keys = KeyActions(
            host.chords,
            self.actions,
            self.reading,
            self.search,
            host.menu,
            self.offers,
            VimSetting(
                host.composer,
                lambda: host.commands,
                lambda: host.options.agent_home,
                host.own_status.plan,
            ),
            lambda: host.is_covered,
            host.submit,
            host.hint_text.say,
        )

    @property
    def kept_text(self) -> str:
        """What is typed and not sent, drafts put aside included: what a crash must not take.

        Without any, a command of the user's that still runs.
        """
        drafts = (*self.prompt.stashed, self._host.composer.buffer.draft.expanded)
        kept = "\n\n".join(draft for draft in drafts if draft)
        return kept or self._host.typed_commands.latest

    def text_changed(self) -> None:
        """Offer what the word at the cursor could mean."""
        if self.search.is_open:
            self.offers.close()
        else:
            self.offers.look()

    def _shell_hint(self) -> str:
        shown = self._host.chords.keymap.display
        pairs = [(shown("autocomplete:accept"), "earlier ones")]
        if not self._host.document.activity.is_working:
            # While something runs this key ends that.
            pairs.append((shown("chat:cancel"), "leaves"))
        keys = [f"{key} {what}" for key, what in pairs if key]
        return " · ".join((" runs at once, the model sees the output", *keys)) + " "

    def cycle_mode(self) -> None:
        """Go to the next permission mode."""
        if self._host.conversations.cycle_mode() is not None:
            self._host.own_status.plan()
            self._host.lines.show()

    def _action_table(self) -> Mapping[str, Callable[[], object]]:
        host, prompt, transcript = self._host, self.prompt, self._host.transcript
        return {
            "chat:submit": prompt.send,
            "chat:newline": prompt.newline,
            "chat:cancel": self._cancel,
            "chat:rewind": prompt.clear_draft,
            "chat:clearInput": host.invalidate_screen,
            "app:redraw": host.invalidate_screen,
            "chat:clearScreen": partial(host.submit, "/clear"),
            "chat:cycleMode": self.cycle_mode,
            "chat:modelPicker": partial(host.submit, "/model"),
            "chat:killAgents": BackgroundStop(
                lambda: host.commands,
                host.hint_text,
                host.start_worker,
                lambda: host.chords.keymap.display("chat:killAgents"),
                self._clock,
            ).press,
            "chat:thinkingToggle": self._switch_thinking,
            "chat:undo": prompt.undo,
            "chat:externalEditor": self._open_editor,
            "chat:stash": prompt.swap_stash,
            "chat:expandPastes": prompt.expand_pastes,
            "chat:redo": prompt.redo,
            "chat:help": prompt.help_when_empty,
            "chat:copyAnswer": self._copy_answer,
            "chat:copyCode": self._copy_code,
            "task:background": self._to_background,
            "chat:imagePaste": lambda: host.start_worker(self._paste_picture()),
            "history:previous": prompt.previous,
            "history:next": prompt.next,
            "history:search": self.search.open,
            "app:toggleTranscript": self.reading.open,
            "app:toggleTodos": self._toggle_todos,
            "app:suspend": host.action_suspend_process,
            "app:commandPalette": lambda: host.own_panels.open_palette(self._perform),
            "transcript:toolDetail": host.own_panels.choose_detail,
            **scroll_actions(transcript),
            **Marking(host.composer, transcript, host.hint_text, host.copy_to_clipboard).actions(),
        }

    def _perform(self, action_id: str) -> None:
        self.actions[action_id]()

    def _on_sent(self, text: str) -> None:
        if self._host.options.agent_home is not None:
            conversation = self._host.conversations.current
            session_id = conversation.session_id if conversation is not None else None
            self._host.typed_prompts.keep(text, session_id)

    def _on_files_found(self) -> None:
        if self._host.is_live:
            self.text_changed()

    def _launch_dir(self) -> Path:
        conversation = self._host.conversations.current
        return conversation.launch_dir if conversation is not None else self._host.options.folder

    def _cancel(self) -> None:
        self.leaving.cancel()
        self._host.lines.show()

    def _to_background(self) -> bool:
        """Let the running command go on; False when none runs, so that the key moves the cursor."""
        conversation = self._host.conversations.current
        if conversation is None or not conversation.send_to_background():
            return False
        self._host.hint_text.say("goes on in the background: /tasks")
        return True

    def _switch_thinking(self) -> None:
        conversation = self._host.conversations.current
        if conversation is None:
            return
        wanted = not conversation.thinks
        if conversation.set_thinking(wanted):
            self._host.own_status.plan()
            self._host.hint_text.say(
                f"thinking {'on' if wanted else 'off'} from the next prompt on"
            )
        else:
            only = "does not think" if wanted else "always thinks: /effort says how much"
            self._host.hint_text.say(f"{conversation.model} {only}")

    def _toggle_todos(self) -> None:
        if not self._host.lines.toggle_todos():
            self._host.hint_text.say("no task list yet")

    def _open_editor(self) -> None:
        composer = self._host.composer
        text = self._host.editing.text(composer.buffer.draft.expanded)
        if text is not None:
            composer.edit(lambda buffer: buffer.set_text(text.rstrip("\n")))

    def paste(self, text: str) -> bool:
        """Take pasted text that is for something else than the prompt; False where it is not."""
        if self.reading.is_open:
            self.reading.paste(text)
            return True
        if not text:
            # Some terminals paste a picture as nothing.
            self._host.start_worker(self._paste_picture())
            return True
        if not text.lstrip().startswith(("/", "'", '"', "file:")):
            return False
        from tui.prompt.pasted_image import (
            dropped_pictures,  # with the first paste that looks like one
        )

        pictures, folder = dropped_pictures(text), self._scratch_dir
        if not pictures or folder is None:
            return False
        self._host.start_worker(self._keep_dropped(pictures, folder))
        return True

    def _count_in_background(self) -> int:
        center = self._host.commands
        return center.context.shells.running_count if center is not None else 0

    @property
    def _scratch_dir(self) -> Path | None:
        center = self._host.commands
        return center.context.gate.context.scratch_dir if center is not None else None

    async def _keep_dropped(self, pictures: Sequence[Path], folder: Path) -> None:
        from tui.prompt.pasted_image import keep_dropped  # as above

        for picture in pictures:
            try:
                self._host.composer.insert_picture(await keep_dropped(folder, picture))
            except OSError as error:
                self._host.notice(f"{picture} cannot be taken: {error.strerror}", "warning")

    async def _paste_picture(self) -> None:
        folder = self._scratch_dir
        if folder is None:
            return
        from tui.prompt.pasted_image import NoPicture, keep_picture  # with the first picture

        try:
            mention = await keep_picture(folder, self._host.options.shell_env)
            self._host.composer.insert_picture(mention)
        except NoPicture:
            self._host.hint_text.say("no picture on the clipboard")
        except OSError as error:
            self._host.notice(f"the picture cannot be kept: {error.strerror}", "warning")

    def _copy_answer(self) -> None:
        if self._host.document.last_answer:
            self._host.copy_to_clipboard(self._host.document.last_answer)
            self._host.hint_text.say("answer copied")
        else:
            self._host.hint_text.say("no answer yet")

    def _copy_code(self) -> None:
        from permissions.base.text.code_blocks import code_blocks  # with the first copy

        if blocks := code_blocks(self._host.document.last_answer):
            self._host.copy_to_clipboard(blocks[-1])
            self._host.hint_text.say("code copied")
        else:
            self._host.hint_text.say("no code in the last answer")
