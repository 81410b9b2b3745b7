"""The screen: wires conversation, document, components and keys together, and holds no logic.

Next: `tui.prompt_runner` (what runs), `tui.document` (what is shown), `tui.commands` (`/`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker

from agent.user_prompt import Prompt
from permissions.mode import Mode
from themes.theme import Role, Theme
from tui.attention import Attention
from tui.bridge import EventBridge, FrameClock
from tui.command_screen import AnswerT, AsksFor
from tui.commands import candidates, run_command
from tui.completion import Completion, complete, mentioned
from tui.components.activity_line import FRAME_S, ActivityLine, ActivityView
from tui.components.completion_menu import CompletionMenu
from tui.components.composer import Composer
from tui.components.status_line import MODE_ROLES, Status, StatusLine
from tui.components.todo_panel import TodoPanel
from tui.components.transcript import Transcript
from tui.components.welcome import welcome_rows
from tui.conversation_port import ConversationPort, MakeConversation, ScreenPorts
from tui.dialogs.host import DialogHost
from tui.document import Document
from tui.external_editor import EditorFailed
from tui.file_picker import FilePicker
from tui.history_search import HistorySearch
from tui.input.actions import Context
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.keymap import ChordReader, Keymap, Match, Pending, default_keymap
from tui.input.priority import EventKind
from tui.input.routed import RoutedApp
from tui.prompt_history import PromptHistory
from tui.prompt_runner import PromptRunner
from tui.screen.presenter import CellOutput
from tui.shown import shown_line
from tui.text.buffer import Draft, TextBuffer
from tui.text.highlight import Highlighter
from tui.theme import Palette, textual_theme

if TYPE_CHECKING:
    from agent.commands.center import CommandCenter
    from agent.commands.registry import CommandRegistry
    from agent.events import AgentEvent
    from agent.files.index import FileIndex
    from agent.messages import Message
    from agent.session.prompt_log import PromptLog
    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from tui.dialogs.permission import GrantOffer
    from tui.shell_command import ShellCommand

LOW_SCREEN_ROWS: Final = 10
FOLDER_CELLS: Final = 30
DRAFT_S: Final = 2.0
"""How much typing a crash may cost."""
STATUS_QUIET_S: Final = 0.3
"""How long the session must be quiet before the status line command runs again."""
AT_ANY_TIME: Final = frozenset({"help", "theme", "exit", "quit"})
"""Commands that need no conversation."""
ASK_NOTICE_S: Final = 6.0
IDLE_NOTICE_S: Final = 60.0
"""How long nobody reacts to a question, or to an answer, before hooks are told."""

LEAVE_S: Final = 2.0
"""How long the first Ctrl+C or Ctrl+D on an empty prompt waits for the second."""


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the entry point knows before the first frame."""

    theme: Theme
    version: str = ""
    folder: Path = field(default_factory=Path)
    home: Path = field(default_factory=Path)
    no_color: bool = False
    keymap: Keymap = field(default_factory=default_keymap)
    history: tuple[str, ...] = ()
    initial_prompt: str = ""
    agent_home: Path | None = None
    """Settings, keys and history; None keeps nothing."""
    themes_dir: Path | None = None
    shell_env: Mapping[str, str] = field(default_factory=dict)
    """Environment of commands typed after `!`, secrets already removed."""
    notices: tuple[str, ...] = ()
    """Lines to show at the start: warnings of settings, what a resume repaired."""


@dataclass(frozen=True, slots=True)
class ExitReport:
    """What is left to say on the normal screen."""

    session_id: str | None
    last_answer: str
    error: str = ""
    """Why the program could not go on; empty when the person left."""


class AgentApp(CellOutput[ExitReport], RoutedApp[ExitReport]):
    """The interactive program."""

    CSS = """
    Screen { overflow: hidden; }
    """
    ENABLE_COMMAND_PALETTE = True
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
        clock: Callable[[], float] = time.monotonic,
        edit_text: Callable[[str], str] | None = None,
        edit_path: Callable[[Path], None] | None = None,
        release: Callable[[str | None], Awaitable[None]] | None = None,
    ) -> None:
        """Take how the conversation is made; nothing is made before the first frame.

        `release` ends the conversation, so that the next one made is the named session, or new.
        """
        is_plain = options.no_color or options.theme.uses_terminal_palette
        super().__init__(ansi_color=True if is_plain else None)
        self.options = options
        self.palette = Palette(options.theme, no_color=options.no_color)
        self.register_theme(textual_theme(options.theme))
        self.theme = f"agent-{options.theme.name}"
        self._make_conversation = make_conversation
        self._suggest_grants = suggest_grants
        self._clock = clock
        self._edit_text = edit_text
        self._edit_path = edit_path
        self._release = release
        self._has_conversation = asyncio.Event()
        self._ports: ScreenPorts | None = None
        self._prompt_log: PromptLog | None = None
        self._own_index: FileIndex | None = None
        self._early_typed: list[str] = []
        self._notification: Timer | None = None
        self.attention = Attention(self._write_raw, self._attention_channel)
        self._status_timer: Timer | None = None
        self._status_run: Worker[None] | None = None
        self._own_status: tuple[str, ...] = ()
        self.conversation: ConversationPort | None = None
        self.document = Document()
        self.history = PromptHistory(options.history)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self.highlighter = Highlighter(self._executor, self._on_highlights)
        self.chords = ChordReader(options.keymap)
        self.bridge = EventBridge(self._fold, self._show_document, lambda: self.output_is_slow)
        self._highlight_clock = FrameClock(self._show_highlights)
        self.runner = PromptRunner(
            self.bridge.put, self._on_prompt_start, self._on_prompt_end, self._start_worker
        )
        self.transcript = Transcript(self.highlighter, id="transcript")
        self.dialogs = DialogHost(self.chords, self._give_back, self._on_dialogs, id="dialogs")
        self.activity = ActivityLine(id="activity")
        self.todo_panel = TodoPanel(id="todos")
        self.composer = Composer(self._on_text, id="composer")
        self.menu = CompletionMenu(id="menu")
        self.search = HistorySearch(
            self.history, self.composer, self.chords, load_everywhere=self._load_everywhere
        )
        self.files = FilePicker(
            self._file_index, self._start_worker, self.call_next_frame, self._on_files_found
        )
        self.status_line = StatusLine(id="status")
        self._spinner: Timer | None = None
        self._spinner_frame = 0
        self._early_cycles = 0
        self._is_interrupting = False
        self._leave_key = ""
        self._leave_until_s = 0.0
        self._hint_timer: Timer | None = None
        self._hint = ""
        self._stash: list[Draft] = []
        self._is_detailed = False
        self._shows_todos = False
        self._draft_timer: Timer | None = None
        self._shells: list[ShellCommand] = []
        self._actions = self._action_table()

    # Parts

    def compose(self) -> ComposeResult:
        """Yield the parts from top to bottom."""
        yield self.transcript
        yield self.dialogs
        yield self.activity
        yield self.todo_panel
        yield self.composer
        yield self.menu
        yield self.status_line

    def on_mount(self) -> None:
        """Show what is known, and begin once that is on the screen."""
        self.router.reserve("ctrl+c", self._on_ctrl_c)
        self.router.reserve("ctrl+d", self._on_ctrl_d)
        for phase, handler, kinds in self._listeners():
            self.router.listen(self, phase, handler, kinds)
        self.shows_caret = True
        self._show_header()
        for notice in self.options.notices:
            self.document.add_notice("warning", notice)
        self.composer.focus()
        self._show_document()
        self.call_after_refresh(lambda: self._start_worker(self._begin()))

    async def on_unmount(self) -> None:
        """Release what the app owns."""
        self.bridge.clock.stop()
        self._highlight_clock.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)
        await self.files.aclose()

    async def _begin(self) -> None:
        """Make the conversation after the first frame."""
        # Dialogs take some 30 ms to import; the first frame does not wait for them.
        from tui.dialogs.people import DialogContender, ScreenPerson

        contender = DialogContender(
            self.dialogs, self.highlighter, self._suggest_grants, self._preview
        )
        person = ScreenPerson(self.dialogs, self.highlighter)
        self._ports = ScreenPorts(contender, person, person.trust, person.onboard)
        await self._take_conversation()
        if self.options.initial_prompt and self.conversation is not None:
            self.submit(self.options.initial_prompt)
        if self.options.agent_home is not None and self._is_live:
            from tui.key_file import follow_keys  # after the first frame

            defaults = self.options.keymap
            self._start_worker(
                follow_keys(self.options.agent_home, defaults, self._use_keys, self.notice_of_level)
            )

    async def _take_conversation(self) -> None:
        """Make a conversation and show it."""
        assert self._ports is not None
        try:
            conversation = await self._make_conversation(self._ports)
        except Exception as error:  # noqa: BLE001 - start-up failures of any kind end in one line
            self.leave(error=str(error) or type(error).__name__)
            return
        self.conversation = conversation
        self.document.restore(conversation.messages)
        self.document.todos = conversation.todos
        for _ in range(self._early_cycles):
            conversation.cycle_mode()
        self._early_cycles = 0
        self.runner.attach(conversation)
        self._has_conversation.set()
        self._show_document()
        self._start_worker(self._settle_in())

    async def _settle_in(self) -> None:
        """What can wait until a conversation is shown: history, command files, status line."""
        center = self.commands
        if center is None or self.options.agent_home is None:
            return
        from agent.session.prompt_log import PromptLog  # after the first frame

        log = self._prompt_log = PromptLog(
            self.options.agent_home, center.context.settings().project_root
        )
        early, self._early_typed = self._early_typed, []
        recent = await asyncio.to_thread(log.recent, 500)
        for text in early:
            await self._keep_typed(log, text, center.context.session.session_id)
        self.history.extend_older([prompt.text for prompt in recent])
        center.custom.watch()
        for problem in center.custom.problems:
            self.notice(str(problem), "warning")
        if center.custom.waiting:
            names = ", ".join(f"/{name}" for name in center.custom.waiting[:5])
            self.notice(f"{names} of this project wait for trust: /trust", "info")
        self._plan_status()

    async def restart(self, session_id: str | None) -> None:
        """Leave this conversation for another session, or for a new one."""
        if self._release is None or self.conversation is None:
            self.notice("not possible here", "warning")
            return
        if self.runner.is_running:
            self.notice("interrupt first: a prompt is being worked on", "warning")
            return
        self.runner.detach()
        self._has_conversation.clear()
        self.conversation = None
        self.document.start_over()
        self._show_document()
        await self._release(session_id)
        await self._take_conversation()

    def _preview(self, tool_use_id: str) -> Any:
        return self.conversation.preview_of(tool_use_id) if self.conversation is not None else None

    def _start_worker(self, work: Awaitable[None]) -> None:
        self.run_worker(work, exit_on_error=True)

    @property
    def _is_live(self) -> bool:
        """Whether there is a screen: not yet before the first frame, no more while closing."""
        return bool(self.screen_stack) and self.status_line.is_attached

    # Events to frames

    def _fold(self, event: AgentEvent) -> None:
        if event.type == "permission_resolved" and self.document.is_asking(event.tool_use_id):
            self._say_who_decided(event.decision)
        self.document.apply(event, at_s=self._clock())

    def _say_who_decided(self, decision: Decision) -> None:
        """A dialog that closed by itself must not leave the person guessing."""
        if decision.source != "user":
            verb = "allowed" if decision.behavior == "allow" else "denied"
            self._show_hint(f"{verb} by {decision.source}: {shown_line(decision.message)}")

    def _show_document(self) -> None:
        """Show what changed in the document."""
        if not self._is_live:
            return
        first = self.document.take_first_changed()
        if first is not None:
            self.transcript.show(first, self.document.blocks)
        self._show_lines()

    def _show_lines(self) -> None:
        if not self._is_live:
            return
        is_asking = self.dialogs.open_count > 0
        queued = tuple(prompt.text for prompt in self.runner.queued)
        view = ActivityView(
            self.document.activity,
            self._clock(),
            self._spinner_frame,
            queued,
            self._is_interrupting,
        )
        self.activity.display = not is_asking
        self.activity.show(view)
        self.composer.display = self.menu.display = not is_asking
        # Every row of a low window is needed for the question.
        self.status_line.display = not is_asking or self.size.height > LOW_SCREEN_ROWS
        self.todo_panel.show(self.document.todos if self._shows_todos else ())
        self.status_line.show(self._status())
        self.composer.set_mode_role(_rule_role(self.mode))
        self._set_spinner(self.document.activity.is_working and not is_asking)

    def _status(self) -> Status:
        conversation = self.conversation
        folder = self.display_path(self.options.folder)
        if conversation is None:
            return Status(folder=folder, hint=self._hint)
        figures = self.document.figures
        return Status(
            mode=conversation.mode,
            model=conversation.model,
            effort=conversation.effort,
            context_tokens=figures.context_tokens or conversation.context_tokens,
            context_window=figures.context_window or conversation.context_window,
            cost_usd=figures.cost_usd or conversation.cost_usd,
            folder=_short_path(self.display_path(conversation.cwd)),
            branch=conversation.branch,
            is_demo=conversation.is_demo,
            own=tuple(line for line in self._own_status if line),
            hint=self._hint,
        )

    def display_path(self, path: Path) -> str:
        """Return a folder as people write it."""
        try:
            inside = path.relative_to(self.options.home)
        except ValueError:
            return str(path)
        return "~" if not inside.parts else f"~/{inside}"

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self.conversation.mode if self.conversation is not None else Mode.DEFAULT

    def _set_spinner(self, is_turning: bool) -> None:
        """Turn the spinner while something works and the line is fast; stop the timer otherwise."""
        if is_turning and self._spinner is None:
            self._spinner = self.set_interval(FRAME_S, self._turn_spinner)
        elif not is_turning and self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _turn_spinner(self) -> None:
        if not self.output_is_slow:
            self._spinner_frame += 1
        self._show_lines()

    def _on_highlights(self) -> None:
        self._highlight_clock.request()

    def _show_highlights(self) -> None:
        if self._is_live:
            self.transcript.highlights_ready()

    def _on_prompt_start(self, prompt: Prompt) -> None:
        self._is_interrupting = False
        self._stop_notification()
        # The end of the run before may still wait for its frame, and ends what it finds.
        self.bridge.flush()
        self.document.add_prompt(prompt.text, at_s=self._clock())
        self.bridge.clock.request()

    def _on_prompt_end(self) -> None:
        if not self._is_interrupting:
            self.attention.call("done")
            self._plan_notification("idle_prompt", IDLE_NOTICE_S, "Waiting for your next request.")
        self._is_interrupting = False
        self._plan_status()
        self.bridge.flush()
        self.document.stop()
        self._show_document()

    def _on_dialogs(self) -> None:
        self._stop_notification()
        if self.dialogs.open_count:
            self.attention.call("waits for your answer")
            self._plan_notification("permission_prompt", ASK_NOTICE_S, "Waiting for your answer.")
        self._show_lines()
        if not self._is_live:
            return
        if not self.dialogs.open_count:
            self.composer.focus()
            self.call_after_refresh(self.composer.refresh_text)
        self.shows_caret = not self.dialogs.open_count or self.dialogs.has_caret

    def _plan_notification(self, kind: str, after_s: float, message: str) -> None:
        """Tell Notification hooks once nobody has reacted for a while; no timer without a hook."""
        self._stop_notification()
        conversation = self.conversation
        if conversation is None or not conversation.wants_notifications:
            return
        self._notification = self.set_timer(
            after_s, lambda: self._start_worker(conversation.notify(kind, message))
        )

    def _stop_notification(self) -> None:
        if self._notification is not None:
            self._notification.stop()
            self._notification = None

    def _give_back(self, text: str) -> None:
        self.composer.insert(text)

    # Sending

    def submit(self, text: str) -> None:
        """Send a prompt, or run a command."""
        if text.startswith("/"):
            self._start_worker(self._run_command(text))
            return
        if text.startswith("!") and text[1:].strip():
            self._start_worker(self._run_shell(text[1:].strip()))
            return
        self.send(text)

    def send(self, text: str) -> None:
        """Send a prompt to the model as it is."""
        self.runner.submit(Prompt(text))
        self.transcript.to_end()
        self._show_document()

    async def _run_command(self, text: str) -> None:
        name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
        if name not in AT_ANY_TIME:
            await self._has_conversation.wait()
        await run_command(text, self)
        self._show_document()

    async def _run_shell(self, command: str) -> None:
        """Run the person's own command, then tell the model of it."""
        from agent.messages import new_uid  # both rarely used: not for the first frame
        from tui.shell_command import ShellCommand

        folder = self.conversation.cwd if self.conversation is not None else self.options.folder
        shell = ShellCommand(command, folder, self.options.shell_env, new_uid())
        self._shells.append(shell)
        self.document.add_prompt(f"!{command}", kind="shell", at_s=self._clock())
        self.transcript.to_end()
        try:
            async for event in shell.events():
                await self.bridge.put(event)
        finally:
            self._shells.remove(shell)
        self.bridge.flush()
        self.runner.submit(Prompt(shell.note()))

    @property
    def commands(self) -> CommandCenter | None:
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
    def themes_dir(self) -> Path | None:
        """Where the person's own themes are."""
        return self.options.themes_dir

    @property
    def folder(self) -> Path:
        """The folder that is worked in."""
        return self.options.folder

    @property
    def action_ids(self) -> frozenset[str]:
        """The actions that keys of the main screen can do."""
        return frozenset((*self._actions, "app:interrupt", "app:exit"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer our own commands in Textual's palette."""
        for command in candidates(self.registry):
            run = partial(self.submit, f"/{command.label}")
            yield SystemCommand(command.label.capitalize(), command.detail, run)

    def leave(self, error: str = "") -> None:
        """End the program; the report is printed on the normal screen."""
        session_id = self.conversation.session_id if self.conversation is not None else None
        self.exit(ExitReport(session_id, self.document.last_answer, error))

    def notice(self, text: str, level: str = "info") -> None:
        """Add a line of our own to the transcript."""
        self.document.add_notice(level, text)
        self._show_document()

    def notice_of_level(self, text: str, level: str) -> None:
        """Add a line of our own, told apart by its level."""
        self.notice(text, level)

    def hint(self, text: str) -> None:
        """Say something in the status line for a moment."""
        self._show_hint(text)

    def compact(self, focus: str) -> None:
        """Summarise the history."""
        if self.conversation is not None:
            self.runner.run_events(self.conversation.compact(focus))

    async def show_dialog(self, dialog: AsksFor[AnswerT]) -> AnswerT:
        """Show a dialog and return its answer."""
        from tui.dialogs.people import show  # with the first dialog, see `_begin`

        return await show(self.dialogs, dialog)

    def edit_file(self, path: Path) -> None:
        """Open a file in the person's editor; the screen is theirs until it ends."""
        if self._edit_path is None:
            self.notice(f"no editor: set $VISUAL or $EDITOR, or open {path} yourself", "warning")
            return
        try:
            with self.suspend():
                self._edit_path(path)
        except EditorFailed as error:
            self.notice(str(error), "warning")
        self.invalidate_screen()

    async def keep_setting(self, key: str, value: object) -> None:
        """Write one of the person's own settings."""
        if self.options.agent_home is None:
            return
        from agent.errors import AgentError  # with the first setting that is kept
        from agent.settings.change import set_value

        file = self.options.agent_home / "settings.json"
        try:
            await asyncio.to_thread(set_value, file, key, value)
        except (AgentError, OSError) as error:
            self.notice(f"not kept: {error}", "warning")

    def _use_keys(self, keymap: Keymap) -> None:
        self.options = replace(self.options, keymap=keymap)
        self.chords.keymap = keymap

    def show_history(self, messages: Sequence[Message]) -> None:
        """Show the conversation anew, as it is after going back."""
        self.document.clear()
        self.document.restore(messages)
        self._show_document()

    def use_folder(self, folder: Path) -> None:
        """Work in another folder than the one the program was started in: the demo's copy."""
        self.options = replace(self.options, folder=folder)
        self._show_header()
        self._show_lines()

    def _show_header(self) -> None:
        folder = self.display_path(self.options.folder)
        self.transcript.set_header(welcome_rows(self.options.version, folder))

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

    # Keys

    def _listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        return [
            (Phase.CAPTURE, self._on_key_event, (EventKind.KEY,)),
            (Phase.CAPTURE, self._on_window_event, (EventKind.FOCUS, EventKind.BLUR)),
        ]

    def _on_window_event(self, event: RoutedEvent) -> None:
        self.attention.focused(event.kind is EventKind.FOCUS)

    def _write_raw(self, text: str) -> None:
        """Write what moves no cursor: a title, a bell."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(text)

    def _attention_channel(self) -> str:
        center = self.commands
        values = center.context.settings().values if center is not None else None
        return (values.preferredNotifChannel if values is not None else None) or "auto"

    def _on_key_event(self, event: RoutedEvent) -> None:
        """Turn a key into its action, before the focused component sees it."""
        if self.dialogs.open_count or len(self.screen_stack) > 1:
            return
        if self.search.is_open:
            event.claim()
            if self.search.press(event) == "send":
                self._submit()
            return
        if self.menu.is_open and self._press_in_menu(event):
            event.claim()
            return
        contexts = (Context.CHAT, Context.TASK, Context.SCROLL)
        match self.chords.press(event.key, contexts):
            case Match(action_id=action_id):
                perform = self._actions.get(action_id)
                if perform is not None and perform() is not False:
                    event.claim()
            case Pending():
                event.claim()
            case None:
                pass

    def _action_table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does; False from it: the key is not for it after all."""
        return {
            "chat:submit": self._submit,
            "chat:newline": self._newline,
            "chat:cancel": self._cancel,
            "chat:rewind": self._clear_draft,
            "chat:clearInput": self.invalidate_screen,
            "app:redraw": self.invalidate_screen,
            "chat:clearScreen": partial(self.submit, "/clear"),
            "chat:cycleMode": self._cycle_mode,
            "chat:modelPicker": partial(self.submit, "/model"),
            "chat:undo": self._undo,
            "chat:externalEditor": self._open_editor,
            "chat:stash": self._swap_stash,
            "chat:help": self._help_on_empty,
            "chat:copyAnswer": self._copy_answer,
            "task:background": self._to_background,
            "chat:imagePaste": self._paste_image,
            "history:previous": self._previous,
            "history:next": self._next,
            "history:search": self.search.open,
            "app:toggleTranscript": self._toggle_detail,
            "app:toggleTodos": self._toggle_todos,
            "app:suspend": self.action_suspend_process,
            "scroll:lineUp": partial(self._scroll_rows, -1),
            "scroll:lineDown": partial(self._scroll_rows, 1),
            "scroll:pageUp": partial(self._scroll_pages, -1.0),
            "scroll:pageDown": partial(self._scroll_pages, 1.0),
            "scroll:fullPageUp": partial(self._scroll_pages, -1.0),
            "scroll:fullPageDown": partial(self._scroll_pages, 1.0),
            "scroll:halfPageUp": partial(self._scroll_pages, -0.5),
            "scroll:halfPageDown": partial(self._scroll_pages, 0.5),
            "scroll:top": self._to_start,
            "scroll:bottom": self._to_end,
            "selection:copy": self._copy_selection,
        }

    def _newline(self) -> None:
        self.composer.insert("\n")

    def _undo(self) -> None:
        self.composer.edit(TextBuffer.undo)

    def _scroll_rows(self, rows: int) -> None:
        self.transcript.scroll_rows(rows)

    def _scroll_pages(self, pages: float) -> None:
        self.transcript.scroll_pages(pages)

    def _to_start(self) -> None:
        self.transcript.to_start()

    def _to_end(self) -> None:
        self.transcript.to_end()

    def _submit(self) -> None:
        buffer = self.composer.buffer
        text = buffer.text
        if text.endswith("\\") and buffer.cursor == len(text):
            self.composer.edit(lambda b: b.backspace())
            self.composer.insert("\n")
            return
        if not text.strip():
            return
        draft = self.composer.take()
        self.history.add(draft)
        text = draft.expanded.strip("\n")
        if self._prompt_log is None and self.options.agent_home is not None:
            self._early_typed.append(text)
        elif self._prompt_log is not None and self.conversation is not None:
            self._start_worker(
                self._keep_typed(self._prompt_log, text, self.conversation.session_id)
            )
        self.submit(text)

    async def _keep_typed(self, log: PromptLog, text: str, session_id: str) -> None:
        from agent.session.prompt_log import TypedPrompt  # imported with the log

        try:
            await asyncio.to_thread(log.add, TypedPrompt(text, session_id, time.time()))
        except OSError as error:
            # What was typed is in the session as well; the history is a comfort.
            self.notice(f"what you type is not kept for next time: {error.strerror}", "warning")

    def _load_everywhere(self) -> None:
        if self._prompt_log is not None:
            self._start_worker(self._read_everywhere(self._prompt_log))

    async def _read_everywhere(self, log: PromptLog) -> None:
        def read() -> list[str]:
            return [prompt.text for prompt in log.recent(2_000, scope="everywhere")]

        self.history.set_everywhere(await asyncio.to_thread(read))
        self.search.refresh()

    def _paste_image(self) -> None:
        self._start_worker(self._take_image())

    async def _take_image(self) -> None:
        """Keep the clipboard's picture in the session's own folder and mention it."""
        center = self.commands
        folder = center.context.gate.context.scratch_dir if center is not None else None
        if center is None or folder is None:
            return
        from agent.files.clipboard_image import read_clipboard_image  # with the first picture
        from agent.messages import new_uid

        data = await read_clipboard_image(dict(self.options.shell_env))
        if data is None:
            self._show_hint("no picture on the clipboard")
            return
        path = folder / f"pasted-{new_uid()[:8]}.png"
        try:
            await asyncio.to_thread(path.write_bytes, data)
        except OSError as error:
            self.notice(f"the picture cannot be kept: {error.strerror}", "warning")
            return
        self.composer.insert(f'@"{path}" ' if " " in str(path) else f"@{path} ")

    def _to_background(self) -> bool:
        """Let the running command go on; False when none runs, so that the key moves the cursor."""
        if self.conversation is None or not self.conversation.send_to_background():
            return False
        self._show_hint("goes on in the background: /tasks")
        return True

    def _cancel(self) -> None:
        if self.transcript.marked_text:
            self.transcript.clear_mark()
            return
        if self._shells:
            self._shells[-1].kill()
            return
        if self.runner.is_running and self.runner.interrupt():
            self._is_interrupting = True
            self._show_lines()

    def _clear_draft(self) -> None:
        """Clear the draft, which stays in the history; without one, offer to go back."""
        if not self.composer.buffer.is_empty:
            self.history.add(self.composer.take())
        elif not self.runner.is_running:
            self.submit("/rewind")

    def _cycle_mode(self) -> None:
        if self.conversation is None:
            self._early_cycles += 1
            return
        self.conversation.cycle_mode()
        self._plan_status()
        self._show_lines()

    def _previous(self) -> None:
        if self.composer.move_row(-1):
            return
        if self.composer.buffer.is_empty and self.runner.queued:
            prompts = self.runner.take_back()
            self.composer.insert("\n".join(prompt.text for prompt in prompts))
            self._show_lines()
            return
        draft = self.history.previous(self.composer.buffer.draft)
        if draft is not None:
            self.composer.load(draft)

    def _next(self) -> None:
        if not self.composer.move_row(1):
            draft = self.history.next()
            if draft is not None:
                self.composer.load(draft)

    def _toggle_detail(self) -> None:
        self._is_detailed = not self._is_detailed
        self.transcript.set_detailed(self._is_detailed)

    def _toggle_todos(self) -> None:
        self._shows_todos = not self._shows_todos
        if self._shows_todos and not self.document.todos:
            self._shows_todos = False
            self._show_hint("no task list yet")
        self._show_lines()

    def _swap_stash(self) -> None:
        if not self.composer.buffer.is_empty:
            self._stash.append(self.composer.take())
            self.composer.set_note(" stashed: ctrl+s brings it back ")
        elif self._stash:
            self.composer.load(self._stash.pop())
            self.composer.set_note("")

    def _help_on_empty(self) -> bool:
        if not self.composer.buffer.is_empty:
            return False
        self.submit("/help")
        return True

    def _open_editor(self) -> None:
        if self._edit_text is None:
            self._show_hint("no editor: set $VISUAL or $EDITOR")
            return
        try:
            with self.suspend():
                text = self._edit_text(self.composer.buffer.draft.expanded)
        except EditorFailed as error:
            self.notice(str(error), "warning")
            return
        finally:
            self.invalidate_screen()
        self.composer.edit(lambda buffer: buffer.set_text(text.rstrip("\n")))

    def _copy_answer(self) -> None:
        if self.document.last_answer:
            self.copy_to_clipboard(self.document.last_answer)
            self._show_hint("answer copied")

    def _copy_selection(self) -> None:
        if text := self.transcript.marked_text:
            self.copy_to_clipboard(text)
            self._show_hint("copied")

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        """Say that marked text is on the clipboard."""
        self._show_hint(f"copied {len(message.text)} characters")

    # Completion of commands and files

    def _on_text(self) -> None:
        """Offer what the word at the cursor could mean, and have the draft kept."""
        if self._draft_timer is None and self.conversation is not None:
            self._draft_timer = self.set_timer(DRAFT_S, self._keep_draft)
        draft = self.composer.buffer.draft
        if draft.text.startswith("!") or self.search.is_open:
            self.menu.show(None)
            return
        query = mentioned(draft.text, draft.cursor)
        files = self.files.look(query) if query is not None else []
        offers = candidates(self.registry) if draft.text.startswith("/") else ()
        self.menu.show(complete(draft.text, draft.cursor, offers, files))

    def _keep_draft(self) -> None:
        self._draft_timer = None
        if self.conversation is not None:
            self.conversation.keep_draft(self.composer.buffer.draft.expanded)

    def _file_index(self) -> FileIndex:
        center = self.commands
        if center is not None:
            return center.files
        if self._own_index is None:
            from agent.files.index import FileIndex  # with the first `@`

            root = self.conversation.launch_dir if self.conversation else self.options.folder
            self._own_index = FileIndex(root, self.options.shell_env)
        return self._own_index

    def _on_files_found(self) -> None:
        if self._is_live:
            self._on_text()

    def call_next_frame(self, work: Callable[[], None]) -> None:
        """Do something once what is shown now has been drawn."""
        self.set_timer(FRAME_S / 2, work)

    # The status line command

    def _plan_status(self) -> None:
        """Run the person's status line command once things are quiet for a moment."""
        if self.commands is None or self.commands.context.settings().values.statusLine is None:
            return
        if self._status_timer is not None:
            self._status_timer.stop()
        self._status_timer = self.set_timer(STATUS_QUIET_S, self._run_status)

    def _run_status(self) -> None:
        if self._status_run is not None:
            self._status_run.cancel()
        self._status_run = self.run_worker(self._ask_status(), exit_on_error=True)

    async def _ask_status(self) -> None:
        from agent.status_line import run_status_command, status_input  # only where one is set

        center = self.commands
        line = center.context.settings().values.statusLine if center is not None else None
        if center is None or line is None:
            return
        context = center.context
        given = status_input(context, columns=self.size.width)
        found = await run_status_command(
            line.command, given, cwd=context.session.launch_dir, env=context.env
        )
        if found.problem and self._own_status != ("",):
            self.notice(found.problem, "warning")
        self._own_status = found.lines or (("",) if found.problem else ())
        self._show_lines()

    def _press_in_menu(self, event: RoutedEvent) -> bool:
        """Take a key for the open menu; False leaves it to the prompt."""
        menu, completion = self.menu, self.menu.completion
        if completion is None:
            return False
        match self.chords.press(event.key, (Context.AUTOCOMPLETE,)):
            case Match(action_id="autocomplete:next"):
                menu.move(1)
            case Match(action_id="autocomplete:previous"):
                menu.move(-1)
            case Match(action_id="autocomplete:dismiss"):
                menu.show(None)
            case Match(action_id="autocomplete:accept"):
                self._accept(completion)
            case _ if event.key == "enter":
                is_file = not completion.is_command
                self._accept(completion)
                if is_file:
                    return True
                self._submit()
            case _:
                return False
        return True

    def _accept(self, completion: Completion) -> None:
        text, cursor = completion.applied(self.composer.buffer.text, self.menu.selected)
        chips = self.composer.buffer.draft.chips
        self.composer.load(Draft(text, cursor, chips))
        if not text[:cursor].endswith("/"):
            self.menu.show(None)

    # Ctrl+C and Ctrl+D: interrupt or clear first, leave on the second press

    def _on_ctrl_c(self, event: RoutedEvent) -> None:
        event.claim()
        if self.search.is_open:
            self.search.close()
        elif text := self.transcript.marked_text:
            self.copy_to_clipboard(text)
            self.transcript.clear_mark()
            self._show_hint("copied")
        elif self._leave_key == "ctrl+c" and self._clock() < self._leave_until_s:
            self.leave()
        elif self._shells:
            self._shells[-1].kill()
        elif self.runner.is_running and self.runner.interrupt():
            self._is_interrupting = True
            self._arm_leaving("ctrl+c")
        elif not self.composer.buffer.is_empty and not self.dialogs.open_count:
            self.history.add(self.composer.take())
            self._arm_leaving("ctrl+c")
        else:
            self._arm_leaving("ctrl+c")

    def _on_ctrl_d(self, event: RoutedEvent) -> None:
        event.claim()
        if not self.composer.buffer.is_empty and not self.dialogs.open_count:
            self.composer.edit(lambda buffer: buffer.delete())
        elif self._leave_key == "ctrl+d" and self._clock() < self._leave_until_s:
            self.leave()
        else:
            self._arm_leaving("ctrl+d")

    def _arm_leaving(self, key: str) -> None:
        self._leave_key = key
        self._leave_until_s = self._clock() + LEAVE_S
        self._show_hint(f"press {key.replace('c', 'C', 1).title()} again to leave")

    def _show_hint(self, text: str) -> None:
        """Say something in the status line for a moment."""
        self._hint = text
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(LEAVE_S, self._drop_hint)
        self._show_lines()

    def _drop_hint(self) -> None:
        self._hint = ""
        self._hint_timer = None
        self._show_lines()

    def on_resize(self, event: events.Resize) -> None:
        """Components whose height follows the screen's lay out again."""
        self.composer.rows_changed()


def _short_path(path: str) -> str:
    """Return a path for the status line: the last folders of a long one."""
    if len(path) <= FOLDER_CELLS:
        return path
    return "…/" + path.rsplit("/", 1)[-1]


def _rule_role(mode: Mode) -> Role:
    return Role.FAINT if mode is Mode.DEFAULT else MODE_ROLES[mode]
