"""The lines around the prompt: what goes on, what to do, what is in force; and the spinner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace
from textual.geometry import Size
from textual.timer import Timer

from permissions.mode import Mode
from themes.theme import Role
from tui.app.activity_line import FRAME_S, ActivityLine, ActivityView
from tui.app.app_options import AppOptions
from tui.app.frame_clock import EventBridge
from tui.app.prompt_runner import PromptRunner
from tui.app.short_path import from_home, short_folder
from tui.app.todo_panel import TodoPanel
from tui.dialogs.host import DialogHost
from tui.input.key_names import display_chord, multiplexer_key
from tui.input.keymap import ChordReader
from tui.ports.conversation import ConversationPort
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.composer import Composer
from tui.status_line.hint import Hint
from tui.status_line.user_status_command import UserStatusCommand
from tui.status_line.widget import MODE_ROLES, StatusLine, StatusLineState
from tui.terminal.title import TerminalTitle
from tui.transcript.model import TranscriptModel
from tui.transcript.reading.reading_bar import ReadingBar

if TYPE_CHECKING:
    from agent.commands.service import CommandService

LOW_SCREEN_ROWS: Final = 10
STILL_S: Final = 1.0
"""How often the seconds are told where nothing is to move."""


class LinesHost(Protocol):
    """The screen as its lines see it."""

    options: AppOptions
    document: TranscriptModel
    dialogs: DialogHost
    runner: PromptRunner
    bridge: EventBridge
    activity: ActivityLine
    todo_panel: TodoPanel
    composer: Composer
    menu: CompletionMenu
    status_line: StatusLine
    transcript_bar: ReadingBar
    hint_text: Hint
    own_status: UserStatusCommand
    chords: ChordReader
    window: TerminalTitle

    @property
    def conversation(self) -> ConversationPort | None: ...
    @property
    def commands(self) -> CommandService | None: ...
    @property
    def is_live(self) -> bool: ...
    @property
    def size(self) -> Size: ...
    @property
    def output_is_slow(self) -> bool: ...


class Lines:
    """Shows the lines as things are now; a line that is as it was costs nothing."""

    def __init__(
        self,
        host: LinesHost,
        clock: Callable[[], float],
        set_interval: Callable[[float, Callable[[], None]], Timer],
    ) -> None:
        """Take the screen; the timer of the spinner runs only while something works."""
        self._host = host
        self._clock = clock
        self._set_interval = set_interval
        self._spinner: Timer | None = None
        self._spinner_frame = 0
        self._figures_are_due = True
        self._mode_role: Role | None = None
        self._shows_todos = False

    prompt_role: Role = Role.FAINT
    """Colour of the lines around the prompt, where no mode gives them another."""

    @property
    def is_turning(self) -> bool:
        """Whether the spinner's timer runs."""
        return self._spinner is not None

    def toggle_todos(self) -> bool:
        """Show or hide the task list; False when there is none to show."""
        wanted = not self._shows_todos
        self._shows_todos = wanted and bool(self._host.document.todos)
        self.show()
        return self._shows_todos is wanted

    def show(self) -> None:
        """Show everything as it is now."""
        host = self._host
        if not host.is_live:
            return
        is_asking = host.dialogs.open_count > 0
        is_working = host.document.activity.is_working
        host.window.show("asking" if is_asking else "working" if is_working else "idle")
        host.activity.display = not is_asking
        host.activity.show(self._activity())
        host.transcript_bar.display = not is_asking
        is_prompting = not is_asking and not host.transcript_bar.is_open
        host.composer.display = host.menu.display = is_prompting
        # Every row of a low window is needed for the question.
        host.status_line.display = not is_asking or host.size.height > LOW_SCREEN_ROWS
        host.todo_panel.show(host.document.todos if self._shows_todos else ())
        host.own_status.look()
        host.status_line.show(self._status())
        conversation = host.conversation
        mode = conversation.mode if conversation is not None else Mode.DEFAULT
        role = self.prompt_role if mode is Mode.DEFAULT else MODE_ROLES[mode]
        if role is not self._mode_role:
            self._mode_role = role
            host.composer.set_mode_role(role)
        self._turn_while(is_working and not is_asking)

    def text_grew(self) -> None:
        """Show what more text of the model changes: between two turns of the spinner, nothing."""
        if not self._only_figures_moved:
            self.show()

    @property
    def _only_figures_moved(self) -> bool:
        """Whether what goes on is as shown, but for figures whose turn has not come."""
        activity, shown = self._host.document.activity, self._host.activity.view.activity
        tokens = shown.output_tokens
        return not self._figures_are_due and replace(activity, output_tokens=tokens) == shown

    def _activity(self) -> ActivityView:
        """Return what goes on; seconds and tokens move with the spinner, all else at once."""
        host = self._host
        activity = host.document.activity
        now_s = self._clock() if activity.is_working else 0.0
        if self._only_figures_moved:
            activity, now_s = host.activity.view.activity, host.activity.view.now_s
        self._figures_are_due = False
        return ActivityView(
            activity,
            now_s,
            self._spinner_frame,
            tuple(prompt.text for prompt in host.runner.queued),
            host.runner.is_interrupting,
            host.chords.keymap.display("chat:cancel").lower(),
            self._background_key(),
        )

    def _background_key(self) -> str:
        """Return the key that sends a command to the background, while one runs."""
        center = self._host.commands
        if center is None or not center.context.shells.has_foreground:
            return ""
        taken = multiplexer_key(self._host.options.env)
        chords = self._host.chords.keymap.keys_of("task:background")
        free = [chord for chord in chords if chord[0] != taken]
        return display_chord((free or chords)[0]) if chords else ""

    def _status(self) -> StatusLineState:
        host = self._host
        conversation = host.conversation
        home = host.options.home
        if conversation is None:
            awaits_demo = host.options.awaits_demo
            folder = "" if awaits_demo else from_home(host.options.folder, home)
            return StatusLineState(folder=folder, hint=host.hint_text.text)
        figures = host.document.figures
        center = host.commands
        denials = center.context.gate.denials if center is not None else None
        return StatusLineState(
            denied=denials.short if denials is not None else "",
            mode=conversation.mode,
            model=conversation.model,
            effort=conversation.effort,
            is_unthinking=conversation.can_think and not conversation.thinks,
            context_tokens=figures.context_tokens or conversation.context_tokens,
            context_window=figures.context_window or conversation.context_window,
            cost_usd=figures.cost_usd or conversation.cost_usd,
            folder=short_folder(conversation.cwd, home),
            branch=conversation.branch,
            is_demo=conversation.is_demo,
            running=center.context.shells.running_count if center is not None else 0,
            own=host.own_status.lines,
            hint=host.hint_text.text,
        )

    def _turn_while(self, is_working: bool) -> None:
        if is_working and self._spinner is None:
            self._spinner = self._set_interval(STILL_S if self._is_still else FRAME_S, self.turn)
        elif not is_working and self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    @property
    def _is_still(self) -> bool:
        """Whether the user wants nothing to move: the seconds are told, the sign stands."""
        center = self._host.commands
        values = center.context.settings().values if center is not None else None
        return bool(values and (values.reducedMotion or values.prefersReducedMotion))

    def turn(self) -> None:
        """Turn the spinner by one step, unless the line is slow."""
        if not (self._host.output_is_slow or self._is_still):
            self._spinner_frame += 1
        self._figures_are_due = True
        # With output on its way there is a frame to come, which takes the step along.
        if not self._host.bridge.clock.is_waiting:
            self.show()
