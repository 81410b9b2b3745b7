"""Build the catalog of agents, and the supervisor that starts and limits them."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortController
from agent.assembly.agents.subagent_setup import subagent_setup
from agent.assembly.agents.workflow_setup import build_workflows
from agent.assembly.context_setup import ContextSetup
from agent.assembly.hook_setup import HookParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.prompt_setup import PromptParts
from agent.assembly.recording import Recording
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.events import AgentEvent, Usage, UsageUpdate
from agent.loop.loop_ports import LoopPorts
from agent.model.endpoint import expand_alias
from agent.orchestration.orchestration_mode import OrchestrationMode
from agent.orchestration.workflows import Workflows
from agent.settings.locations import POLICY_DIR
from agent.subagents.agent_branch import AgentBranch
from agent.subagents.agent_files import agent_directories, read_agent_files
from agent.subagents.agent_limits import AgentCaps, LimitQuestion
from agent.subagents.agent_run import BuiltSubagent
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.subagents.delivery.unfinished_agents import unfinished_agents
from agent.subagents.lead import lead_of
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor, SupervisorPorts
from agent.subagents.worktree.worktree_end import WorktreeAnswer
from agent.subagents.worktree.worktrees import DIRECTORY
from agent.tools.services import AskUser, Question, QuestionOption
from permissions.decision import Behavior
from permissions.request import PermissionRequest
from permissions.rule import RuleSource


class AgentParts(Struct, frozen=True):
    """The agents of a session."""

    catalog: AgentCatalog
    supervisor: AgentSupervisor
    branch: AgentBranch
    """The port through which tools of the main conversation use them."""
    workflows: Workflows
    orchestration: OrchestrationMode
    lead: AgentDefinition | None = None
    """The agent that leads the session."""


def build_agents(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    prompt: PromptParts,
    managers: ContextSetup,
    recording: Recording,
    *,
    model: ModelParts,
    kinds: AgentKinds,
    hooks: HookParts,
) -> AgentParts:
    """Build the catalog and the supervisor of agents; nothing is read or started yet."""
    caps = agent_caps(start)
    catalog = kinds.catalog
    setup = subagent_setup(
        start,
        late,
        model,
        hooks.dispatch,
        prompt,
        managers,
        max_depth=caps.depth,
        ask=WorktreeQuestion(start.user.ask),
    )
    costs = model.accounting.costs

    def price(name: str, usage: Usage) -> float:
        model_price = costs.prices.price_of(name)
        return model_price.cost_usd(usage) if model_price is not None else 0.0

    async def emit(event: AgentEvent) -> None:
        if state.stream.is_open:
            await state.stream.emit(event)
            return
        supervisor.between_turns(event)
        if isinstance(event, UsageUpdate):
            # The stream records nothing between two turns, but costs must be recorded.
            await recording.recorder.event(event, ())

    async def build(agent: RunningAgent, parent: LoopPorts | None) -> BuiltSubagent:
        subagent = await setup.build(agent, parent)
        subagent.ports.calls.services.subagents = AgentBranch(supervisor, agent)
        return subagent

    supervisor = AgentSupervisor(
        catalog,
        SupervisorPorts(
            build=build,
            emit=emit,
            price=price,
            ask=limit_question(start.user.ask),
            directory=start.directory,
            project=start.settings.project_root,
            version=start.environment.version,
            redact=recording.redactor.line,
        ),
        caps,
    )
    orchestration = OrchestrationMode(
        model.model_in_use,
        is_on=start.options.orchestrate or start.settings.values.orchestration is True,
    )
    if start.resumed_conversation is not None:
        _report_unfinished(start, supervisor, recording)
    return AgentParts(
        catalog,
        supervisor,
        AgentBranch(supervisor, None, kinds.lead),
        build_workflows(start, late, catalog, supervisor, orchestration, limit_question),
        orchestration,
        kinds.lead,
    )


def _report_unfinished(
    start: StartContext, supervisor: AgentSupervisor, recording: Recording
) -> None:
    """Report agents that the end of the program interrupted, and deliver outstanding reports."""
    remains = unfinished_agents(start.directory, recording.recorder.session.transcript.path)
    if remains.cut_off:
        names = ", ".join(f"{one.agent_id} ({one.description})" for one in remains.cut_off[:10])
        start.notes.append(
            f"Agents were cut off when the program ended: {names}. Ask the model to continue "
            "those you still need."
        )
    if remains.undelivered_reports:
        names = ", ".join(record.agent_id for record, _, _ in remains.undelivered_reports[:10])
        start.notes.append(
            f"Agents ended before the program did, and their reports come with your next prompt: "
            f"{names}."
        )
        supervisor.reports.redeliver(remains.undelivered_reports)


class AgentKinds(Struct, frozen=True):
    """The kinds of agents of a session, and the one that leads it."""

    catalog: AgentCatalog
    lead: AgentDefinition | None

    def applied_to(self, start: StartContext) -> StartContext:
        """Return the start context with prompt, model and effort of the leading agent."""
        lead, options = self.lead, start.options
        if lead is None:
            return start
        setup = start.setup
        if lead.model is not None and options.model is None:
            setup = replace(setup, model=expand_alias(lead.model))
        return replace(
            start,
            lead=lead,
            setup=setup,
            options=replace(
                options,
                system_prompt=lead.prompt or options.system_prompt,
                model=options.model or lead.model,
                effort=options.effort or lead.effort,
            ),
        )


def agent_kinds(start: StartContext, late: LateParts) -> AgentKinds:
    """Return the kinds of agents. Raises UsageError if the one to lead the session is missing."""
    catalog = _catalog(start, late)
    start.notes.extend(catalog.flag_problems)
    # A worker of a team has the prompt and the tools of its subtask.
    in_settings = start.settings.values.agent if start.member is None else None
    lead = lead_of(start.options.agent or in_settings, catalog)
    is_apart = start.environment.launch_dir.parent.match(f"*/{DIRECTORY}")
    if lead is not None and lead.isolation is not None and not is_apart:
        start.notes.append(
            f"The isolation of the agent {lead.name} applies only when another agent starts it. "
            "--worktree gives a whole session a worktree."
        )
    return AgentKinds(catalog, lead)


def _catalog(start: StartContext, late: LateParts) -> AgentCatalog:
    """Return the kinds of agents; their files are read when the first one is needed."""
    settings = start.settings
    directories = agent_directories(
        project_root=settings.project_root,
        launch_dir=settings.launch_dir,
        home=settings.home,
        agent_home=settings.agent_home,
        policy=POLICY_DIR / "agents",
        plugins=start.plugins,
        with_user=RuleSource.USER in settings.sources,
        with_project=RuleSource.PROJECT in settings.sources,
    )

    def is_denied(name: str) -> bool:
        request = PermissionRequest("Agent", {"subagent_type": name})
        return late.gate.is_bound and late.gate().evaluate(request).behavior is Behavior.DENY

    return AgentCatalog(
        lambda: read_agent_files(directories, settings.project_root, lambda: start.settings.trust),
        start.options.agents,
        is_denied=is_denied,
        tool_names=lambda: [tool.name for tool in late.ports().calls.registry.all()],
    )


def agent_caps(start: StartContext) -> AgentCaps:
    """Return the limits that the settings set."""
    section = start.settings.values.agents
    if section is None:
        return AgentCaps()
    usual = AgentCaps()
    return AgentCaps(
        concurrent=section.maxConcurrent or usual.concurrent,
        depth=usual.depth if section.maxDepth is None else section.maxDepth,
        starts=section.maxStarts or usual.starts,
        tokens=section.maxTokens,
        usd=section.maxUsd,
        tokens_each=section.maxTokensEach,
        usd_each=section.maxUsdEach,
        stall_s=section.stallSeconds or usual.stall_s,
        on_failure=section.onFailure or usual.on_failure,
    )


def limit_question(user: AskUser | None) -> LimitQuestion:
    """Return a function that asks the user to lift a limit; without a user it returns False."""
    return _Ask(user)


class WorktreeQuestion:
    """Asks what to do with a worktree that has changes; without a user it is kept."""

    def __init__(self, user: AskUser | None) -> None:
        """Ask through `user`; None if there is no user."""
        self._user = user

    async def __call__(self, text: str) -> WorktreeAnswer:
        """Return the answer."""
        if self._user is None:
            return "keep"
        answers: dict[str, WorktreeAnswer] = {
            "Keep": "keep",
            "Merge": "merge",
            "Remove": "remove",
        }
        options = (
            QuestionOption("Keep", "It stays, and nothing else changes"),
            QuestionOption("Merge", "Its branch is merged into your checkout"),
            QuestionOption("Remove", "Its directory is removed, its branch remains"),
        )
        question = Question(text, "Worktree", options)
        reply = await self._user.ask([question], AbortController().signal)
        return answers.get((reply or {}).get(text, ""), "keep")


class _Ask:
    """Asks the user to lift a limit; without a user the limit applies."""

    def __init__(self, user: AskUser | None) -> None:
        self._user = user

    async def __call__(self, text: str) -> bool:
        if self._user is None:
            return False
        yes = QuestionOption("Allow", "The agents continue")
        no = QuestionOption("Stop", "The limit stays; work done so far is kept")
        question = Question(text, "Agents", (yes, no))
        answers = await self._user.ask([question], AbortController().signal)
        return answers is not None and answers.get(text) == yes.label
