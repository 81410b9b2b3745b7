"""The result of a run: its final output, its items, and a state to continue from."""

from __future__ import annotations

import asyncio
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

from pydantic import BaseModel

from agent.library.base.raw_items import InputItem, RawItem, input_list
from agent.library.base.run_exceptions import AgentsException
from agent.library.context.call_context import CallContext
from agent.library.context.run_context import RunContextWrapper
from agent.library.items.run_events import StreamEvent
from agent.library.items.run_items import ModelResponse, RunItem, ToolApprovalItem
from agent.library.state.run_state import RunState

T = TypeVar("T")


@dataclass(frozen=True)
class AgentToolInvocation:
    """The tool call that a run was started for."""

    tool_name: str
    tool_call_id: str
    tool_arguments: str


@dataclass
class RunResultBase(ABC):
    """Fields that both kinds of results have."""

    input: str | list[InputItem]
    """The last agent's input before its items; filters of handoffs may have changed it."""
    new_items: list[RunItem]
    raw_responses: list[ModelResponse]
    final_output: RawItem
    """Text, or a value of the last agent's `output_type`; None while approvals are pending."""
    input_guardrail_results: list[RawItem]
    output_guardrail_results: list[RawItem]
    tool_input_guardrail_results: list[RawItem]
    tool_output_guardrail_results: list[RawItem]
    context_wrapper: RunContextWrapper
    _state: RunState | None = field(default=None, repr=False, kw_only=True)
    _agent_reference: Callable[[], RawItem] | None = field(default=None, repr=False, kw_only=True)

    @property
    @abstractmethod
    def last_agent(self) -> RawItem:
        """The agent that ran last."""

    @property
    def last_response_id(self) -> str | None:
        """The id of the model's last response; None if there is none."""
        return self.raw_responses[-1].response_id if self.raw_responses else None

    @property
    def agent_tool_invocation(self) -> AgentToolInvocation | None:
        """The tool call that this run was started for; None if there was none."""
        context = self.context_wrapper
        if not isinstance(context, CallContext):
            return None
        return AgentToolInvocation(context.tool_name, context.tool_call_id, context.tool_arguments)

    def to_state(self) -> RunState:
        """Return a state in which calls can be approved, and from which a run can continue."""
        assert self._state is not None, "results of runs have a state"
        return self._state.copy()

    def final_output_as(self, cls: type[T], raise_if_incorrect_type: bool = False) -> T:
        """Return the final output, typed as `cls` for the type checker.

        Raises:
            TypeError: it has another type, and `raise_if_incorrect_type` is set.
        """
        if raise_if_incorrect_type and not isinstance(self.final_output, cls):
            raise TypeError(f"Final output is not of type {cls.__name__}")
        output: T = self.final_output
        return output

    def to_input_list(
        self, *, mode: Literal["preserve_all", "normalized"] = "preserve_all"
    ) -> list[InputItem]:
        """Return the conversation as input for the next run.

        `normalized` returns the model's input, with changes by handoff filters.
        """
        items = self._model_items() if mode == "normalized" else self.new_items
        return [*input_list(self.input), *items_as_input(items)]

    def _model_items(self) -> list[RunItem]:
        return self._state.generated_items if self._state is not None else self.new_items

    def _text(self) -> str:
        output = self.final_output
        text = output.model_dump_json(indent=2) if isinstance(output, BaseModel) else str(output)
        body = "\n".join(f"    {line}" for line in text.splitlines())
        return (
            f"- Final output ({type(output).__name__}):\n{body}\n"
            f"- {len(self.new_items)} new item(s)\n"
            f"- {len(self.raw_responses)} raw response(s)\n"
            f"- {len(self.input_guardrail_results)} input guardrail result(s)\n"
            f"- {len(self.output_guardrail_results)} output guardrail result(s)\n"
            f"(See `{type(self).__name__}` for more details)"
        )


def _weak_reference(
    agent: RawItem, old_reference: Callable[[], RawItem] | None
) -> Callable[[], RawItem] | None:
    return weakref.ref(agent) if agent is not None else old_reference


def _resolve(reference: Callable[[], RawItem] | None) -> RawItem:
    agent = reference() if reference is not None else None
    if agent is None:
        raise AgentsException("Last agent reference is no longer available.")
    return agent


def items_as_input(items: list[RunItem]) -> list[InputItem]:
    """Return items as input for a model, without pending approvals."""
    return [each.to_input_item() for each in items if not isinstance(each, ToolApprovalItem)]


@dataclass
class RunResult(RunResultBase):
    """The result of `Runner.run`."""

    _last_agent: RawItem
    max_turns: int | None = 10
    interruptions: list[ToolApprovalItem] = field(default_factory=list)
    """Calls that wait for approval; the run continues from `to_state`."""

    @property
    def last_agent(self) -> RawItem:
        """The agent that ran last.

        Raises:
            AgentsException: it was released and no longer exists.
        """
        return self._last_agent if self._last_agent is not None else _resolve(self._agent_reference)

    def release_agents(self, *, release_new_items: bool = True) -> None:
        """Keep only weak references to the agents, for long-lived results."""
        self._agent_reference = _weak_reference(self._last_agent, self._agent_reference)
        self._last_agent = None
        if release_new_items:
            for item in self.new_items:
                item.release_agent()

    def __str__(self) -> str:
        """Describe the result in a few lines."""
        return (
            f'RunResult:\n- Last agent: Agent(name="{self.last_agent.name}", ...)\n{self._text()}'
        )


class _End:
    """Marks the end of a stream."""


_END: Final = _End()


@dataclass
class RunResultStreaming(RunResultBase):
    """The result of `Runner.run_streamed`, returned at once; complete when its events end."""

    current_agent: RawItem
    current_turn: int
    max_turns: int | None
    _current_agent_output_schema: RawItem = None
    trace: RawItem = None
    is_complete: bool = False
    interruptions: list[ToolApprovalItem] = field(default_factory=list)
    run_loop_task: asyncio.Task[None] | None = field(default=None, repr=False)
    _event_queue: asyncio.Queue[StreamEvent | _End] = field(
        default_factory=asyncio.Queue, repr=False
    )
    _active_stream_consumers: int = 0
    _is_waiting: bool = False
    _cancel_mode: str = "none"
    _wake: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def last_agent(self) -> RawItem:
        """The agent that is running, or ran last.

        Raises:
            AgentsException: it was released and no longer exists.
        """
        return (
            self.current_agent
            if self.current_agent is not None
            else _resolve(self._agent_reference)
        )

    @property
    def run_loop_exception(self) -> BaseException | None:
        """The exception that ended the run; None while it runs, or if it succeeded."""
        task = self.run_loop_task
        if task is None or not task.done() or task.cancelled():
            return None
        return task.exception()

    @property
    def is_stopping(self) -> bool:
        """Whether the run ends after the current turn."""
        return self._cancel_mode == "after_turn"

    def emit(self, event: StreamEvent) -> None:
        """Add an event to the stream."""
        self._event_queue.put_nowait(event)

    def end(self) -> None:
        """Mark the run as complete, and end the stream."""
        self.is_complete = True
        if self._is_waiting or self._cancel_mode != "immediate":
            self._event_queue.put_nowait(_END)

    def add_reader(self) -> None:
        """Register a reader: turns wait at their end until it has read all events."""
        self._active_stream_consumers += 1

    def remove_reader(self) -> None:
        """Unregister a reader."""
        self._active_stream_consumers -= 1
        self._wake.set()

    def cancel(self, mode: Literal["immediate", "after_turn"] = "immediate") -> None:
        """Stop now, or when the current turn and its tools are done; keep reading the events."""
        self._cancel_mode = mode
        if mode == "after_turn":
            return
        if self.run_loop_task is not None:
            self.run_loop_task.cancel()
        self.is_complete = True
        self._drain()
        self._wake.set()
        if self._is_waiting:
            self._event_queue.put_nowait(_END)

    async def events_consumed(self) -> None:
        """Wait until the reader has read all events so far; return at once without a reader."""
        if self._active_stream_consumers == 0:
            return
        self._wake.clear()
        all_read = asyncio.ensure_future(self._event_queue.join())
        reader_end = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({all_read, reader_end}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            all_read.cancel()
            reader_end.cancel()

    async def stream_events(self) -> AsyncIterator[StreamEvent]:
        """Yield events until the run has ended.

        Raises:
            AgentsException: the run failed.
        """
        reader = _Reader(self)
        is_cancelled = False
        try:
            while not (self.is_complete and self._event_queue.empty()):
                reader.watch()
                try:
                    self._is_waiting = True
                    event = await self._event_queue.get()
                except asyncio.CancelledError:
                    is_cancelled = True
                    self.cancel()
                    raise
                finally:
                    self._is_waiting = False
                if isinstance(event, _End):
                    self._event_queue.task_done()
                    break
                try:
                    yield event
                finally:
                    self._event_queue.task_done()
        finally:
            reader.leave()
            if not is_cancelled:
                await self._await_end()
            self._drain()
        if self._cancel_mode != "immediate" and self.run_loop_task is not None:
            self.run_loop_task.result()

    def release_agents(self, *, release_new_items: bool = True) -> None:
        """Keep only weak references to the agents, for long-lived results."""
        self._agent_reference = _weak_reference(self.current_agent, self._agent_reference)
        self.current_agent = None
        if release_new_items:
            for item in self.new_items:
                item.release_agent()

    async def _await_end(self) -> None:
        if self.run_loop_task is not None:
            await asyncio.wait({self.run_loop_task})

    def _drain(self) -> None:
        while not self._event_queue.empty():
            self._event_queue.get_nowait()
            self._event_queue.task_done()

    def __str__(self) -> str:
        """Describe the progress in a few lines."""
        return (
            f'RunResultStreaming:\n- Current agent: Agent(name="{self.last_agent.name}", ...)\n'
            f"- Current turn: {self.current_turn}\n- Max turns: {self.max_turns}\n"
            f"- Is complete: {self.is_complete}\n{self._text()}"
        )


class _Reader:
    """A reader of a run's events, possibly with a different task for each event."""

    def __init__(self, result: RunResultStreaming) -> None:
        self._result = result
        self._task: asyncio.Task[object] | None = None
        self._is_here = True
        result.add_reader()

    def watch(self) -> None:
        """Leave if the current task fails, which may be between two events."""
        task = asyncio.current_task()
        if task is not None and task is not self._task:
            self._task = task
            task.add_done_callback(self._handle_end)

    def leave(self) -> None:
        """Unregister the reader, so that the run no longer waits for it."""
        if self._is_here:
            self._is_here = False
            self._result.remove_reader()

    def _handle_end(self, task: asyncio.Task[object]) -> None:
        if task is self._task and (task.cancelled() or task.exception() is not None):
            self.leave()
