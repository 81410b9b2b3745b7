"""What the tools of one conversation share: directories, file state, and ports to the rest.

A sub-agent gets its own `ToolServices` with the same ports. Ports are protocols that the assembly
fills in; None means that the feature is not available (headless: no user to ask).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from agent.abort import AbortSignal
from agent.display import TodoItem
from agent.sandbox.sandbox import Sandbox
from agent.tools.result_room import ResultRoom
from agent.tools.workflow_port import WorkflowPort

if TYPE_CHECKING:
    from agent.messages import Block
    from agent.sandbox.network.host_gate import HostAnswer, HostRequest
    from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
    from agent.sandbox.refusals import Refusal
    from agent.tools.agent_port import CallLimits, SubagentPort
    from agent.tools.file_state import FileState
    from agent.tools.search_port import SearchPort
    from agent.tools.shell.shells import ShellRegistry
    from permissions.base.process.reading_programs import ReadingPrograms
    from permissions.confinement import Confinement
    from permissions.request import PermissionRequest


class QuestionOption(Struct, frozen=True):
    """One answer offered."""

    label: str
    description: str = ""
    preview: str = ""
    """A preview in Markdown, shown while the answer is selected."""


class Question(Struct, frozen=True):
    """One question of `AskUserQuestion`, or of a server's form."""

    question: str
    header: str
    options: tuple[QuestionOption, ...]
    multi_select: bool = False
    is_closed: bool = False
    """Whether only the options are answers; otherwise a free-text answer is possible."""


class PartialAnswers(dict[str, str]):
    """The answers that were given before the user stopped answering; the user may be away."""


class AskUser(Protocol):
    """Asks the user questions, or to approve a plan."""

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        """Return answers by question text, or None when the user declined.

        `PartialAnswers` if the form was not completed.
        """
        ...

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        """Show a plan and return what the user decided."""
        ...

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        """Return whether commands in the sandbox may reach a host; cancelling closes the dialog."""
        ...

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        """Return what to do after the sandbox refused something; cancelling closes the dialog."""
        ...


class ProgramAnswers(Struct, frozen=True):
    """What the program that drives a run answered to questions of the model."""

    answers: Mapping[str, str]
    """By question text; empty if there is none."""
    refusal: str = ""
    """Why the program does not answer; empty if it may."""
    ends_turn: bool = False


class PlanPort(Protocol):
    """Asks the program that drives a headless run about plans, and questions of the model."""

    async def answer_questions(
        self, questions: Sequence[Mapping[str, object]], tool_use_id: str, abort: AbortSignal
    ) -> ProgramAnswers:
        """Return the answers to the questions of this call, which are as in its input.

        Raises:
            Aborted: the signal fired first.
        """
        ...

    async def decide_plan(self, plan: str, tool_use_id: str, abort: AbortSignal) -> PlanAnswer:
        """Return what was decided about the plan of this call.

        Raises:
            Aborted: the signal fired first.
        """
        ...


class PlanAnswer(Struct, frozen=True):
    """The user's answer to a plan."""

    is_approved: bool
    mode: str = "default"
    """The mode to continue in when approved."""
    feedback: str = ""
    plan: str | None = None
    """The plan as changed by the user; None if unchanged."""
    ends_turn: bool = False
    """Not approved, and the turn ends."""


class RefusalPort(Protocol):
    """Lets the user allow what the sandbox refused."""

    async def offer(
        self,
        request: PermissionRequest,
        confinement: Confinement,
        refusals: Sequence[Refusal],
        cwd: Path,
    ) -> Confinement | None:
        """Return the confinement to run the command under again; None for no other run."""
        ...


class SmallModelPort(Protocol):
    """One question to the small model, without tools, history or hooks."""

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        """Return the answer's text. Raises ModelError."""
        ...


class SkillText(Struct, frozen=True):
    """A skill as content for the model."""

    blocks: tuple[Block, ...]
    agent: str | None = None
    """The kind of sub-agent that carries it out; None for the caller."""
    model: str | None = None
    """The sub-agent's model, if it is another one."""


class SkillPort(Protocol):
    """The skills and commands that the model may use by itself."""

    def names(self) -> tuple[str, ...]:
        """Return their names."""
        ...

    def is_text_alone(self, name: str) -> bool:
        """Return whether a skill exists and has neither rules nor hooks of its own."""
        ...

    async def load(self, name: str, arguments: str, turn_id: str, abort: AbortSignal) -> SkillText:
        """Return a skill's text and the files it mentions. Raises ToolError."""
        ...

    async def read(self, name: str, turn_id: str, abort: AbortSignal) -> SkillText:
        """Return a skill's text alone, without its rules and hooks. Raises ToolError."""
        ...


class DeferredToolsPort(Protocol):
    """Tools whose schemas the model gets only when it asks for them."""

    @property
    def loaded_names(self) -> Sequence[str]:
        """Names of those it asked for, in that order."""
        ...

    def search(self, query: str, limit: int) -> tuple[tuple[str, str], ...]:
        """Return `(name, description)` of tools that match the query, best first."""
        ...

    def load(self, names: Sequence[str]) -> tuple[Mapping[str, object], ...]:
        """Make tools available from the next request on; return their definitions."""
        ...


class CheckpointPort(Protocol):
    """Stores a copy of a file before it is changed."""

    async def before_change(self, path: Path, *, tool_use_id: str) -> None:
        """Store a copy of the file, or that it does not exist. Raises ToolError if that fails."""
        ...

    async def after_change(self, tool_use_id: str) -> None:
        """Record the new content of the file that a call changed, if it changed one."""
        ...

    async def before_command(self, tool_use_id: str) -> Sequence[str]:
        """Record the project's files before a command; return what is not covered."""
        ...

    async def after_command(self, tool_use_id: str) -> None:
        """Store the earlier state of the files that the command changed."""
        ...


class ModePort(Protocol):
    """The conversation's permission mode as tools see it."""

    @property
    def mode(self) -> str:
        """The mode's name."""
        ...

    def enter_plan_mode(self) -> None:
        """Switch to plan mode; always allowed, because it only reduces what is allowed."""
        ...

    def leave_plan_mode(self, mode: str) -> None:
        """Continue in the mode the user chose when approving the plan."""
        ...


class WorkingScope(Protocol):
    """Read access to the working directories, which are checked again at the moment of use."""

    def is_inside(self, path: Path) -> bool:
        """Whether the path, links resolved, lies inside the working directories."""
        ...

    def may_write(self, path: Path, also: Sequence[str] = ()) -> bool:
        """Whether a write there can be allowed at all (scope only; rules were asked before).

        Args:
            also: Directories outside them that the user opened for this call.
        """
        ...


class ToolServices(Struct):
    """Shared state of one agent's tools. Only tools of this agent touch it."""

    launch_dir: Path
    cwd: Path
    """The shell's current directory: `cd` changes it, but not the scope."""
    home: Path
    scratch_dir: Path
    """Private to the session, inside scope, exported to commands as TMPDIR."""
    results_dir: Path
    """Where oversized results and background output go (0700)."""
    env: Mapping[str, str]
    """For child processes: secrets already removed."""
    reading: ReadingPrograms
    """Starts the searches."""
    files: FileState
    shells: ShellRegistry
    scope: WorkingScope
    mode: ModePort
    session_id: str
    sandbox: Sandbox | None = None
    """Confines the commands; None if the host confines the whole program."""
    may_leave_sandbox: bool = False
    """Whether the model may ask to run a command outside it."""
    is_trusted: Callable[[], bool] = lambda: False
    """Whether the user trusts what the project adds, or it adds nothing."""
    user: AskUser | None = None
    plans: PlanPort | None = None
    """Decides about plans and answers questions if there is no `user`."""
    refusals: RefusalPort | None = None
    subagents: SubagentPort | None = None
    small_model: SmallModelPort | None = None
    workflows: WorkflowPort | None = None
    search: SearchPort | None = None
    checkpoints: CheckpointPort | None = None
    skills: SkillPort | None = None
    deferred_tools: DeferredToolsPort | None = None
    todos: tuple[TodoItem, ...] = ()
    blocked_hosts: tuple[str, ...] = ()
    named_hosts: Callable[[], frozenset[str]] = frozenset
    """Hosts that allow rules for WebFetch name in full; these it also fetches from loopback."""
    background_on_timeout: bool = False
    """Whether a command that times out continues in the background."""
    limits: CallLimits | None = None
    """Limits of this agent's calls; None for the defaults."""
    room: ResultRoom = field(default_factory=ResultRoom)
    """Shared by the results of the current round."""
    env_files: list[Path] = field(default_factory=list)
    """Shell files that hooks wrote (`CLAUDE_ENV_FILE`), sourced before each command."""
    may_search: Callable[[Path], bool] | None = None
    """Whether a file that Grep or Glob found may be named and quoted; None allows every one.

    The call itself was judged by its directory; this applies rules about single files inside it.
    """

    def move_to(self, directory: Path) -> bool:
        """Make a directory the current one; return False, unchanged, if it is outside the scope."""
        if directory != self.cwd and not self.scope.is_inside(directory):
            return False
        self.cwd = directory
        return True

    def can_ask(self, tool: str) -> bool:
        """Whether a tool that asks the user can reach one in this run."""
        is_for_program = tool in {"ExitPlanMode", "AskUserQuestion"} and self.plans is not None
        return self.user is not None or is_for_program
