"""The tools of a team: the leader's, which only coordinate, and those of workers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct

from agent.display import TextDisplay
from agent.errors import AgentError
from agent.subagents.report_text import neutralize_text
from agent.teams.staff import COLORS, NewMember
from agent.teams.task_list import TaskList, TeamTask, task_line
from agent.teams.team_file import OnFailure
from agent.teams.team_message import LEADER, TeamError, agent_id
from agent.tools.base import AnyTool, Concurrency, ToolContext, ToolError, ToolOutcome, build_tool
from hooks.events import TaskCompleted, TaskCreated
from permissions.base.text.failure_text import error_reason

if TYPE_CHECKING:
    from agent.hook_events.hook_dispatch import HookDispatch
    from agent.teams.leader import TeamLeader
    from agent.teams.post import Post
    from agent.teams.worker_kinds import WorkerKinds

_ID: Final = r"^[a-z0-9][a-z0-9-]{0,39}(@[a-z0-9-]{1,40})?$"


class SpawnInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of SpawnTeammate."""

    name: Annotated[str, Meta(pattern=_ID, description="What it is called, e.g. `researcher`.")]
    prompt: Annotated[str, Meta(min_length=1, max_length=100_000, description="Its whole subtask.")]
    agent_type: Annotated[
        str | None,
        Meta(
            max_length=100,
            description="A kind of agent: its instructions, its model, its tools. Leave it out for "
            "a general worker.",
        ),
    ] = None
    tools: Annotated[
        list[str],
        Meta(
            max_length=30,
            description="The tools of its subtask, no others. With `agent_type` they may be left "
            "out.",
        ),
    ] = []
    task_id: Annotated[str | None, Meta(description="The task of the list that it claims.")] = None
    on_failure: Annotated[
        OnFailure,
        Meta(
            description="What happens if it fails: continue with what others deliver, stop all, or "
            "have it try once more."
        ),
    ] = "continue"


class SendInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of SendMessage."""

    to: Annotated[str, Meta(pattern=_ID, description="A member's name, or its id.")]
    message: Annotated[str, Meta(min_length=1, max_length=100_000)]


class StopInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of StopTeammate."""

    name: Annotated[str, Meta(pattern=_ID, description="A member's name, or its id.")]
    reason: Annotated[str, Meta(max_length=1_000)] = "Its work is not needed any more."


class TaskCreateInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of TaskCreate."""

    subject: Annotated[str, Meta(min_length=1, max_length=200)]
    description: Annotated[str, Meta(max_length=20_000)] = ""
    blocked_by: Annotated[
        list[str], Meta(max_length=50, description="Ids of tasks to be completed first.")
    ] = []


class TaskListInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TaskList has no parameters."""


class TaskUpdateInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of TaskUpdate."""

    task_id: str
    status: Annotated[
        Literal["in_progress", "completed", "deleted"],
        Meta(description="`in_progress` claims it for you."),
    ]


def leader_tools(leader: TeamLeader, tasks: TaskTools, kinds: WorkerKinds) -> tuple[AnyTool, ...]:
    """Return the leader's tools; `kinds` determines the tools of workers."""

    async def spawn(call: SpawnInput, context: ToolContext) -> ToolOutcome:
        try:
            kind = kinds.find(call.agent_type) if call.agent_type else None
            tools = kinds.tools_for(kind, call.tools)
            problems: Sequence[str] = ()
            if kind is not None and any(name.startswith("mcp__") for name in tools):
                problems = await kinds.ask_about_servers(kind)
            new = NewMember(
                name=call.name.partition("@")[0],
                prompt=call.prompt,
                tools=tools,
                agent_type=kind.name if kind is not None else None,
                color=kind.color if kind is not None and kind.color in COLORS else None,
                tool_use_id=context.tool_use_id,
                task_id=call.task_id,
                on_failure=call.on_failure,
            )
            entry = await leader.spawn(new)
        except (AgentError, OSError) as error:
            raise ToolError(error_reason(error)) from error
        text = f"{entry.agent_id} has begun ({entry.executor}). Its report will reach you."
        return ToolOutcome(
            " ".join((text, *problems)),
            display=TextDisplay(f"{entry.agent_id} has begun ({entry.executor})"),
            tool_response={"agentId": entry.agent_id, "status": "async_launched"},
        )

    async def send(call: SendInput, _context: ToolContext) -> ToolOutcome:
        try:
            return ToolOutcome(await leader.staff.send_text(call.to, call.message))
        except (TeamError, OSError) as error:
            raise ToolError(f"Nothing was sent. {error_reason(error)}") from error

    async def stop(call: StopInput, _context: ToolContext) -> ToolOutcome:
        try:
            return ToolOutcome(await leader.stop_worker(call.name, call.reason))
        except (TeamError, OSError) as error:
            raise ToolError(error_reason(error)) from error

    return (
        build_tool(
            name="SpawnTeammate",
            description="Starts a worker on a subtask. It works by itself, with an empty "
            "conversation and the tools that you name, and its report comes to you by itself. "
            f"Tools that there are: {', '.join(kinds.tools)}. Kinds of agents: {kinds.listing()}.",
            input_model=SpawnInput,
            run=spawn,
            requires_permission=False,
            concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
            identifier=lambda call, _root: f"SpawnTeammate {call.name}",
        ),
        _send_tool(send),
        build_tool(
            name="StopTeammate",
            description="Stops a worker whose work is not needed any more. What it has not "
            "reported is lost.",
            input_model=StopInput,
            run=stop,
            requires_permission=False,
            identifier=lambda call, _root: f"StopTeammate {call.name}",
        ),
        *tasks.tools(),
    )


def member_tools(post: Post, leader_id: str, tasks: TaskTools) -> tuple[AnyTool, ...]:
    """Return a worker's tools in addition to those of its subtask."""

    async def send(call: SendInput, _context: ToolContext) -> ToolOutcome:
        team = leader_id.partition("@")[2]
        recipient = call.to if "@" in call.to else f"{call.to}@{team}"
        if recipient == post.own_id or not recipient.endswith(f"@{team}"):
            raise ToolError(f"{recipient} is not another member of the team.")
        try:
            await post.send(recipient, "text", text=call.message)
        except (TeamError, OSError) as error:
            raise ToolError(f"Nothing was sent. {error_reason(error)}") from error
        return ToolOutcome(f"Delivered to {recipient}.")

    return (_send_tool(send), *tasks.tools(can_create=False))


def _send_tool(run: Callable[[SendInput, ToolContext], Awaitable[ToolOutcome]]) -> AnyTool:
    return build_tool(
        name="SendMessage",
        description="Sends a message to a member of the team; `leader` is its leader. It gets it "
        "between two of its steps.",
        input_model=SendInput,
        run=run,
        requires_permission=False,
        identifier=lambda call, _root: f"SendMessage {call.to}",
    )


class TaskTools:
    """The tools of the task list, for one member."""

    def __init__(self, tasks: TaskList, own_id: str, team: str, hooks: HookDispatch) -> None:
        """`hooks` fires TaskCreated and TaskCompleted."""
        self._tasks = tasks
        self._own_id = own_id
        self._team = team
        self._hooks = hooks

    def tools(self, *, can_create: bool = True) -> tuple[AnyTool, ...]:
        """Return the tools; only the leader creates tasks."""
        create = build_tool(
            name="TaskCreate",
            description="Adds a task to the team's list. `blocked_by` names tasks that have to be "
            "completed before it can be claimed.",
            input_model=TaskCreateInput,
            run=self._create,
            requires_permission=False,
            identifier=lambda call, _root: f"TaskCreate {call.subject}",
        )
        return (
            *((create,) if can_create else ()),
            build_tool(
                name="TaskList",
                description="Shows the team's tasks: state, owner, and what each waits for.",
                input_model=TaskListInput,
                run=self._list,
                requires_permission=False,
                is_read_only=lambda _: True,
                is_destructive=lambda _: False,
                concurrency=lambda _: Concurrency.READ_ONLY,
            ),
            build_tool(
                name="TaskUpdate",
                description="Claims a task (`in_progress`), which only one member can, or marks "
                "it as completed or deleted.",
                input_model=TaskUpdateInput,
                run=self._update,
                requires_permission=False,
                identifier=lambda call, _root: f"TaskUpdate {call.task_id} {call.status}",
            ),
        )

    async def _create(self, call: TaskCreateInput, _context: ToolContext) -> ToolOutcome:
        try:
            task = self._tasks.create(call.subject, call.description, tuple(call.blocked_by))
            if refusal := await self._refusal(task, TaskCreated):
                self._tasks.remove(task.id)
                raise ToolError(f"The task was not created: {refusal}")
        except TeamError as error:
            raise ToolError(str(error)) from error
        return ToolOutcome(f"Task {task.id} was added: {task.subject}")

    async def _list(self, _call: TaskListInput, _context: ToolContext) -> ToolOutcome:
        try:
            tasks = self._tasks.all()
        except TeamError as error:
            raise ToolError(str(error)) from error
        # Untrusted text: any member may have written it.
        return ToolOutcome(
            neutralize_text("\n".join(map(task_line, tasks))) or "The list is empty."
        )

    async def _update(self, call: TaskUpdateInput, _context: ToolContext) -> ToolOutcome:
        try:
            match call.status:
                case "in_progress":
                    task = self._tasks.claim(call.task_id, self._own_id)
                case "completed":
                    task = self._tasks.get(call.task_id)
                    if refusal := await self._refusal(task, TaskCompleted):
                        raise ToolError(f"The task is not completed: {refusal}")
                    task = self._tasks.complete(call.task_id, self._own_id)
                case "deleted":
                    if self._own_id != agent_id(LEADER, self._team):
                        raise ToolError("Only the leader deletes tasks.")
                    task = self._tasks.get(call.task_id)
                    self._tasks.remove(call.task_id)
        except TeamError as error:
            raise ToolError(str(error)) from error
        return ToolOutcome(f"Task {task.id} is {call.status} now.")

    async def _refusal(
        self, task: TeamTask, event: type[TaskCreated] | type[TaskCompleted]
    ) -> str | None:
        """Fire an event; return why a hook refuses, None if none does."""
        payload = event(
            task_id=task.id,
            task_subject=task.subject,
            task_description=task.description or None,
            teammate_name=self._own_id.partition("@")[0],
            team_name=self._team,
        )
        outcome = await self._hooks.firing.fire(payload)
        if outcome is None or outcome.proceeds is not False:
            return None
        return outcome.stop_reason or outcome.reason or "a hook refused"
