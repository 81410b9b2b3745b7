"""Creates the parts of the screen and connects them.

Next: `tui.app.session.prompt_runner` (what runs), `tui.transcript.transcript_model` (what is
shown), `tui.app.keys.key_wiring` (keys), `tui.app.command_api` and `tui.commands` (`/`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent.assembly.late import Late
from tui.app.activity_line import ActivityLine
from tui.app.appearance import Appearance
from tui.app.bottom_lines import BottomLines
from tui.app.caret import CaretControl
from tui.app.command_api import CommandApi
from tui.app.event_presenter import EventPresenter, RunPresenter
from tui.app.frame_clock import EventBridge
from tui.app.idle_notification import IdleNotification
from tui.app.key_table import KeyTable
from tui.app.keys.between_dialogs import BetweenDialogs
from tui.app.keys.key_panels import KeyPanels
from tui.app.keys.key_wiring import Keyboard, KeyboardParts
from tui.app.main_screen import MainScreen, ScreenRuntime
from tui.app.notices import Notices
from tui.app.session.bang_commands import BangCommands
from tui.app.session.conversation_holder import ConversationHolder
from tui.app.session.conversation_start import (
    ConversationStart,
    JudgeCall,
    StartParts,
    SuggestGrants,
)
from tui.app.session.prompt_runner import PromptRunner
from tui.app.session.session_control import ExitReport, ScreenSession
from tui.app.session.submission import Submission
from tui.app.session.undo_offer import UndoOffer
from tui.app.session.unsent_text import UnsentText
from tui.app.signal import Signal
from tui.app.terminal_link import TerminalLink
from tui.app.todo_panel import TodoPanel
from tui.app.workspace import ScreenWorkspace, from_home
from tui.dialogs.host import DialogHost
from tui.images.inline_images import InlineImages
from tui.input.keymap import ChordReader
from tui.ports.app_options import AppOptions
from tui.ports.conversation import MakeConversation, Release
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.composer import Composer
from tui.prompt.draft_autosave import DraftAutosave
from tui.prompt.edit_externally import Editing
from tui.prompt.prompt_history import PromptHistory
from tui.prompt.prompt_log import TypedPromptLog
from tui.screen.direct_rows import DirectRows
from tui.screen.inline_output import InlineOutput
from tui.status_line.agents_panel import AgentsPanel
from tui.status_line.hint import Hint
from tui.status_line.status_widget import StatusLine
from tui.status_line.user_status_command import UserStatusCommand
from tui.terminal.background import color_count
from tui.terminal.bell import TerminalBell
from tui.terminal.title import TerminalTitle
from tui.text.file_links import find_file
from tui.text.highlight import Highlighter
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.inline.inline_transcript import InlineTranscript
from tui.transcript.reading.reading_bar import ReadingBar
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.transcript_widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.events import AgentEvent
    from agent.user_prompt import Prompt


class ScreenParts:
    """The parts of the screen, created in the order of their dependencies."""

    def __init__(
        self,
        app: DirectRows[ExitReport],
        runtime: ScreenRuntime,
        options: AppOptions,
        make_conversation: MakeConversation,
        *,
        suggest_grants: SuggestGrants,
        judge_call: JudgeCall,
        clock: Callable[[], float],
        edit_text: Callable[[str, str], str] | None,
        edit_path: Callable[[Path], None] | None,
        release: Release | None,
    ) -> None:
        """`app` and `runtime` are the running program; the conversation is made later."""
        self._app = app
        self._runtime = runtime
        self.options = options
        self._clock = clock
        # Signals of parts to others that are created after them.
        self._show: Signal[[]] = Signal()
        self._show_lines: Signal[[]] = Signal()
        self._make_widgets()
        self._make_document()
        self._make_conversation(make_conversation, release)
        self._make_services(edit_text, edit_path)
        self._make_presenters()
        self._make_commands()
        self._make_keyboard()
        self.start = ConversationStart(
            StartParts(
                conversations=self.conversations,
                dialogs=self.dialogs,
                highlighter=self.highlighter,
                suggest_grants=suggest_grants,
                judge_call=judge_call,
                editing=self.editing,
                transcript=self.transcript,
                typed_prompts=self.typed_prompts,
                user_status=self.user_status,
                window=self.terminal_title,
                appearance=self.appearance,
                keys=self.keys,
                notices=self.notices,
                home=options.home,
                agent_home=options.agent_home,
                initial_prompt=options.initial_prompt,
                submit=self.submission.submit,
                show=self.presenter.show,
                show_recent=self.workspace.show_recent,
                show_lines=self.lines.show,
                commands_changed=lambda: self._keyboard().commands_changed(),
                start_worker=self._runtime.start_worker,
                is_live=lambda: self._runtime.is_live,
            )
        )
        self._conversation_changed.connect(self.start.on_conversation)

    def _make_widgets(self) -> None:
        self.chords = ChordReader(self.options.keymap)
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self._highlights_ready: Signal[[]] = Signal()
        self._text_changed: Signal[[]] = Signal()
        self._dialogs_changed: Signal[[]] = Signal()
        self.highlighter = Highlighter(
            self.executor,
            self._highlights_ready,
            lambda path: find_file(path, self.document.directory, str(self.options.home)),
        )
        self.transcript = TranscriptWidget(self.highlighter, id="transcript")
        self._keyboard: Late[Keyboard] = Late("keyboard")
        self.composer = Composer(
            self._text_changed, lambda text: self._keyboard().paste(text), id="composer"
        )
        self.dialogs = DialogHost(
            self.chords, self.composer.insert, self._dialogs_changed, id="dialogs"
        )
        self.activity = ActivityLine(id="activity")
        self.todo_panel = TodoPanel(id="todos")
        self.agents_panel = AgentsPanel(id="agents")
        self.transcript_bar = ReadingBar(id="reading")
        self.menu = CompletionMenu(id="menu")
        self.status_line = StatusLine(id="status")
        self.main_screen = MainScreen(
            self.transcript,
            self.dialogs,
            self.activity,
            self.todo_panel,
            self.agents_panel,
            self.composer,
            self.transcript_bar,
            self.menu,
            self.status_line,
        )

    def _make_document(self) -> None:
        options = self.options
        self.document = TranscriptModel(str(options.directory), str(options.home))
        self.history = PromptHistory(options.history)
        self.past = EarlierPages(self.document, self._runtime.start_worker, self._show)
        self.transcript.near_start = self.past.more
        self.hint = Hint(self._runtime.set_timer, self._show_lines)
        self.notices = Notices(self.document, self._show, self.hint)
        inline: InlineOutput | None = None
        if options.is_inline:
            self.transcript.inline = InlineTranscript(self.transcript)
            inline = InlineOutput(self._app, self.main_screen, options.env)
        images = self.transcript.viewport.images = InlineImages(
            lambda sequence: self.terminal.write(sequence),
            lambda: self._app.sixels,
            self._runtime.start_worker,
            self.transcript.code_changed,
        )
        self.terminal = TerminalLink(
            self._app,
            lambda: self._app._driver,
            options.program_env,
            options.agent_home,
            inline,
            images,
        )
        self.terminal_title = TerminalTitle(self.terminal.write, options.env)
        self.appearance = Appearance(
            self._app,
            options.theme,
            options.wanted_theme,
            is_dark=options.is_dark,
            color_count=color_count(options.env),
            themes_dir=options.themes_dir,
            no_color=options.no_color,
            is_inline=options.is_inline,
            transcript=self.transcript,
            highlighter=self.highlighter,
            warn=self.notices.warn,
            show_lines=self._show_lines,
        )

    def _make_conversation(self, make: MakeConversation, release: Release | None) -> None:
        self._event_arrived: Signal[[AgentEvent]] = Signal()
        self._frame_due: Signal[[]] = Signal()
        self._run_started: Signal[[Prompt]] = Signal()
        self._run_ended: Signal[[bool]] = Signal()
        self._conversation_changed: Signal[[]] = Signal()
        self._conversation_failed: Signal[[str]] = Signal()
        self.bridge = EventBridge(
            self._event_arrived, self._frame_due, lambda: self._runtime.output_is_slow
        )
        self.runner = PromptRunner(
            self.bridge.put, self._run_started, self._run_ended, self._runtime.start_worker
        )
        self.conversations = ConversationHolder(
            make,
            release,
            self.runner,
            self.document,
            self.past,
            self._conversation_changed,
            self._conversation_failed,
        )

    def _make_services(
        self,
        edit_text: Callable[[str, str], str] | None,
        edit_path: Callable[[Path], None] | None,
    ) -> None:
        options, conversations = self.options, self.conversations
        self.bell = TerminalBell(
            self.terminal.write,
            lambda: conversations.notification_channel,
            lambda: self.workspace.directory.name,
            lambda: self.idle_notification.idle_s,
            self._runtime.set_timer,
            is_in_tmux=bool(options.env.get("TMUX")),
        )
        self.idle_notification = IdleNotification(
            lambda: conversations.current,
            self._runtime.set_timer,
            self._runtime.start_worker,
            self._clock,
        )
        self.user_status = UserStatusCommand(
            lambda: conversations.commands,
            lambda: self._runtime.size,
            self._runtime.set_timer,
            partial(self._app.run_worker, exit_on_error=True),
            self.notices.warn,
            self._show_lines,
            self._clock,
            lambda: self.composer.vim.mode,
        )
        self.typed_prompts = TypedPromptLog(
            self.history, self._runtime.start_worker, self.notices.warn
        )
        self.editing = Editing(
            self._app, self.notices, partial(from_home, home=options.home), edit_text, edit_path
        )
        self.workspace = ScreenWorkspace(
            options.directory,
            options.home,
            options.agent_home,
            options.version,
            awaits_demo=options.awaits_demo,
            transcript=self.transcript,
            window=self.terminal_title,
            counts=self.user_status.counts,
            notices=self.notices,
            editing=self.editing,
            copy=self._app.copy_to_clipboard,
            output_line=self._app.frame_writer.figures_line,
            show_lines=self._show_lines,
        )
        self.bang_commands = BangCommands(
            conversations,
            self.document,
            self.transcript,
            self.bridge,
            self.runner,
            self.notices,
            self._show_lines,
            options.shell_env,
            self._clock,
        )
        self.unsent = UnsentText(self.composer, self.bang_commands)
        self.drafts = DraftAutosave(
            lambda: conversations.current, lambda: self.unsent.text, self._runtime.set_timer
        )
        self.bang_commands.list_changed.connect(self.drafts.schedule)
        self._text_changed.connect(self.drafts.schedule)
        self._conversation_changed.connect(self.drafts.conversation_changed)

    def _make_presenters(self) -> None:
        self.lines = BottomLines(
            self._runtime,
            self.main_screen,
            self.document,
            self.conversations,
            self.runner,
            self.bridge.clock,
            self.hint,
            self.user_status,
            self.chords,
            self.terminal_title,
            self.workspace,
            self.appearance,
            self.options.env,
            self._clock,
        )
        self._show_lines.connect(self.lines.show)
        self.composer.shell_hint = self.lines.shell_hint
        self.presenter = EventPresenter(
            self._runtime,
            self.document,
            self.transcript,
            self.lines,
            self.user_status,
            self.bridge,
            self.notices.hint,
            self._clock,
        )
        self._event_arrived.connect(self.presenter.fold)
        self.undo_offer = UndoOffer(
            self.conversations,
            self.hint,
            self.dialogs,
            self.notices,
            lambda: self.chords.keymap.display("chat:undoFiles"),
            self._runtime.start_worker,
            self.document.take_back,
            self._clock,
        )
        self._event_arrived.connect(self.undo_offer.observe)
        self._dialogs_changed.connect(self.undo_offer.on_dialogs)
        self._frame_due.connect(self.presenter.paint)
        self._show.connect(self.presenter.show)
        self._highlights_ready.connect(self.presenter.highlights_ready)
        runs = RunPresenter(
            self.document,
            self.bridge,
            self.user_status,
            self.bell,
            self.idle_notification,
            self.presenter.show,
            self._clock,
        )
        self._run_started.connect(runs.on_start)
        self._run_ended.connect(runs.on_end)
        self._caret = CaretControl(
            self._app,
            self._runtime,
            self.main_screen,
            self.bell,
            self.idle_notification,
            self.lines.show,
            inline.use_whole_window if (inline := self.terminal.inline) else lambda _: None,
        )
        self._dialogs_changed.connect(self._caret.on_dialogs)

    def _make_commands(self) -> None:
        self.session = ScreenSession(
            self.conversations,
            self.runner,
            self.document,
            self.past,
            self.transcript,
            self.drafts,
            self.notices,
            self.presenter.show,
            self._runtime.start_worker,
            self._app.exit,
        )
        self._conversation_failed.connect(self.session.leave)
        self.keys = KeyTable(self.chords)
        between_dialogs = BetweenDialogs(
            self.dialogs, self._runtime.handover, self.composer.insert, self._runtime.set_timer
        )
        self._dialogs_changed.connect(between_dialogs.on_dialogs)
        self._start_command: Callable[[Awaitable[None]], None] = lambda work: (
            self._runtime.start_worker(between_dialogs.command(work))
        )
        self.command_api = CommandApi(
            self.session,
            self.appearance,
            self.workspace,
            self.keys,
            self.composer,
            self.dialogs,
            between_dialogs,
            self.notices,
        )
        self.submission = Submission(
            self.command_api,
            self.conversations,
            self.runner,
            self.bang_commands,
            self.presenter.show,
            self._runtime.start_worker,
            self._start_command,
        )

    def _make_keyboard(self) -> None:
        keyboard = Keyboard(
            KeyboardParts(
                runtime=self._runtime,
                screen=self.main_screen,
                table=self.keys,
                panels=KeyPanels(
                    self.command_api,
                    self.keys,
                    self.document,
                    self.transcript,
                    self.submission.submit,
                    self._start_command,
                ),
                chords=self.chords,
                document=self.document,
                past=self.past,
                history=self.history,
                typed_prompts=self.typed_prompts,
                conversations=self.conversations,
                runner=self.runner,
                bang_commands=self.bang_commands,
                unsent=self.unsent,
                editing=self.editing,
                notices=self.notices,
                lines=self.lines,
                user_status=self.user_status,
                workspace=self.workspace,
                shell_env=self.options.shell_env,
                program_env=self.options.program_env,
                clock=self._clock,
                on_reading=self._caret.on_reading,
                submit=self.submission.submit,
                leave=self.session.leave,
                undo_files=self.undo_offer.take,
                redraw=self._app.invalidate_screen,
                suspend=self._app.action_suspend_process,
            )
        )
        self.keyboard = self._keyboard.bind(keyboard)
        self.dialogs.suspend = self._app.action_suspend_process
        self.status_line.mode_pressed = partial(self.keys.perform, "chat:cycleMode")
        self.transcript.changes_pressed = partial(self.submission.submit, "/diff")
        self._text_changed.connect(keyboard.text_changed)
