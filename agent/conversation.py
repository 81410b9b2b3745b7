"""One conversation with one project: prompts in, agent events out, until the person leaves.

Holds the history and what belongs to it; does not know the screen, files of sessions or the wire.
Made by `agent.assemble`. Next: `agent.loop` (what one prompt does).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agent.abort import AbortController
from agent.commands.center import CommandCenter
from agent.display import Display, TodoItem
from agent.errors import SessionError
from agent.events import (
    AgentEvent,
    ErrorEvent,
    MessageCommitted,
    Notice,
    Terminal,
    Usage,
)
from agent.expansion import Expanded, PromptExpander
from agent.hook_dispatch import HookDispatch
from agent.loop import AgentLoop, LoopPorts
from agent.memory.picture import ContextPicture, picture
from agent.messages import Message, user_message
from agent.model.client import Effort
from agent.prompt.system import note
from agent.session.rewind import RewindPoint, history_before, rewind_points
from agent.side_work import SideWork
from agent.tools.shells import ShellRegistry
from agent.turn import Recovery
from agent.user_prompt import Prompt
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.rule_set import Rule

if TYPE_CHECKING:
    from agent.observe.ledger import Costs
    from agent.session.checkpoint import Checkpoints, Preview, Restored

DEFAULT_MAX_TURNS: Final = 200
DEFAULT_MAX_TURNS_HEADLESS: Final = 50


class Recorder(Protocol):
    """Keeps the conversation on disk; `agent.session.recorder` implements it."""

    @property
    def session_id(self) -> str:
        """The session's identifier."""
        ...

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        ...

    def take_complaint(self) -> str | None:
        """Return what went wrong with the disk since the last call."""
        ...

    async def prompt(self, turn_id: str, text: str) -> None:
        """Record that a prompt begins to be worked on."""
        ...

    async def event(self, event: AgentEvent, history: Sequence[Message]) -> None:
        """Record what belongs into the transcript, durably where it must be."""
        ...

    async def mode(self, mode: str) -> None:
        """Record the permission mode."""
        ...

    async def todos(self, items: Sequence[TodoItem]) -> None:
        """Record the task list."""
        ...

    async def queue(self, prompts: Sequence[str]) -> None:
        """Record the prompts that wait."""
        ...

    async def draft(self, text: str) -> None:
        """Record the half-typed prompt."""
        ...

    async def title(self, title: str) -> None:
        """Record the session's name."""
        ...

    async def rewound(self, to_uid: str | None, history: Sequence[Message]) -> None:
        """Record that the conversation goes on from an earlier message; `history` stays."""
        ...

    async def aclose(self) -> None:
        """Flush and release the session."""
        ...


@dataclass(slots=True)
class Totals:
    """What the conversation used so far, sub-agents included."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    context_tokens: int = 0
    context_window: int = 200_000
    notice: str | None = None
    """What the person should hear about the spending, once."""

    def take_notice(self) -> str | None:
        """Return what there is to hear since the last call."""
        notice, self.notice = self.notice, None
        return notice


@dataclass(frozen=True, slots=True)
class Identity:
    """What does not change while the program runs."""

    launch_dir: Path
    project_root: Path
    is_demo: bool
    endpoint: str
    """Where requests go, as shown to people."""
    branch: str | None = None
    version: str = ""


class Reminders(Protocol):
    """Notes for the model that go in front of a prompt and stay in the history."""

    def first(self) -> Sequence[str]:
        """Return what opens a conversation: environment, instructions, date."""
        ...

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt: mode, date, todo list; usually empty."""
        ...


class ModelSwitch(Protocol):
    """Changes what the next request asks for."""

    async def set_model(self, model: str) -> None:
        """Use another model."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort; None is the model's default."""
        ...


class Conversation:
    """A conversation in progress. One prompt runs at a time; others queue."""

    def __init__(
        self,
        *,
        identity: Identity,
        gate: PermissionGate,
        hooks: HookDispatch,
        ports: LoopPorts,
        recorder: Recorder,
        reminders: Reminders,
        totals: Totals,
        model: Callable[[], str],
        effort: Callable[[], str | None],
        switch: ModelSwitch,
        shells: ShellRegistry,
        max_turns: int,
        previews: Mapping[str, Display | None],
        todos: Callable[[], tuple[TodoItem, ...]],
        cwd: Callable[[], Path],
        tool_names: Sequence[str],
        queue: list[Prompt],
        on_close: Sequence[Callable[[], Awaitable[None]]],
        messages: tuple[Message, ...] = (),
        is_resumed: bool = False,
        observe: Callable[[AgentEvent], None] = lambda _: None,
        token_budget: int | None = None,
        on_start: Callable[[], Awaitable[None]] | None = None,
        checkpoints: Checkpoints | None = None,
        costs: Costs | None = None,
        expander: PromptExpander | None = None,
    ) -> None:
        """Everything is made by `agent.assemble`; `queue` is shared with the loop's ports."""
        self.identity = identity
        self.gate = gate
        self.hooks = hooks
        self._ports = ports
        self._recorder = recorder
        self._reminders = reminders
        self._totals = totals
        self._model = model
        self._effort = effort
        self._switch = switch
        self.shells = shells
        self._max_turns = max_turns
        self._previews = previews
        self._todos = todos
        self._cwd = cwd
        self._tool_names = tuple(tool_names)
        self._queue = queue
        self._on_close = tuple(on_close)
        self._messages = messages
        self._abort: AbortController | None = None
        self._events: AsyncGenerator[AgentEvent, None] | None = None
        self._starting: asyncio.Future[None] | None = None
        self._turn_id = ""
        self._notes: list[str] = []
        self._started = is_resumed and bool(messages)
        self._is_resumed = is_resumed
        self._observe = observe
        self._token_budget = token_budget
        self._on_start = on_start
        self.checkpoints = checkpoints
        """The files as they were before each prompt; None where nothing keeps them."""
        self.costs = costs
        """None where nobody adds them up."""
        self._expander = expander
        self.commands: CommandCenter | None = None
        """What the person can type after `/`; set once everything is put together."""
        self._session_started = False
        self._background: set[asyncio.Task[None]] = set()
        gate.on_mode_change(lambda mode: self._later(recorder.mode(str(mode))))

    # -- what the screen shows --------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """The session's identifier, for `-r`."""
        return self._recorder.session_id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as the model knows it."""
        return self._messages

    @property
    def recovery(self) -> Recovery:
        """How failed requests are retried."""
        return self._ports.recovery

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        return self._recorder.transcript_path

    @property
    def turn_id(self) -> str:
        """The prompt being worked on, or the last one; empty before the first."""
        return self._turn_id

    @property
    def prompts(self) -> tuple[Message, ...]:
        """The person's own messages of the history, oldest first: where `rewind` can go."""
        return tuple(m for m in self._messages if m.origin == "person")

    @property
    def launch_dir(self) -> Path:
        """Where the program was started: the scope."""
        return self.identity.launch_dir

    @property
    def cwd(self) -> Path:
        """The shell's current directory."""
        return self._cwd()

    @property
    def branch(self) -> str | None:
        """The git branch at start; None outside a repository."""
        return self.identity.branch

    @property
    def is_demo(self) -> bool:
        """Whether the scripted demo model answers."""
        return self.identity.is_demo

    @property
    def model(self) -> str:
        """The model in use."""
        return self._model()

    @property
    def effort(self) -> str | None:
        """The effort asked for; None is the model's default."""
        return self._effort()

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self.gate.mode

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The permission rules in force, in the order of their sources."""
        return self.gate.context.rules.rules

    @property
    def usage(self) -> Usage:
        """Tokens of the whole session."""
        return self._totals.usage

    @property
    def cost_usd(self) -> float:
        """Cost of the whole session in US dollars, by the price table."""
        return self._totals.cost_usd

    @property
    def context_tokens(self) -> int:
        """What the next request starts from."""
        return self._totals.context_tokens

    @property
    def context_window(self) -> int:
        """What the model can take, in tokens."""
        return self._totals.context_window

    @property
    def todos(self) -> tuple[TodoItem, ...]:
        """The task list as last written."""
        return self._todos()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools the model has."""
        return self._tool_names

    @property
    def is_running(self) -> bool:
        """Whether a prompt is being worked on."""
        return self._abort is not None

    @property
    def queued(self) -> tuple[Prompt, ...]:
        """Prompts that wait for their turn."""
        return tuple(self._queue)

    def preview_of(self, tool_use_id: str) -> Display | None:
        """Return what a call that waits for permission would do, for the dialog."""
        return self._previews.get(tool_use_id)

    # -- what the person does ---------------------------------------------------------------

    def cycle_mode(self) -> Mode:
        """Go to the next permission mode."""
        return self.gate.cycle_mode()

    def queue(self, prompt: Prompt) -> None:
        """Keep a prompt for after the current tool calls, or for when the current prompt ends."""
        self._queue.append(prompt)
        self._later(self._save_queue())

    def take_back(self) -> list[Prompt]:
        """Return all queued prompts to the person and empty the queue."""
        prompts = list(self._queue)
        self._queue.clear()
        self._later(self._save_queue())
        return prompts

    def forget_queue(self) -> None:
        """Record that nothing waits: what a resumed session had queued went back to the person."""
        self._later(self._save_queue())

    def next_queued(self) -> Prompt | None:
        """Take the oldest queued prompt, or None."""
        if not self._queue:
            return None
        prompt = self._queue.pop(0)
        self._later(self._save_queue())
        return prompt

    def interrupt(self, reason: str = "Interrupted by user") -> bool:
        """End what is running, work kept; return whether anything was."""
        if self._abort is None:
            return False
        self._abort.abort(reason)
        return True

    async def set_model(self, model: str) -> None:
        """Use another model from the next request on; short names such as `opus` are known."""
        await self._switch.set_model(model)

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next request on."""
        self._switch.set_effort(effort)

    @property
    def wants_notifications(self) -> bool:
        """Whether a hook listens for the moments in which the person is waited for."""
        return self.hooks.runner.has("Notification")

    async def notify(self, kind: str, message: str) -> None:
        """Tell Notification hooks that the person is waited for."""
        await self.hooks.notification(kind, message)

    def send_to_background(self) -> bool:
        """Let the running command go on behind the conversation; False when none runs."""
        return self.shells.send_to_background()

    def keep_draft(self, text: str) -> None:
        """Record the half-typed prompt, so that a crash does not lose it."""
        self._later(self._recorder.draft(text))

    # -- one prompt -------------------------------------------------------------------------

    async def start(self) -> list[AgentEvent]:
        """Fire SessionStart, once; return what there is to show as soon as its hooks are done."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)
        return self.hooks.notices()

    async def _start(self) -> None:
        self._session_started = True
        await self.hooks.session_start("resume" if self._is_resumed else "startup", self.model)
        if self._on_start is not None:
            await self._on_start()

    async def run(self, prompt: Prompt) -> AsyncGenerator[AgentEvent, None]:
        """Work on one prompt and yield its events; `Terminal` is the last."""
        if self._abort is not None:
            raise RuntimeError("a prompt is running; queue this one")
        self._abort = AbortController()
        turn_id = self._turn_id = uuid.uuid4().hex
        # An overload passes: each prompt begins with the model that was chosen.
        self._ports.recovery.fallen_back_to = None
        terminal: Terminal | None = None
        try:
            await self._recorder.prompt(turn_id, prompt.text)
            events = self._events = self._run(prompt, turn_id, self._abort)
            async for event in events:
                if isinstance(event, Terminal) and event.agent_id is None:
                    terminal = event
                await self._recorder.event(event, self._messages)
                if event.type == "tool_result" and event.name == "TodoWrite":
                    await self._recorder.todos(self.todos)
                for text in (self._recorder.take_complaint(), self._totals.take_notice()):
                    if text is not None:
                        yield Notice(turn_id, "warning", text)
                self._observe(event)
                yield event
        except Exception as error:  # noqa: BLE001 - isolation boundary: a defect ends the prompt, not the session
            if terminal is None:
                yield ErrorEvent(turn_id, "internal", f"{type(error).__name__}: {error}")
                terminal = Terminal(turn_id, "error", f"{type(error).__name__}: {error}")
                await self._recorder.event(terminal, self._messages)
                yield terminal
        finally:
            if self._expander is not None:
                await self._expander.end_turn()
            self._abort = None

    async def _run(
        self, prompt: Prompt, turn_id: str, abort: AbortController
    ) -> AsyncGenerator[AgentEvent, None]:
        for event in await self.start():
            yield event
        self.hooks.begin_turn(turn_id, prompt.uid)
        outcome = await self.hooks.user_prompt_submit(prompt.text, abort.signal)
        for event in self.hooks.notices():
            yield event
        if outcome is not None and (not outcome.continue_ or outcome.decision in {"block", "deny"}):
            reason = outcome.stop_reason or outcome.reason or "a hook blocked this prompt"
            yield Notice(turn_id, "warning", f"Prompt not sent: {reason}")
            yield Terminal(turn_id, "stop_hook_prevented", reason)
            return
        expanded = Expanded()
        if self._expander is not None:
            async for step in self._expander.expand(prompt, turn_id, abort.signal):
                if isinstance(step, Expanded):
                    expanded = step
                else:
                    yield step
        if abort.signal.aborted or expanded.blocked is not None:
            reason = expanded.blocked or abort.signal.reason or ""
            yield Notice(turn_id, "warning", f"Prompt not sent: {reason}")
            blocked = expanded.blocked is not None
            yield Terminal(turn_id, "stop_hook_prevented" if blocked else "aborted_tools", reason)
            return
        new: list[Message] = []
        notes: list[str] = []
        if not self._started:
            notes = [*self._reminders.first(), *self.hooks.start_context()]
        notes.extend(self._reminders.before_prompt())
        notes.extend(note(text) for text in self._notes)
        self._notes.clear()
        self._started = True
        new.extend(user_message(text, origin="reminder") for text in notes)
        if outcome is not None and outcome.additional_context:
            new.append(user_message(outcome.additional_context, origin="hook"))
        new.extend(expanded.before)
        new.append(prompt.to_message())
        loop = AgentLoop(
            self._ports,
            turn_id=turn_id,
            max_turns=self._max_turns,
            token_budget=self._token_budget,
        )
        events = loop.run(self._messages, new, abort)
        try:
            async for event in events:
                self._messages = loop.messages
                yield event
        finally:
            await events.aclose()
            await self._keep_synthetic(turn_id, loop)

    async def _keep_synthetic(self, turn_id: str, loop: AgentLoop) -> None:
        """Record what the loop added while it was being abandoned."""
        known = len(self._messages)
        if loop.messages[:known] == self._messages:
            for message in loop.messages[known:]:
                await self._recorder.event(MessageCommitted(turn_id, message), loop.messages)
        self._messages = loop.messages or self._messages

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        """Return the prompts to go back to, oldest first, those behind a compaction included.

        Raises:
            SessionError: the session's file cannot be read.
        """
        return await asyncio.to_thread(rewind_points, self.transcript_path)

    async def preview_files(
        self, turn_id: str, paths: Iterable[Path] | None = None
    ) -> Preview | None:
        """Say what going back to before a turn would change in files; None for nothing at all."""
        if self.checkpoints is None:
            return None
        first = await self._first_change(turn_id)
        return await self.checkpoints.preview(first, paths) if first else None

    async def restore_files(
        self, turn_id: str, paths: Iterable[Path] | None = None
    ) -> Restored | None:
        """Put files back as they were before a turn; `redo_id` of the result takes it back.

        Raises:
            SessionError: a prompt is running, or the present cannot be kept; nothing has changed.
        """
        if self.is_running:
            raise SessionError("Interrupt first: a prompt is being worked on.")
        if self.checkpoints is None:
            return None
        first = await self._first_change(turn_id)
        if first is None:
            return None
        restored = await self.checkpoints.restore(first, paths, redo_id=uuid.uuid4().hex[:12])
        files = len(restored.done)
        self._notes.append(
            f"The person put {files} file(s) back as they were before an earlier prompt: "
            + ", ".join(str(change.path) for change in restored.done[:20])
            + ". Read them again before you change them."
        )
        return restored

    async def _first_change(self, turn_id: str) -> str | None:
        """Return the first turn from this one on that changed files: a prompt that changed none
        has no snapshot of its own."""
        assert self.checkpoints is not None
        kept = self.checkpoints.turns
        if turn_id in kept:
            return turn_id
        turns = [point.turn_id for point in await self.rewind_points()]
        later = turns[turns.index(turn_id) :] if turn_id in turns else []
        return next((turn for turn in later if turn in kept), None)

    async def rewind(self, prompt_uid: str) -> str:
        """Go back to before one of the person's messages and return its text.

        The transcript on disk keeps everything; the model no longer sees it. A message behind a
        compaction brings back the history as it was before.

        Raises:
            SessionError: a prompt is running, or there is no such message.
        """
        if self.is_running:
            raise SessionError("Interrupt first: a prompt is being worked on.")
        index = next((i for i, m in enumerate(self._messages) if m.uid == prompt_uid), None)
        if index is None:
            return await self._rewind_behind(prompt_uid)
        text = self._messages[index].text
        while index and self._messages[index - 1].origin in {"reminder", "hook", "interruption"}:
            # What was put in front of the prompt goes with it, and is told anew.
            index -= 1
        self._messages = self._messages[:index]
        self._started = bool(self._messages)
        last = self._messages[-1].uid if self._messages else None
        await self._recorder.rewound(last, self._messages)
        return text

    async def _rewind_behind(self, prompt_uid: str) -> str:
        """Go back behind a compaction: the file still holds what the model no longer sees."""
        points = {point.message_uid: point for point in await self.rewind_points()}
        if prompt_uid not in points:
            raise SessionError("That message is no longer part of the conversation.")
        self._messages = await asyncio.to_thread(history_before, self.transcript_path, prompt_uid)
        self._started = bool(self._messages)
        # What the window holds is not known before the next answer.
        self._totals.context_tokens = 0
        last = self._messages[-1].uid if self._messages else None
        await self._recorder.rewound(last, self._messages)
        return points[prompt_uid].text

    async def rename(self, title: str) -> None:
        """Give the session a name."""
        await self._recorder.title(title.strip())

    def context_picture(self) -> ContextPicture:
        """Return what fills the model's window, part by part."""
        request = self._ports.request(self._messages)
        return picture(
            request.system,
            request.tools,
            self._messages,
            window=self.context_window,
            measured=self.context_tokens,
        )

    async def compact(self, focus: str = "") -> AsyncGenerator[AgentEvent, None]:
        """Summarise the history now, by the person's wish."""
        context = self._ports.context
        turn_id = uuid.uuid4().hex
        if context is None or self.is_running:
            yield Notice(turn_id, "warning", "Nothing can be compacted right now.")
            return
        self._abort = AbortController()
        try:
            work = SideWork(
                context.by_wish(self._messages, focus, self._abort.signal),
                self._ports.calls.side,
                turn_id=turn_id,
            )
            async for event in work.events():
                yield event
            step = work.result
            if step is None:
                text = "There is nothing to compact yet."
                if self._abort.signal.aborted:
                    text = "Interrupted: the conversation stays as it is."
                yield Notice(turn_id, "info", text)
                return
            for text in step.notices:
                yield Notice(turn_id, "info", text)
            if step.event is not None:
                self._messages = step.messages
                self._totals.context_tokens = step.event.tokens_after
                await self._recorder.event(step.event, self._messages)
                yield step.event
        finally:
            self._abort = None

    # -- end --------------------------------------------------------------------------------

    async def aclose(self, reason: str = "other") -> None:
        """Interrupt, fire SessionEnd, flush, release; safe to call twice."""
        if self._abort is not None:
            self._abort.abort("the program is closing")
            await self._end_events()
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        if self._session_started:
            self._session_started = False
            await self.hooks.session_end(reason)
        while self._background:
            await asyncio.wait(set(self._background))
        for close in self._on_close:
            await close()
        await self._recorder.aclose()

    async def _end_events(self) -> None:
        """End a prompt that nobody listens to any more: its calls are closed and recorded."""
        while self._events is not None and self._abort is not None:
            try:
                await self._events.aclose()
            except RuntimeError:
                # Somebody is still iterating: the abort makes that end by itself.
                await asyncio.sleep(0.01)
            else:
                self._events = None

    async def _save_queue(self) -> None:
        await self._recorder.queue([prompt.text for prompt in self._queue])

    def _later(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
