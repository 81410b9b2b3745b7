"""Build the workflows of a session: their journal, and how the agents of a run are started."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.assembly.agents.journal_place import journal_place, open_journal
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts
from agent.errors import AgentError
from agent.events import (
    AgentEvent,
    Complete,
    ErrorEvent,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
)
from agent.orchestration import findings
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_records import Caps, StepState
from agent.orchestration.orchestration_mode import OrchestrationMode
from agent.orchestration.run.agent_order import MAX_TURNS, MISFORMED, AgentAnswer, AgentOrder
from agent.orchestration.run.prefix_stagger import PrefixStagger
from agent.orchestration.subtasks import BASH_TIMEOUT_S, RESULT_MAX_CHARS, SYSTEM
from agent.orchestration.workflows import WAIT_S, Workflows, WorkflowSurround
from agent.sandbox.sandbox import RunRequest
from agent.settings.sections.workflows_section import WorkflowsSection
from agent.subagents.agent_limits import LimitQuestion
from agent.subagents.builtin_agents import GENERAL
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.subagents.supervisor import AgentSupervisor
from agent.tools.agent_port import AgentTask, AnswerForm, CallLimits
from agent.tools.base import ToolError
from agent.tools.services import AskUser
from permissions.confinement import Confinement

if TYPE_CHECKING:
    from agent.orchestration.workflow_files import WorkflowPlaces
    from agent.settings.load import Settings

NO_CAPACITY: Final = frozenset({429, 503, 529})
RETRY_S: Final = 5.0
REPORT: Final = AnswerForm(
    findings.NAME, findings.DESCRIPTION, findings.Findings, findings.RECORDED
)
CALL_LIMITS: Final = CallLimits(command_s=BASH_TIMEOUT_S, result_chars=RESULT_MAX_CHARS)
_TOOL_TURNS: Final = MAX_TURNS - 1
"""The last model call is the answer."""
_FAN_OUT: Final = AgentDefinition(
    name="workflow", description="", prompt=SYSTEM, tools=("Bash",), max_turns=_TOOL_TURNS
)
_AT_TURN_LIMIT: Final = "subagent hit the turn limit before finishing"


def build_workflows(
    start: StartContext,
    late: LateParts,
    catalog: AgentCatalog,
    supervisor: AgentSupervisor,
    orchestration: OrchestrationMode,
    limit_question: Callable[[AskUser], LimitQuestion],
) -> Workflows:
    """Build the workflows; the journal is opened when the first run starts."""
    settings, environment = start.settings, start.environment
    place = journal_place(environment.env, settings.agent_home, settings.project_root)
    section = settings.values.workflows

    def warn(text: str) -> None:
        start.user.notify(text, "warning")

    surround = WorkflowSurround(
        session=start.session.id,
        places=lambda: workflow_places(settings, late.cwd()),
        mode=late.mode,
        run_agent=_SessionAgents(catalog, supervisor).run,
        confine=start.sandbox.confine_where_held(
            # The interpreter of scripts must be visible, even below a hidden directory.
            RunRequest(Confinement.READ_ONLY, visible=(sys.prefix, sys.base_prefix))
        ),
        orchestrates=lambda: orchestration.is_on,
        caps=_caps(section),
        ask=limit_question(user) if (user := start.user.ask) is not None else None,
        notify=warn,
        wait_s=WAIT_S if section is None or section.waitSeconds is None else section.waitSeconds,
    )
    return Workflows(surround, Journal(lambda: open_journal(place), warn))


def workflow_places(settings: Settings, cwd: Path) -> WorkflowPlaces:
    """Return where saved workflows are; those of a project apply once it is trusted."""
    from agent.orchestration.workflow_files import WorkflowPlaces  # with the first workflow

    trust = settings.trust
    return WorkflowPlaces(
        settings.home,
        settings.agent_home,
        settings.project_root,
        cwd,
        is_trusted=trust.is_trusted or trust.by_flag,
    )


def _caps(section: WorkflowsSection | None) -> Caps:
    usual = Caps()
    if section is None:
        return usual
    return Caps(
        concurrent=section.maxConcurrent or usual.concurrent,
        session_agents=section.maxAgents or usual.session_agents,
        session_tokens=section.maxTokens,
        session_usd=section.maxUsd,
    )


class _SessionAgents:
    """Runs the agents of workflows as agents of the session."""

    def __init__(self, catalog: AgentCatalog, supervisor: AgentSupervisor) -> None:
        self._catalog = catalog
        self._supervisor = supervisor
        self._stagger = PrefixStagger()

    async def run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        """Run one agent to its end."""
        task = AgentTask(
            description=order.label or order.prompt[:60].splitlines()[0],
            workflow=order.run,
            prompt=order.prompt,
            subagent_type=order.agent_type or GENERAL,
            model=order.model,
            effort=order.effort,
            isolation="worktree" if order.isolation else None,
            answer=REPORT if order.reports_findings else None,
            limits=CALL_LIMITS if order.reports_findings else None,
            answer_schema=json.dumps(order.schema) if order.schema is not None else None,
        )
        release = await self._stagger.wait(tuple(map(str, order.key_options().items())))
        failure = _Failure(release)
        try:
            agent = await self._supervisor.start(task, None, definition=self._definition(order))
            agent.listeners.append(failure.on_event)
            report = await self._supervisor.wait(agent, abort, None)
        except (AgentError, ToolError) as error:
            return AgentAnswer(state=StepState.FAILED, reason=f"{type(error).__name__}: {error}")
        finally:
            release()
        model_in_use = _Used(agent.use.tokens, agent.use.usd or None, str(agent.transcript))
        if agent.handed_in is not None:
            return model_in_use.answer(StepState.DONE, dict(agent.handed_in))
        is_misformed = report.is_complete and order.schema is not None and report.value is None
        if report.is_complete and not is_misformed:
            value = report.text if order.schema is None else report.value
            return model_in_use.answer(StepState.DONE, value)
        if is_misformed or report.outcome == "invalid_answer":
            return model_in_use.answer(StepState.FAILED, None, MISFORMED + report.text)
        if report.outcome == "max_turns":
            return model_in_use.answer(StepState.PARTIAL, report.text, _AT_TURN_LIMIT)
        if report.outcome == "error":
            reason = f"{failure.kind or 'AgentError'}: {failure.message or report.text}"
            return model_in_use.answer(StepState.FAILED, None, reason, failure.retry_after_s)
        return model_in_use.answer(
            StepState.PARTIAL, report.text, f"subagent ended: {report.outcome}"
        )

    def _definition(self, order: AgentOrder) -> AgentDefinition:
        """Return its definition. Raises AgentError if there is no agent of that kind."""
        if order.reports_findings and not order.agent_type:
            return _FAN_OUT
        definition = self._catalog.get(order.agent_type or GENERAL)
        return replace(definition, max_turns=min(definition.max_turns, _TOOL_TURNS))


class _Used(Struct, frozen=True):
    tokens: int
    usd: float | None
    transcript: str

    def answer(
        self,
        state: StepState,
        value: object,
        reason: str = "",
        retry_after_s: float | None = None,
    ) -> AgentAnswer:
        return AgentAnswer(
            state=state,
            value=value,
            reason=reason,
            tokens=self.tokens,
            cost_usd=self.usd,
            transcript=self.transcript,
            retry_after_s=retry_after_s,
        )


class _Failure:
    """Collects from an agent's events what ended it."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self.kind = self.message = ""
        self.retry_after_s: float | None = None

    def on_event(self, event: AgentEvent) -> None:
        if isinstance(event, TextDelta | ThinkingDelta | ToolInputDelta | Complete):
            self._release()
        elif isinstance(event, ErrorEvent):
            self.kind, self.message = event.kind, event.message
            self.retry_after_s = RETRY_S if event.status in NO_CAPACITY else None
