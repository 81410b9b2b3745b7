"""A session of the command line that works on a single run of a workflow.

Its agents have no user to ask: calls that would ask are denied.
Next: `agent.orchestration.workflows`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.assembly.assemble import UserPorts, assemble, environment_from, settings_for
from agent.conversation.conversation import Conversation
from agent.events import AgentEvent, PermissionRequested, PermissionResolved
from agent.exit_status import (
    EXIT_COMPLETED,
    EXIT_DENIED,
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_TERMINATED,
)
from agent.options import RunOptions
from agent.orchestration.journal.journal_records import StepState, WorkflowState
from agent.orchestration.run.workflow_run import RunEnd, WorkflowRun
from agent.orchestration.run_report import failed_agents, how_to_continue
from agent.orchestration.workflows import Workflows
from permissions.base.process.own_environment import hide_secrets
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from permissions.decision import Behavior, DecisionSource
from tui.conversation.model_choice import real_model
from tui.version import version

if TYPE_CHECKING:
    from agent.orchestration.cluster.agent_queue import AgentQueue

Begin = Callable[[Workflows], Awaitable[WorkflowRun]]
"""Starts or resumes the run. Raises `JournalError`, or an error that the command reports."""
STOP_S: Final = 3.0
_BY_SOMEBODY: Final = frozenset({DecisionSource.HOOK, DecisionSource.CLASSIFIER})


async def run_workflow(
    options: RunOptions, launch_dir: Path, begin: Begin, *, as_json: bool, queue: str | None = None
) -> int:
    """Run a workflow to its end, write its result, return the exit status. Raises AgentError.

    With `queue`, the URL of a Postgres database, workers run its agents.
    """
    async with AsyncExitStack() as closing:
        session = await _open_session(options, launch_dir, closing)
        workflows = session.conversation.workflows
        watch = _Watch(session.conversation)
        if queue is not None:
            from agent.orchestration.cluster.remote_agents import RemoteAgents  # an extra

            agents, _ = await _open_queue(queue, session, closing)
            workflows.run_agent = RemoteAgents(agents, workflows.journal, _print_message).run
        await session.conversation.start()
        run = await begin(workflows)
        statuses = _handle_signals(run.control.stop)
        end = await watch.to_the_end(run)
    _write(run, end, as_json=as_json)
    if statuses:
        return statuses[0]
    return _status(end, was_denied=watch.was_denied)


async def run_worker(options: RunOptions, launch_dir: Path, queue: str, at_once: int) -> int:
    """Run agents for the workflows of other processes until a signal; return the exit status.

    Raises AgentError.
    """
    from agent.orchestration.cluster.queue_worker import QueueWorker  # an extra

    async with AsyncExitStack() as closing:
        session = await _open_session(options, launch_dir, closing)
        agents, commit = await _open_queue(queue, session, closing)
        await session.conversation.start()
        workflows = session.conversation.workflows
        worker = QueueWorker(workflows.journal, workflows.run_agent, _print_message)
        working = asyncio.ensure_future(agents.work(worker.work, at_once))
        stopping = asyncio.Event()
        statuses = _handle_signals(lambda _reason: stopping.set())
        _print_message(f"runs agents at commit {commit[:12]}, {at_once} at once")
        signal_task = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({working, signal_task}, return_when=asyncio.FIRST_COMPLETED)
        signal_task.cancel()
        while not working.done():
            # Repeated: the queue's worker may lose a cancellation that arrives early.
            working.cancel()
            await asyncio.wait({working}, timeout=STOP_S)
        with suppress(asyncio.CancelledError):
            working.result()
    return statuses[0] if statuses else EXIT_COMPLETED


class _Session(Struct, frozen=True):
    conversation: Conversation
    root: Path


async def _open_session(options: RunOptions, launch_dir: Path, closing: AsyncExitStack) -> _Session:
    environment = environment_from(os.environ, launch_dir, version=version())
    settings = settings_for(options, environment)
    setup = await real_model(settings, environment, options)
    hide_secrets()
    user = UserPorts(notice=lambda text, _level: _print_message(text))
    parts = await assemble(options, environment, settings, setup, user)
    closing.push_async_callback(parts.conversation.aclose)
    for notice in parts.notices:
        _print_message(notice)
    return _Session(parts.conversation, settings.project_root)


async def _open_queue(
    queue: str, session: _Session, closing: AsyncExitStack
) -> tuple[AgentQueue, str]:
    """Return the queue of the repository's commit, and the commit."""
    from agent.orchestration.cluster.agent_queue import open_queue  # an extra
    from agent.orchestration.cluster.repository_commit import repository_commit

    commit = await repository_commit(session.root)
    return await closing.enter_async_context(open_queue(queue, commit)), commit


def _status(end: RunEnd, *, was_denied: bool) -> int:
    if end.state is WorkflowState.COMPLETED:
        return EXIT_DENIED if was_denied else EXIT_COMPLETED
    return EXIT_LIMIT if end.state is WorkflowState.PAUSED else EXIT_ERROR


def _handle_signals(stop: Callable[[str], object]) -> list[int]:
    """Call `stop` at a signal; return a list that receives the exit status of each signal."""
    statuses: list[int] = []

    def on_signal(status: int) -> None:
        statuses.append(status)
        stop("it was interrupted")

    loop = asyncio.get_running_loop()
    for number, status in (
        (signal.SIGINT, EXIT_INTERRUPTED),
        (signal.SIGTERM, EXIT_TERMINATED),
        (signal.SIGHUP, EXIT_TERMINATED),
    ):
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, on_signal, status)
    return statuses


class _Shown(Struct):
    states: dict[tuple[str, int], tuple[str, int]]
    phase: str = ""
    pause: str = ""


class _Watch:
    """Writes the progress of a run to standard error."""

    def __init__(self, conversation: Conversation) -> None:
        self.was_denied = False
        self._open_requests: set[str] = set()
        self._workflows = conversation.workflows
        self._last_shown = _Shown({})
        conversation.agents.between_turns = self._note_denial

    async def to_the_end(self, run: WorkflowRun) -> RunEnd:
        self._workflows.on_change = lambda: self._show_changes(run)
        run.on_log = lambda text: _print_message(text)
        end = await self._workflows.to_the_end(run.record.id)
        assert end is not None, "it was begun here"
        return end

    def _note_denial(self, event: AgentEvent) -> None:
        if isinstance(event, PermissionRequested):
            self._open_requests.add(event.request_id)
        elif isinstance(event, PermissionResolved):
            decision = event.decision
            was_asked = event.request_id in self._open_requests
            if decision.behavior is Behavior.DENY and was_asked:
                self.was_denied = self.was_denied or decision.source not in _BY_SOMEBODY

    def _show_changes(self, run: WorkflowRun) -> None:
        last_shown = self._last_shown
        if run.phase != last_shown.phase:
            last_shown.phase = run.phase
            _print_message(f"phase {run.phase}")
        pause = run.control.reason if run.control.is_paused else ""
        if pause != last_shown.pause:
            last_shown.pause = pause
            _print_message(f"paused: {pause}" if pause else "continues")
        for place, view in tuple(run.steps.views.items()):
            record = view.record
            now = (str(record.state), record.attempts)
            if last_shown.states.get(place) == now:
                continue
            last_shown.states[place] = now
            if record.state is not StepState.RUNNING:
                how = "reused" if view.is_reused else str(record.state)
                name = record.label or record.prompt.partition("\n")[0][:60]
                why = f": {json.loads(record.result)}" if record.state is StepState.FAILED else ""
                _print_message(f"{how:8}{name}{why}")


def _write(run: WorkflowRun, end: RunEnd, *, as_json: bool) -> None:
    record, views = run.record, run.steps.views.values()
    is_over = end.state is WorkflowState.COMPLETED
    if as_json:
        value: object = end.result
        if record.kind == "script" and end.result:
            value = json.loads(end.result)
        line = {
            "run": record.id,
            "name": record.name,
            "state": str(end.state),
            "reason": end.reason,
            "result": value if is_over else None,
            "agents": len(views),
            "reused": sum(view.is_reused for view in views),
            "failed": sum(view.record.state is StepState.FAILED for view in views),
            "tokens": run.spent().tokens,
            "costUsd": round(run.spent().usd, 6),
        }
        print(json.dumps(line, ensure_ascii=False))
        return
    if is_over:
        print(sanitize(end.result) if sys.stdout.isatty() else end.result)
        if failures := failed_agents(run):
            _print_message(failures)
    else:
        _print_message(f"{end.state}: {end.reason or 'the reason is not known'}")
        _print_message(how_to_continue(record.id, end))


def _print_message(text: str) -> None:
    write_message(sys.stderr, f"agent-tui: {sanitize(text)}")
