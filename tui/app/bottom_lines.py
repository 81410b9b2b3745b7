"""The lines around the prompt: activity, hints, status; and the spinner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace
from textual.timer import Timer

from permissions.mode import Mode
from themes.theme import Role
from tui.app.activity_line import FRAME_S, ActivityView
from tui.app.appearance import Appearance
from tui.app.frame_clock import FrameClock
from tui.app.main_screen import MainScreen, ScreenRuntime
from tui.app.session.conversation_holder import ConversationHolder
from tui.app.session.prompt_runner import PromptRunner
from tui.app.workspace import ScreenWorkspace, short_directory
from tui.input.key_names import display_chord, multiplexer_key
from tui.input.keymap import ChordReader
from tui.status_line.hint import Hint
from tui.status_line.status_widget import MODE_ROLES, StatusLineState, sandbox_text
from tui.status_line.user_status_command import UserStatusCommand
from tui.terminal.title import TerminalTitle
from tui.transcript.agent_rows import list_agents
from tui.transcript.transcript_model import TranscriptModel

LOW_SCREEN_ROWS: Final = 10
STILL_S: Final = 1.0
"""How often elapsed times are updated while the spinner does not turn."""


class BottomLines:
    """Updates the lines; one without changes is not drawn again."""

    def __init__(
        self,
        runtime: ScreenRuntime,
        screen: MainScreen,
        document: TranscriptModel,
        conversations: ConversationHolder,
        runner: PromptRunner,
        frame_clock: FrameClock,
        hint: Hint,
        user_status: UserStatusCommand,
        chords: ChordReader,
        window: TerminalTitle,
        workspace: ScreenWorkspace,
        appearance: Appearance,
        env: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        """`env` describes the terminal; the spinner's timer runs only while a turn does."""
        self._runtime = runtime
        self._screen = screen
        self._document = document
        self._conversations = conversations
        self._runner = runner
        self._frame_clock = frame_clock
        self._hint = hint
        self._user_status = user_status
        self._chords = chords
        self._window = window
        self._workspace = workspace
        self._appearance = appearance
        self._env = env
        self._clock = clock
        self._spinner: Timer | None = None
        self._counter: Timer | None = None
        self._spinner_frame = 0
        self._figures_are_due = True
        self._mode_role: Role | None = None
        self._shows_todos = False

    def toggle_todos(self) -> bool:
        """Show or hide the task list; False if there is none to show."""
        is_visible = not self._shows_todos
        self._shows_todos = is_visible and bool(self._document.todos)
        self.show()
        return self._shows_todos is is_visible

    def show(self) -> None:
        """Update all lines."""
        if not self._runtime.is_live:
            return
        screen, document = self._screen, self._document
        is_asking = screen.dialogs.open_count > 0
        is_working = document.activity.is_working
        self._window.show("asking" if is_asking else "working" if is_working else "idle")
        screen.activity.display = not is_asking
        screen.activity.show(self._activity())
        screen.transcript_bar.display = not is_asking
        is_prompting = not is_asking and not screen.transcript_bar.is_open
        screen.composer.display = screen.menu.display = is_prompting
        # In a low window every row is needed for the dialog.
        screen.status_line.display = not is_asking or self._runtime.size.height > LOW_SCREEN_ROWS
        screen.todo_panel.show(document.todos if self._shows_todos else ())
        agents = self._conversations.agents
        runs = self._conversations.workflow_runs
        screen.agents_panel.show(agents, runs)
        is_still = is_asking or not is_working
        self._count_while(bool(runs or list_agents(agents)) and is_still)
        self._user_status.schedule_if_changed()
        screen.status_line.show(self._status())
        self._show_mode()
        self._turn_while(is_working and not is_asking)

    def _show_mode(self) -> None:
        conversation = self._conversations.current
        mode = conversation.status.mode if conversation is not None else Mode.DEFAULT
        self._workspace.use_mode(mode)
        role = self._appearance.prompt_role if mode is Mode.DEFAULT else MODE_ROLES[mode]
        if role is not self._mode_role:
            self._mode_role = role
            self._screen.composer.set_mode_role(role)

    def shell_hint(self) -> str:
        """Return what the prompt's upper rule shows while a shell command is typed."""
        display = self._chords.keymap.display
        pairs = [(display("autocomplete:accept"), "history")]
        if not self._document.activity.is_working:
            # While a turn runs, this key interrupts it instead.
            pairs.append((display("chat:cancel"), "cancel"))
        keys = [f"{key} {what}" for key, what in pairs if key]
        return " · ".join((" runs at once, the model sees the output", *keys)) + " "

    def text_grew(self) -> None:
        """Update the activity after text of the model; token counts wait for the spinner."""
        is_shown_working = self._screen.activity.view.activity.is_working
        if self._document.activity.is_working is not is_shown_working:
            self.show()
        elif self._runtime.is_live and not self._only_figures_changed:
            self._screen.activity.show(self._activity())

    @property
    def _only_figures_changed(self) -> bool:
        """Whether the activity differs from the shown one only in figures that are not due yet."""
        activity, visible_activity = self._document.activity, self._screen.activity.view.activity
        tokens = visible_activity.output_tokens
        return (
            not self._figures_are_due
            and replace(activity, output_tokens=tokens) == visible_activity
        )

    def _activity(self) -> ActivityView:
        """Return the activity; seconds and tokens change with the spinner, the rest at once."""
        activity = self._document.activity
        now_s = self._clock() if activity.is_working else 0.0
        if self._only_figures_changed:
            activity, now_s = self._screen.activity.view.activity, self._screen.activity.view.now_s
        self._figures_are_due = False
        return ActivityView(
            activity,
            now_s,
            self._spinner_frame,
            tuple(prompt.text for prompt in self._runner.waiting_prompts),
            self._runner.is_interrupting,
            self._stop_key(),
            self._background_key(),
        )

    def _stop_key(self) -> str:
        """Return the keys that interrupt; in vim's insert mode, the first Esc only leaves it."""
        key = self._chords.keymap.display("chat:cancel").lower()
        leaves_insert_mode = key == "esc" and self._screen.composer.vim.mode == "INSERT"
        return f"{key} {key}" if leaves_insert_mode else key

    def _background_key(self) -> str:
        """Return the key that moves a command or agent to the background; "" if none runs."""
        command_service = self._conversations.commands
        context = command_service.context if command_service is not None else None
        if context is None or not (context.shells.has_foreground or context.agents.has_waited_for):
            return ""
        reserved_key = multiplexer_key(self._env)
        chords = self._chords.keymap.keys_of("task:background")
        free = [chord for chord in chords if chord[0] != reserved_key]
        return display_chord((free or chords)[0]) if chords else ""

    def _status(self) -> StatusLineState:
        conversation, workspace = self._conversations.current, self._workspace
        if conversation is None:
            directory = (
                workspace.display_path(workspace.directory) if not workspace.awaits_demo else ""
            )
            return StatusLineState(mode=None, directory=directory, hint=self._hint.text)
        figures = self._document.figures
        command_service = self._conversations.commands
        gate = command_service.context.gate if command_service is not None else None
        return StatusLineState(
            denials=gate.denials.short if gate is not None else "",
            sandbox=sandbox_text(gate.context.sandbox) if gate is not None else "",
            orchestrates=command_service is not None
            and command_service.context.orchestration.is_on,
            mode=conversation.status.mode,
            model=conversation.status.model,
            effort=conversation.status.effort,
            is_unthinking=conversation.status.can_think and not conversation.status.thinks,
            context_tokens=figures.context_tokens or conversation.status.context_tokens,
            context_window=figures.context_window or conversation.status.context_window,
            cost_usd=figures.cost_usd or conversation.status.cost_usd,
            directory=short_directory(conversation.view.cwd, workspace.home),
            branch=conversation.view.branch,
            is_demo=conversation.view.is_demo,
            running=self._conversations.background_count,
            own=self._user_status.lines,
            hint=self._hint.text,
        )

    def _count_while(self, has_agents: bool) -> None:
        """Update the figures of background agents every second; stop once there are none."""
        if has_agents and self._counter is None:
            self._counter = self._runtime.set_interval(STILL_S, self.show)
        elif not has_agents and self._counter is not None:
            self._counter.stop()
            self._counter = None

    def _turn_while(self, is_working: bool) -> None:
        if is_working and self._spinner is None:
            self._spinner = self._runtime.set_interval(
                STILL_S if self._is_motion_reduced else FRAME_S, self.turn
            )
        elif not is_working and self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    @property
    def _is_motion_reduced(self) -> bool:
        """Whether the user has turned off animation."""
        command_service = self._conversations.commands
        values = command_service.context.settings().values if command_service is not None else None
        return bool(values and (values.reducedMotion or values.prefersReducedMotion))

    def turn(self) -> None:
        """Turn the spinner by one step, unless the connection is slow or animation is off."""
        if not (self._runtime.output_is_slow or self._is_motion_reduced):
            self._spinner_frame += 1
        self._figures_are_due = True
        # While output is pending, the next frame includes the step.
        if not self._frame_clock.is_waiting:
            self.show()
