"""The screen: wires conversation, document, components and keys together, and holds no logic.

Next: `tui.app.prompt_runner` (what runs), `tui.transcript.model` (what is shown),
`tui.app.keys.key_wiring` (keys), `tui.commands` (`/`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.app import ComposeResult

from agent.user_prompt import Prompt
from tui.app.activity_line import FRAME_S, ActivityLine
from tui.app.app_options import AppOptions, ExitReport
from tui.app.bang_commands import TypedCommands
from tui.app.bottom_lines import Lines
from tui.app.command_api import CommandFacade
from tui.app.conversation_holder import ConversationHolder
from tui.app.event_presenter import EventsShown
from tui.app.idle_notification import WaitingNotice
from tui.app.keys.key_panels import OwnPanels
from tui.app.keys.key_wiring import Keyboard
from tui.app.prompt_runner import PromptRunner
from tui.app.todo_panel import TodoPanel
from tui.commands import run_command
from tui.dialogs.host import DialogHost
from tui.input.dispatch import Handler
from tui.input.driver import InputDriver
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.keymap import ChordReader
from tui.input.routed_app import RoutedApp
from tui.input.terminal_reply import TerminalReply
from tui.ports.conversation import MakeConversation, Release, ScreenPorts
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.composer import Composer
from tui.prompt.draft_autosave import DraftAutosave
from tui.prompt.edit_externally import Editing
from tui.prompt.prompt_history import PromptHistory
from tui.prompt.prompt_log import TypedPromptLog
from tui.screen.direct_rows import DirectRows
from tui.status_line.hint import Hint
from tui.status_line.user_status_command import UserStatusCommand
from tui.status_line.widget import StatusLine
from tui.terminal.background import ASK, FOLLOW, UNFOLLOW, dark_from_reply, says_changed
from tui.terminal.bell import TerminalBell
from tui.terminal.title import TerminalTitle
from tui.text.highlight import Highlighter
from tui.theme.palette import Palette, textual_theme
from tui.theme.theme_choice import ThemeChoice
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.model import TranscriptModel
from tui.transcript.reading.reading_bar import ReadingBar
from tui.transcript.widget import TranscriptWidget

if TYPE_CHECKING:
    from pathlib import Path

    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from tui.dialogs.permission_ask import GrantOffer

AT_ANY_TIME: Final = frozenset({"help", "theme", "exit", "quit"})
"""Commands that need no conversation."""


class AgentApp(DirectRows[ExitReport], RoutedApp[ExitReport], CommandFacade):
    """The interactive program."""

    CSS = """
    Screen { overflow: hidden; }
    """
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    INLINE_PADDING = 0

    def __init__(
        self,
        make_conversation: MakeConversation,
        options: AppOptions,
        *,
        suggest_grants: Callable[
            [PermissionRequest, Decision], Sequence[GrantOffer]
        ] = lambda _request, _decision: (),
        judge_call: Callable[[PermissionRequest], Decision | None] = lambda _request: None,
        clock: Callable[[], float] = time.monotonic,
        edit_text: Callable[[str, str], str] | None = None,
        edit_path: Callable[[Path], None] | None = None,
        release: Release | None = None,
    ) -> None:
        """Take how the conversation is made; nothing is made before the first frame."""
        is_plain = options.no_color or options.theme.uses_terminal_palette
        super().__init__(ansi_color=True if is_plain else None)
        self.options = options
        self.palette = Palette(options.theme, no_color=options.no_color)
        self.register_theme(textual_theme(options.theme))
        self.theme = f"agent-{options.theme.name}"
        self.themes = ThemeChoice(
            options.wanted_theme or options.theme.name,
            options.theme,
            themes_dir=options.themes_dir,
            is_dark=options.is_dark,
            use=self.use_theme,
            tell=self.warn,
        )
        self.window = TerminalTitle(self._write_raw, options.env)
        self._suggest_grants = suggest_grants
        self._judge_call = judge_call
        self._clock = clock
        self.document = TranscriptModel(str(options.folder), str(options.home))
        self.history = PromptHistory(options.history)
        self.chords = ChordReader(options.keymap)
        self.events_shown = EventsShown(self, clock)
        self.bridge = self.events_shown.bridge
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self.highlighter = Highlighter(self._executor, self.events_shown.highlights_ready)
        self.runner = PromptRunner(
            self.bridge.put, self._on_prompt_start, self._on_prompt_end, self.start_worker
        )
        self.past = EarlierPages(self.document, self.start_worker, self.events_shown.show)
        self.conversations = ConversationHolder(
            make_conversation,
            release,
            self.runner,
            self.document,
            self.past,
            self._on_conversation,
            self.leave,
        )
        self.transcript = TranscriptWidget(self.highlighter, id="transcript")
        self.transcript.near_start = self.past.more
        self.dialogs = DialogHost(self.chords, self._give_back, self._on_dialogs, id="dialogs")
        self.activity = ActivityLine(id="activity")
        self.todo_panel = TodoPanel(id="todos")
        self.composer = Composer(self._on_text, self._take_paste, id="composer")
        self.transcript_bar = ReadingBar(id="reading")
        self.menu = CompletionMenu(id="menu")
        self.status_line = StatusLine(id="status")
        self.lines = Lines(self, clock, self.set_interval)
        self.hint_text = Hint(self.set_timer, self.lines.show)
        self.own_status = UserStatusCommand(
            lambda: self.commands,
            lambda: self.size,
            self.set_timer,
            partial(self.run_worker, exit_on_error=True),
            self.warn,
            self.lines.show,
            clock,
            lambda: self.composer.vim_mode,
        )
        self.attention = TerminalBell(
            self._write_raw, self._attention_channel, is_in_tmux=bool(options.env.get("TMUX"))
        )
        self.waiting_notice = WaitingNotice(
            lambda: self.conversation, self.set_timer, self.start_worker, clock
        )
        self.drafts = DraftAutosave(
            lambda: self.conversation,
            lambda: self.keyboard.kept_text,
            self.set_timer,
        )
        self.typed_prompts = TypedPromptLog(self.history, self.start_worker, self.warn)
        self.typed_commands = TypedCommands(self, clock)
        self.editing = Editing(self, edit_text, edit_path)
        self.own_panels = OwnPanels(self)
        self.keyboard = Keyboard(self, clock)

    # Life

    def compose(self) -> ComposeResult:
        """Yield the parts from top to bottom."""
        yield self.transcript
        yield self.dialogs
        yield self.activity
        yield self.todo_panel
        yield self.composer
        yield self.transcript_bar
        yield self.menu
        yield self.status_line

    def on_mount(self) -> None:
        """Show what is known, and begin once that is on the screen."""
        self.router.reserve("ctrl+c", self.keyboard.leaving.on_ctrl_c)
        self.router.reserve("ctrl+d", self.keyboard.leaving.on_ctrl_d)
        for phase, handler, kinds in self._listeners():
            self.router.listen(self, phase, handler, kinds)
        self.shows_caret = True
        self._ask_the_terminal()
        self.show_header()
        for notice in self.options.notices:
            self.document.add_notice("warning", notice)
        self.composer.focus()
        self.events_shown.show()
        self.call_after_refresh(lambda: self.start_worker(self._begin()))

    async def on_unmount(self) -> None:
        """Release what the app owns."""
        self.events_shown.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)
        await self.keyboard.files.aclose()

    def on_resize(self, event: events.Resize) -> None:
        """Components whose height follows the screen's lay out again."""
        self.composer.rows_changed()
        self.call_after_refresh(self.own_status.look)

    @property
    def is_live(self) -> bool:
        """Whether there is a screen: not yet before the first frame, no more while closing."""
        return bool(self.screen_stack) and self.status_line.is_attached

    @property
    def is_covered(self) -> bool:
        """Whether something above the main screen has the keyboard."""
        return self.dialogs.open_count > 0 or len(self.screen_stack) > 1

    def start_worker(self, work: Awaitable[None]) -> None:
        """Run something that ends with the screen; what it raises ends the program."""
        self.run_worker(work, exit_on_error=True)

    def call_next_frame(self, work: Callable[[], None]) -> None:
        """Do something once what is shown now has been drawn."""
        self.set_timer(FRAME_S / 2, work)

    async def _begin(self) -> None:
        """Make the conversation after the first frame."""
        # Dialogs take some 30 ms to import; the first frame does not wait for them.
        from permissions.explain.explain_decision import home_relative
        from tui.dialogs.ports import DialogContender, DialogUser

        edit_text = self.editing.text if self.editing.has_editor else None
        contender = DialogContender(
            self.dialogs,
            self.highlighter,
            self._suggest_grants,
            self._preview,
            edit_text,
            self._judge_call,
            home_relative(str(self.options.home)),
        )
        person = DialogUser(self.dialogs, self.highlighter, edit_text, lambda: self.commands)
        await self.conversations.begin(ScreenPorts(contender, person, person.trust, person.onboard))
        if self.options.initial_prompt and self.conversation is not None:
            self.submit(self.options.initial_prompt)
        if self.options.agent_home is not None and self.is_live:
            from tui.app.keys.keybindings_watch import follow_keys  # after the first frame

            defaults = self.options.keymap
            self.start_worker(
                follow_keys(
                    self.options.agent_home,
                    defaults,
                    self.use_keys,
                    self.notice_of_level,
                    home=self.options.home,
                )
            )
            if self.options.themes_dir:
                from tui.theme.theme_files import follow_themes  # after the first frame

                self.start_worker(
                    follow_themes(
                        self.options.agent_home,
                        self.options.themes_dir,
                        reload=self.themes.reload,
                        choose=self.themes.choose,
                    )
                )

    def _on_conversation(self) -> None:
        """Show the conversation there is now, or that there is none."""
        self.events_shown.show()
        if self.conversation is not None:
            self.own_status.counts.start_over()
            self.start_worker(self._settle_in())

    async def _settle_in(self) -> None:
        """What can wait until a conversation is shown: history, command files, status line."""
        center, agent_home = self.commands, self.options.agent_home
        if center is None or agent_home is None:
            return
        context = center.context
        context.shells.on_change = self.lines.show
        self.window.wants_progress(context.settings().values.terminalProgressBarEnabled)
        if context.settings().values.syntaxHighlightingDisabled:
            self.colour_code(False)
        if (detail := context.settings().values.toolDetail) is not None:
            self.transcript.set_levels(detail)
        await self.typed_prompts.open(
            agent_home, context.settings().project_root, context.session.session_id
        )
        center.custom.watch()
        from tui.app.claude_settings_notice import notes_of_start  # after the first frame

        warnings, notices = await notes_of_start(center)
        for text in warnings:
            self.warn(text)
        for text in notices:
            self.notice(text)
        self.own_status.plan()

    def _preview(self, tool_use_id: str) -> Any:
        return self.conversation.preview_of(tool_use_id) if self.conversation is not None else None

    # Prompts, commands, dialogs

    def submit(self, text: str) -> None:
        """Send a prompt, or run a command."""
        if text.startswith("/"):
            self.start_worker(self._run_command(text))
        elif text.startswith("!"):
            self.start_worker(self.typed_commands.run(text[1:].strip()))
        else:
            self.send(text)

    async def _run_command(self, text: str) -> None:
        name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
        if name not in AT_ANY_TIME:
            await self.conversations.wait()
        await run_command(text, self)
        self.events_shown.show()

    def _on_prompt_start(self, prompt: Prompt) -> None:
        self.waiting_notice.stop()
        # The end of the run before may still wait for its frame, and ends what it finds.
        self.bridge.flush()
        self.document.add_prompt(prompt.text, at_s=self._clock())
        self.bridge.clock.request()

    def _on_prompt_end(self, was_interrupted: bool) -> None:
        if not was_interrupted:
            self.attention.call("done")
            self.waiting_notice.run_over()
        self.own_status.plan()
        self.bridge.flush()
        self.document.stop()
        self.events_shown.show()

    def _on_dialogs(self) -> None:
        self.waiting_notice.stop()
        if self.dialogs.open_count:
            self.attention.call("waits for your answer")
            self.waiting_notice.question_open()
        self.lines.show()
        if not self.is_live:
            return
        self._choose_caret()

    def on_reading(self) -> None:
        """Show the prompt, or what stands in its place while the transcript is read."""
        self.lines.show()
        self._choose_caret()

    def _choose_caret(self) -> None:
        if self.dialogs.open_count:
            self.shows_caret = self.dialogs.has_caret
            return
        self.shows_caret = not self.transcript_bar.is_open
        if self.shows_caret:
            self.composer.focus()
            self.call_after_refresh(self.composer.refresh_text)

    # Input

    async def on_event(self, event: events.Event) -> None:
        """Take what the terminal sends, whoever it is for."""
        if isinstance(event, events.Key):
            self.waiting_notice.touched()
        await super().on_event(event)

    def _listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        return [
            (Phase.CAPTURE, self.keyboard.keys.on_key, (EventKind.KEY,)),
            (Phase.CAPTURE, self._on_window_event, (EventKind.FOCUS, EventKind.BLUR)),
            (Phase.BUBBLE, self.transcript.on_wheel, (EventKind.SCROLL,)),
        ]

    def _on_text(self) -> None:
        self.drafts.touched()
        self.keyboard.text_changed()

    def _take_paste(self, text: str) -> bool:
        return self.keyboard.paste(text)

    def _give_back(self, text: str) -> None:
        self.composer.insert(text)

    def _on_window_event(self, event: RoutedEvent) -> None:
        self.attention.focused(event.kind is EventKind.FOCUS)

    def on_transcript_widget_copied(self, message: TranscriptWidget.Copied) -> None:
        """Say that marked text is on the clipboard."""
        self.hint(f"copied {len(message.text)} characters")

    # Output beside the frames, and answers to it

    def _ask_the_terminal(self) -> None:
        """Ask what suits the background, and have the window be given back as it was."""
        if isinstance(self._driver, InputDriver):
            self._driver.at_start = lambda: self.window.at_start + FOLLOW
            self._driver.at_stop = lambda: self.window.at_stop + UNFOLLOW
        self._write_raw(ASK + FOLLOW)

    def on_terminal_reply(self, message: TerminalReply) -> None:
        """Take what the terminal says of its background."""
        is_dark = dark_from_reply(message.text)
        if is_dark is not None:
            self.themes.background(is_dark)
            if self.options.agent_home is not None:
                from tui.theme.theme_files import remember_background  # with the first answer

                remember_background(self.options.agent_home, is_dark)
        elif says_changed(message.text):
            self._write_raw(ASK)

    def pass_on(self, sequence: str) -> None:
        """Write a bell, a title or a notification that a hook asks for."""
        self._write_raw(sequence)

    def copy_to_clipboard(self, text: str) -> None:
        """Put text on the clipboard: through the terminal, and by programs that are there."""
        super().copy_to_clipboard(text)
        self.start_worker(self._copy_beside(text))

    async def _copy_beside(self, text: str) -> None:
        from tui.terminal.clipboard import copy_beside, for_gnu_screen  # with the first copy

        env, home = self.options.shell_env, self.options.agent_home
        if env.get("STY"):
            self._write_raw(for_gnu_screen(text))
        if said := await copy_beside(text, env, home / "copied.txt" if home else None):
            self.hint(said)

    def _write_raw(self, text: str) -> None:
        """Write what moves no cursor: a title, a bell."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(text)

    def _attention_channel(self) -> str:
        center = self.commands
        values = center.context.settings().values if center is not None else None
        return (values.preferredNotifChannel if values is not None else None) or "auto"
