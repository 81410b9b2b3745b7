"""Build a conversation's place in a team: the leader's, or a worker's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from agent.assembly.agents.agents_setup import AgentKinds, agent_caps, limit_question
from agent.assembly.hook_setup import HookParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.recording import Recording
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.errors import AgentError
from agent.events import Usage
from agent.options import RunOptions
from agent.subagents.agent_tools import NEVER, STARTS_AGENTS
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.subagents.running_agent import RunningAgent
from agent.subagents.spending import Spending
from agent.teams.executors.choose_executor import PANE_MODES, Executors
from agent.teams.executors.executor import SpawnConfig
from agent.teams.executors.in_process import InProcessExecutor
from agent.teams.executors.own_process import DeathWatch
from agent.teams.executors.pane_terminals import terminal_here
from agent.teams.forwarding import GRACE_S, LeaderLine
from agent.teams.leader import TeamLeader
from agent.teams.lease import Lease
from agent.teams.mailbox import MailDirectory
from agent.teams.member import TeamMember
from agent.teams.member_progress import MemberProgress, ProgressPorts
from agent.teams.permission_desk import PermissionDesk
from agent.teams.post import MailWatch, Post
from agent.teams.seat import LeaderSeat, MemberStart, TeamSeat, WorkerSeat
from agent.teams.staff import Staff, StaffPorts
from agent.teams.task_list import TaskList
from agent.teams.team_file import MemberEntry, TeamPlace, open_team
from agent.teams.team_history import read_team_history
from agent.teams.team_message import LEADER, TeamError, agent_id
from agent.teams.team_tools import TaskTools, leader_tools, member_tools
from agent.teams.worker_kinds import WorkerKinds
from agent.tools.base import AnyTool
from agent.tools.registry import ToolRegistry
from permissions.agent_limits import agent_limits
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.subagent_gate import SubagentGate

NOT_FOR_WORKERS: Final = frozenset(
    NEVER | STARTS_AGENTS | {"ListAgents", "SendMessage", "ToolSearch"}
)
"""Tools that need the user, that would start further agents, or that workers replace."""
_NO_PANES: Final = (
    "There are no panes here, so workers run inside this program. Panes need tmux, WezTerm, "
    "iTerm2, or kitty with allow_remote_control and listen_on."
)


class RunInProcess(Protocol):
    """Runs a worker in this process; `agent.assembly.team.team_member` implements it."""

    async def __call__(self, start: MemberStart, leader: StartContext, /) -> None:
        """Return when the worker has ended."""
        ...


def build_seat(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    model: ModelParts,
    recording: Recording,
    hooks: HookParts,
    kinds: AgentKinds,
    run_in_process: RunInProcess,
) -> TeamSeat:
    """Return the place of a leader's or a worker's conversation in its team.

    Raises:
        TeamError: the team has a leader already, or its files cannot be used.
    """
    seat: TeamSeat
    if start.member is not None:
        seat = _worker_seat(start.member, late, recording, hooks)
    else:
        seat = _leader_seat(start, late, state, model, recording, hooks, kinds, run_in_process)
    late.seat.bind(seat)
    return seat


def _worker_seat(
    member: MemberStart, late: LateParts, recording: Recording, hooks: HookParts
) -> WorkerSeat:
    config, recorder = member.config, recording.recorder
    post = Post(config.place, config.agent_id, member.watch, recorder)
    line = LeaderLine(post, config.leader_id, late.cwd, grace_s=config.grace_s)
    history = read_team_history(recorder.transcript_path, config.team)
    tasks = TaskTools(TaskList(config.place.tasks), config.agent_id, config.team, hooks.dispatch)
    return WorkerSeat(
        TeamMember(config, post, line, history, recorder, hooks.dispatch),
        config,
        member_tools(post, config.leader_id, tasks),
    )


def _leader_seat(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    model: ModelParts,
    recording: Recording,
    hooks: HookParts,
    kinds: AgentKinds,
    run_in_process: RunInProcess,
) -> LeaderSeat:
    name, recorder = start.options.team or "", recording.recorder
    place = TeamPlace.of(start.environment.agent_home, name)
    own_id = agent_id(LEADER, name)
    lease = _take_lead(place)
    watch = MailWatch(place)
    post = Post(place, own_id, watch, recorder)
    history = read_team_history(recorder.transcript_path, name)
    leader = TeamLeader(
        post, history, has_queued=lambda: bool(state.queue), notify=start.user.notify
    )

    async def run_member(config: SpawnConfig) -> None:
        await run_in_process(MemberStart(config, watch, model.client), start)

    executors = Executors(
        place,
        start.environment.env,
        _announced_mode(start),
        InProcessExecutor(run_member, lambda who: leader.staff.on_death(who)),
        DeathWatch(place, lambda who: leader.staff.on_death(who)),
    )
    grace_s = start.settings.values.teamLeaderGraceSeconds
    ports = StaffPorts(
        executors=executors.choose,
        options=lambda entry: _member_options(start, late, place, model, kinds.catalog, entry),
        cwd=start.environment.launch_dir,
        grace_s=GRACE_S if grace_s is None else grace_s,
        fail_member=leader.mark_failed,
        notify=start.user.notify,
    )
    staff = Staff(post, open_team(place, start.session.id), ports)
    gates = _worker_gates(late, kinds.catalog, staff)
    desk = PermissionDesk(post, gates, recorder, start.user.notify, history.answers)

    async def count(worker: RunningAgent, more: Usage) -> None:
        turn_id = worker.task.tool_use_id
        update = model.accounting.add_reported(more, worker.model, turn_id, worker.id)
        if state.stream.is_open:
            await state.stream.emit(update)
        else:
            # The stream records nothing between two turns.
            await recorder.event(update, ())

    progress = MemberProgress(
        place,
        watch,
        ProgressPorts(
            members=lambda: staff.members,
            waiting=lambda: desk.waiting,
            emit=state.stream.emit,
            add=count,
            record_usage=staff.record_usage,
            check=leader.check,
        ),
    )
    spending = Spending(agent_caps(start), limit_question(start.user.ask), progress.rows)
    leader.attach(staff, desk, progress, spending)
    tasks = TaskTools(leader.tasks, own_id, name, hooks.dispatch)

    async def ask_about_servers(kind: AgentDefinition) -> Sequence[str]:
        return await late.ask_about_servers()(kind)

    def tools(usual: ToolRegistry, for_workers: ToolRegistry) -> tuple[AnyTool, ...]:
        for tool in usual.without({*NOT_FOR_WORKERS}).all():
            for_workers.register(tool)
        workers = WorkerKinds(kinds.catalog, for_workers, ask_about_servers)
        return leader_tools(leader, tasks, workers)

    return LeaderSeat(leader, watch, executors, lease, tools, ToolRegistry(()))


def _take_lead(place: TeamPlace) -> Lease:
    """Become the leader. Raises TeamError if there is one, or the files cannot be written."""
    try:
        lease = Lease.take(place.leader_lease, f"The leader of the team {place.name}")
        MailDirectory(place.member_dir(LEADER)).make()
    except OSError as error:
        raise TeamError(
            f"{place.directory} cannot be used: {error.strerror}. A team keeps files "
            "there; set AGENT_TUI_HOME to another folder."
        ) from error
    return lease


def chosen_mode(start: StartContext) -> str:
    """Return where workers run, according to the command line or the settings."""
    if start.is_demo:
        return "in-process"  # the scripted model exists only in this process
    return start.options.teammate_mode or start.settings.values.teammateMode or "auto"


def _worker_gates(
    late: LateParts, catalog: AgentCatalog, staff: Staff
) -> Callable[[str], PermissionGate]:
    """Return a function that returns the gate for a worker's requests: the leader's, in the
    worker's mode if that is stricter. The worker has checked its other limits itself."""

    def gate_for(worker: str) -> PermissionGate:
        try:
            kind = staff.find(worker).agent_type
            mode = catalog.get(kind).permission_mode if kind is not None else None
        except AgentError:
            mode = Mode.DEFAULT  # no member, or its kind no longer exists
        return SubagentGate(late.gate(), agent_limits(agent=worker, mode=mode))

    return gate_for


def _announced_mode(start: StartContext) -> str:
    """Return where workers run, and add a note if that is not possible."""
    mode = chosen_mode(start)
    if mode in PANE_MODES and terminal_here(start.environment.env) is None:
        start.notes.append(_NO_PANES)
    return mode


def _member_options(
    start: StartContext,
    late: LateParts,
    place: TeamPlace,
    model: ModelParts,
    catalog: AgentCatalog,
    entry: MemberEntry,
) -> RunOptions:
    """Return the options for a worker: the leader's current rules and mode, and the definition of
    its kind. Raises TeamError if that kind no longer exists."""
    try:
        kind = catalog.get(entry.agent_type) if entry.agent_type is not None else None
    except AgentError as error:
        raise TeamError(f"{entry.agent_id} cannot be started: {error}") from error
    own_turns = kind.max_turns if kind is not None else None
    turns = [limit for limit in (start.options.max_turns, own_turns) if limit is not None]
    return replace(
        start.options,
        prompt=None,
        headless=True,
        continue_latest=False,
        resume=None,
        fork_session=False,
        session_id=entry.session_id,
        name=None,
        stores_session=True,
        team=None,
        agent=entry.agent_type,
        session_home=place.member_dir(entry.name),
        model=(kind.model if kind is not None else None) or model.model_in_use.model,
        max_turns=min(turns, default=None),
        tools=entry.tools,
        skills=None,
        permission_mode=late.mode(),
        system_prompt=None,
        json_schema=None,
        output_format="text",
        input_format="text",
        asks_over_stdout=False,
        debug=False,
        debug_file=None,
        after_clear=False,
        setup=None,
        demo=False,
        trust=start.options.trust or start.is_demo,
    )
