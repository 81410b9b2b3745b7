"""The app as commands, panels and the entry point use it.

Its protocol is `tui.ports.command_screen.CommandScreen`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.app import App

from agent.user_prompt import Prompt
from themes.theme import Role, Theme
from tui.app.app_options import AppOptions, ExitReport
from tui.app.bottom_lines import Lines
from tui.app.conversation_holder import BUSY, ConversationHolder
from tui.app.event_presenter import EventsShown
from tui.app.keys.key_wiring import Keyboard
from tui.app.prompt_runner import PromptRunner
from tui.app.short_path import from_home
from tui.dialogs.host import DialogHost
from tui.input.keymap import ChordReader, Keymap
from tui.ports.command_screen import AnswerT, AsksFor
from tui.ports.conversation import ConversationPort
from tui.prompt.draft_autosave import DraftAutosave
from tui.prompt.edit_externally import Editing
from tui.status_line.hint import Hint
from tui.status_line.user_status_command import UserStatusCommand
from tui.terminal.title import TerminalTitle
from tui.text.highlight import Highlighter
from tui.theme.palette import Palette, textual_theme
from tui.theme.theme_choice import ThemeChoice
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.model import TranscriptModel
from tui.transcript.welcome import welcome_rows
from tui.transcript.widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.commands.registry import CommandRegistry
    from agent.commands.service import CommandService
    from agent.history import HistoryPart
    from agent.messages import Message


class CommandFacade(App[ExitReport]):
    """Half of the app: what others may ask of the screen. The other half makes the parts."""

    options: AppOptions
    palette: Palette
    document: TranscriptModel
    chords: ChordReader
    runner: PromptRunner
    conversations: ConversationHolder
    events_shown: EventsShown
    transcript: TranscriptWidget
    highlighter: Highlighter
    dialogs: DialogHost
    drafts: DraftAutosave
    lines: Lines
    own_status: UserStatusCommand
    themes: ThemeChoice
    window: TerminalTitle
    hint_text: Hint
    editing: Editing
    keyboard: Keyboard
    past: EarlierPages

    # What is in force

    @property
    def conversation(self) -> ConversationPort | None:
        """The conversation; None before there is one."""
        return self.conversations.current

    @property
    def commands(self) -> CommandService | None:
        """What the conversation's commands need; None before there is one."""
        return self.conversation.commands if self.conversation is not None else None

    @property
    def registry(self) -> CommandRegistry:
        """The commands that can be typed now."""
        center = self.commands
        if center is not None:
            return center.registry
        # With the first `/`, not with the first frame.
        from agent.commands.registry import CommandRegistry
        from agent.commands.spec import Surface
        from agent.commands.table import BUILTIN_COMMANDS

        return CommandRegistry([lambda: BUILTIN_COMMANDS], Surface.SCREEN)

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return self.options.keymap

    @property
    def theme_name(self) -> str:
        """The theme in force."""
        return self.options.theme.name

    @property
    def themes_dir(self) -> tuple[Path, ...]:
        """Where the user's own themes are."""
        return self.options.themes_dir

    @property
    def folder(self) -> Path:
        """The folder that is worked in."""
        return self.options.folder

    @property
    def action_ids(self) -> frozenset[str]:
        """The actions that keys of the main screen can do."""
        return frozenset((*self.keyboard.actions, "app:interrupt", "app:exit"))

    def display_path(self, path: Path) -> str:
        """Return a folder as users write it."""
        return from_home(path, self.options.home)

    # What can be asked for

    def send(self, text: str) -> None:
        """Send a prompt to the model as it is."""
        self.runner.submit(Prompt(text))
        self.transcript.to_end()
        self.events_shown.show()

    def leave(self, error: str = "") -> None:
        """End the program; the report is printed on the normal screen."""
        self.drafts.settle()
        session_id = self.conversation.session_id if self.conversation is not None else None
        self.exit(ExitReport(session_id, self.document.last_answer, error))

    async def restart(self, session_id: str | None) -> None:
        """Leave this conversation for another session, or for a new one."""
        # The command that leads there is no draft of the one that is left.
        self.drafts.settle()
        if why_not := await self.conversations.change(session_id):
            self.warn(why_not)

    def name_window(self, title: str) -> None:
        """Show a session's name as the window's title."""
        self.window.name(title)
        self.own_status.counts.title = title

    def notice(self, text: str, level: str = "info") -> None:
        """Add a line of our own to the transcript."""
        self.document.add_notice(level, text)
        self.events_shown.show()

    def notice_of_level(self, text: str, level: str) -> None:
        """Add a line of our own, told apart by its level."""
        self.notice(text, level)

    def warn(self, text: str) -> None:
        """Add a line that something is not as it should be."""
        self.notice(text, "warning")

    def output_line(self) -> str:
        """Return what output costs; nothing, unless the half that writes it knows."""
        return ""

    def hint(self, text: str) -> None:
        """Say something in the status line for a moment."""
        self.hint_text.say(text)

    def compact(self, focus: str, part: HistoryPart | None = None) -> None:
        """Summarise the history, or a part of it."""
        if self.conversation is None:
            return
        if part is not None and self.runner.is_running:
            self.warn(BUSY)
        elif not self.runner.run_events(self.conversation.compact(focus, part)):
            self.notice("The conversation is summarised once this prompt is done.")

    async def show_dialog(self, dialog: AsksFor[AnswerT]) -> AnswerT:
        """Show a dialog and return its answer."""
        from tui.dialogs.ports import show  # with the first dialog: it takes 30 ms to import

        return await show(self.dialogs, dialog)

    def edit_file(self, path: Path) -> None:
        """Open a file in the user's editor; the screen is theirs until it ends."""
        self.editing.file(path)

    async def keep_setting(self, key: str, value: object) -> None:
        """Write one of the user's own settings."""
        if self.options.agent_home is None:
            return
        from tui.app.save_setting import keep_setting  # with the first setting that is kept

        if problem := await keep_setting(self.options.agent_home, key, value):
            self.warn(problem)

    def show_history(self, messages: Sequence[Message]) -> None:
        """Show the conversation anew, as it is after going back."""
        self.document.clear()
        # From the file, where there is one: it also knows what calls changed.
        path = self.commands.context.session.transcript_path if self.commands is not None else None
        if path is None or not path.is_file():
            self.document.restore(messages)
        else:
            self.run_worker(self.past.open(path), exit_on_error=True)
        self.events_shown.show()

    # What can be put in the place of what is in force

    def use_keys(self, keymap: Keymap) -> None:
        """Read keys by another table."""
        self.options = replace(self.options, keymap=keymap)
        self.chords.keymap = keymap

    def use_folder(self, folder: Path) -> None:
        """Work in another folder than the one the program was started in: the demo's copy."""
        self.options = replace(self.options, folder=folder, awaits_demo=False)
        self.show_header(is_demo=True)
        self.lines.show()

    def show_header(self, *, is_demo: bool = False) -> None:
        """Show the first lines of the transcript: what this is, and where."""
        if self.options.awaits_demo:
            self.transcript.set_header(welcome_rows(self.options.version, "", is_demo=True))
            return
        folder = self.display_path(self.options.folder)
        self.window.name(self.options.folder.name or folder)
        self.transcript.set_header(welcome_rows(self.options.version, folder, is_demo=is_demo))

    def toggle_focus(self) -> bool:
        """Show what is said, and of calls one line each; or as before. Whether it is so now."""
        return self.transcript.toggle_focus()

    def colour_prompt(self, role: Role) -> None:
        """Draw the lines around the prompt in a colour of the theme, for this session."""
        self.lines.prompt_role = role
        self.lines.show()

    def choose_theme(self, name: str) -> None:
        """Use the named theme from now on; `auto` follows the terminal's background."""
        self.themes.choose(name)

    @property
    def wanted_theme(self) -> str:
        """What was chosen: a theme's name, or `auto`."""
        return self.themes.wanted

    def colour_code(self, is_on: bool) -> None:
        """Show code with colours, or without."""
        self.highlighter.is_on = is_on
        self.transcript.code_changed()

    @property
    def colours_code(self) -> bool:
        """Whether code is shown with colours."""
        return self.highlighter.is_on

    def use_theme(self, theme: Theme) -> None:
        """Draw everything in another theme."""
        self.options = replace(self.options, theme=theme)
        self.palette = Palette(theme, no_color=self.options.no_color)
        self.register_theme(textual_theme(theme))
        self.theme = f"agent-{theme.name}"
        self.transcript.palette_changed()
        self.screen_stack[0].refresh(layout=True)
        for widget in self.screen_stack[0].query("*"):
            widget.refresh()
