"""A conversation made of recorded events, for driving the screen without a model."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from agent.commands.command_context import CommandContext
from agent.commands.command_registry import CommandRegistry
from agent.commands.service import CommandService
from agent.commands.sources.command_files import CustomCommands
from agent.commands.sources.directories import CommandLocations
from agent.commands.sources.discover import CommandFinder
from agent.commands.spec import Surface
from agent.commands.table import BUILTIN_COMMANDS
from agent.display import Display, TodoItem
from agent.events import AgentEvent, Compacted, MessageCommitted, Terminal, Usage
from agent.files.file_index import FileIndex
from agent.history import HistoryPart
from agent.loop.loop_ports import LoopPorts
from agent.memory.context_breakdown import ContextBreakdown, Slice
from agent.messages import Message
from agent.model.client import Effort
from agent.observe.ledger import Costs
from agent.orchestration.orchestration_mode import OrchestrationMode
from agent.sandbox.availability import Availability, Backend
from agent.sandbox.sandbox import Sandbox
from agent.session.checkpoints.blobs import PathState
from agent.session.checkpoints.checkpoint import Checkpoints, FileChange, Preview, RestoreResult
from agent.session.rewind import RewindPoint
from agent.settings.load import load_settings
from agent.stream import discard
from agent.subagents.agent_files import AgentFiles
from agent.subagents.agent_limits import AgentCaps
from agent.subagents.agent_run import BuiltSubagent
from agent.subagents.catalog import AgentCatalog
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor, SupervisorPorts
from agent.tools.shell.shells import ShellRegistry
from agent.user_prompt import Prompt
from hooks.config.config import HookConfig
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined
from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import Decision
from permissions.gate import PermissionGate
from permissions.mode import Mode, next_mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import HeadlessHandler
from permissions.rules.rule_set import RuleSet
from tests.tui.recorded_workflows import recorded_workflows
from themes.registry import load_theme
from tui.app.app import AgentApp
from tui.ports.app_options import AppOptions
from tui.ports.conversation import ScreenPorts

Step = AgentEvent | Callable[["RecordedConversation"], Awaitable[object]]
"""An event, or something to await before the next one."""


@dataclass
class RecordedQueue:
    """What waits for the model in a recorded conversation."""

    conversation: RecordedConversation

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return tuple(self.conversation.waiting)

    def add(self, prompt: Prompt) -> None:
        self.conversation.waiting.append(prompt)

    def take_back(self) -> list[Prompt]:
        taken = list(self.conversation.waiting)
        self.conversation.waiting.clear()
        return taken

    def take_next(self) -> Prompt | None:
        return self.conversation.waiting.pop(0) if self.conversation.waiting else None

    def add_note(self, text: str) -> None:
        self.conversation.told.append(text)

    def save_draft(self, text: str) -> None:
        self.conversation.draft = text


@dataclass
class RecordedConversation:
    """Plays one list of steps per prompt, then `Terminal`."""

    scripts: list[Sequence[Step]]
    ports: ScreenPorts | None = None
    session_id: str = "0123-session"
    messages: tuple[Message, ...] = ()
    launch_dir: Path = Path("/home/ada/slugs")
    cwd: Path = Path("/home/ada/slugs")
    branch: str | None = "main"
    is_demo: bool = False
    model: str = "claude-sonnet-5"
    effort: str | None = None
    can_think: bool = True
    thinks: bool = True
    mode: Mode = Mode.DEFAULT
    cost_usd: float = 0.0
    context_tokens: int = 0
    context_window: int = 200_000
    todos: tuple[TodoItem, ...] = ()
    previews: dict[str, Display] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    waiting: list[Prompt] = field(default_factory=list)
    answers: list[Decision | None] = field(default_factory=list)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    is_running: bool = False
    is_closed: bool = False
    draft: str = ""
    usage: Usage = field(default_factory=Usage)
    transcript_path: Path = Path("/home/ada/.agent/sessions/x.jsonl")
    title: str = ""
    commands: CommandService | None = None
    costs: Costs | None = None
    checkpoints: Checkpoints | None = None
    wants_notifications: bool = False
    notified: list[str] = field(default_factory=list)
    undone: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.commands = center_for(self)

    def set_effort(self, effort: Effort | None) -> None:
        self.effort = effort

    def set_thinking(self, is_on: bool) -> bool:
        self.thinks = is_on
        return True

    async def rename(self, title: str) -> None:
        self.title = title

    def context_breakdown(self) -> ContextBreakdown:
        return ContextBreakdown(self.context_window, 30_000, (Slice("Tools", 30_000),), True)

    async def points(self) -> tuple[RewindPoint, ...]:
        return tuple(RewindPoint(m.uid, "t1", m.text, "") for m in self.prompts)

    async def preview_files(self, turn_id: str) -> Preview | None:
        return None

    async def restore_files(self, turn_id: str) -> RestoreResult | None:
        return None

    async def undo_edits(self, tool_use_ids: Sequence[str]) -> RestoreResult:
        self.undone.append(tuple(tool_use_ids))
        state = PathState("absent")
        change = FileChange(self.launch_dir / "basket.py", "write", state, state)
        return RestoreResult((change,), (), "redo-1")

    def move_to(self, directory: Path) -> bool:
        self.cwd = directory
        return True

    def send_to_background(self) -> bool:
        return False

    @property
    def prompts(self) -> tuple[Message, ...]:
        return tuple(m for m in self.messages if m.origin == "person")

    @property
    def view(self) -> RecordedConversation:
        return self

    @property
    def status(self) -> RecordedConversation:
        return self

    @property
    def controls(self) -> RecordedConversation:
        return self

    @property
    def hook_signals(self) -> RecordedConversation:
        return self

    @property
    def rewinding(self) -> RecordedConversation:
        return self

    @property
    def prompt_queue(self) -> RecordedQueue:
        return RecordedQueue(self)

    @property
    def queued(self) -> tuple[Prompt, ...]:
        return tuple(self.waiting)

    async def run(self, prompt: Prompt | None) -> AsyncIterator[AgentEvent]:
        if prompt is None:
            self.is_woken = False
            self.received.append("(woken)")
            yield Terminal("t1", "completed")
            return
        self.received.append(prompt.text)
        self.is_running = True
        self.interrupted = asyncio.Event()
        script = self.scripts.pop(0) if self.scripts else ()
        reason = "completed"
        try:
            yield MessageCommitted("t1", prompt.to_message())
            for step in script:
                if callable(step):
                    await step(self)
                else:
                    yield step
                if self.interrupted.is_set():
                    reason = "aborted_streaming"
                    break
        finally:
            self.is_running = False
        yield Terminal("t1", "aborted_streaming" if reason != "completed" else "completed")

    def interrupt(self, reason: str = "") -> bool:
        was_running = self.is_running
        self.interrupted.set()
        return was_running

    def cycle_mode(self) -> Mode:
        self.mode = next_mode(self.mode, bypass_available=False, auto_available=False)
        return self.mode

    async def set_model(self, model: str) -> str:
        self.model = model
        return ""

    async def rewind(self, prompt_uid: str) -> str:
        index = next(i for i, message in enumerate(self.messages) if message.uid == prompt_uid)
        text = self.messages[index].text
        self.messages = self.messages[:index]
        return text

    async def compact(
        self, focus: str = "", part: HistoryPart | None = None
    ) -> AsyncIterator[AgentEvent]:
        side = f" of what came {part.side}" if part is not None else ""
        yield Compacted("t1", "manual", 9_000, 1_000, f"Summary {focus}{side}")

    def preview_of(self, tool_use_id: str) -> Display | None:
        return self.previews.get(tool_use_id)

    is_woken: bool = False
    on_wake: Callable[[], None] = lambda: None

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        self.on_wake = on_wake

    async def notify(self, kind: str, message: str) -> None:
        self.notified.append(kind)

    async def aclose(self) -> None:
        self.is_closed = True


def center_for(conversation: RecordedConversation, home: Path | None = None) -> CommandService:
    """The commands of a recorded conversation, over settings that are not there."""
    root, home = conversation.launch_dir, home or Path("/home/ada")
    settings = load_settings(launch_dir=root, home=home, agent_home=home / ".agent")
    places = CommandLocations(home, home / ".agent", root)
    custom = CustomCommands(CommandFinder(places, lambda: settings.trust), places)

    async def list_models() -> Sequence[str]:
        return ["claude-sonnet-5", "claude-opus-5-5"]

    async def reload_settings() -> None:
        return None

    async def ask_side_question(question: str) -> str:
        return f"about {question}"

    registry = CommandRegistry([custom.commands, lambda: BUILTIN_COMMANDS], Surface.SCREEN)
    reading = ReadingPrograms(os.environ, root, launch_unconfined)
    gate = PermissionGate(
        PermissionContext(
            Mode.DEFAULT,
            RuleSet(),
            root,
            root,
            home,
            scratch_dir=Path(tempfile.gettempdir()),
            sandbox=SandboxState(SandboxLevel.FULL),
        ),
        HeadlessHandler(),
    )
    available = Availability(SandboxLevel.FULL, Backend.BUBBLEWRAP, "/usr/bin/bwrap")
    context = CommandContext(
        session=conversation,
        status=conversation,
        costs=conversation.costs,
        context_breakdown=conversation.context_breakdown,
        changes=conversation,
        registry=registry,
        custom=custom,
        settings=lambda: settings,
        gate=gate,
        sandbox=Sandbox(
            available,
            lambda: gate.context,
            state_dir=home / ".agent" / "sandbox",
            user_env=lambda: os.environ,
        ),
        hooks=HookRunner(
            HookConfig(),
            session=HookSession("s", root / "transcript.jsonl", root, home, home / "state", root),
            ports=HookPorts(),
        ),
        shells=ShellRegistry(),
        agents=no_agents(root),
        orchestration=OrchestrationMode(_Effort()),
        workflows=recorded_workflows(root, home),
        instructions=tuple,
        on_directory=lambda _: None,
        env=dict(os.environ),
        reading=reading,
        home=home,
        agent_home=home / ".agent",
        version="1.2.3",
        endpoint=lambda: "http://127.0.0.1:1",
        list_models=list_models,
        servers=lambda: None,
        servers_made=lambda: asyncio.sleep(0),
        reload_settings=reload_settings,
        team=lambda: None,
        may_lead=lambda _: None,
        ask_side_question=ask_side_question,
        advisor=NoAdvisor(),
        follow_model=lambda _: None,
        model_problem=lambda _: None,
    )
    return CommandService(registry, custom, context, FileIndex(root, reading))


class _Effort:
    """An effort that nobody asks a model for."""

    effort: Effort | None = None

    def set_effort(self, effort: Effort | None) -> None:
        self.effort = effort


class NoAdvisor:
    """What `/advisor` changes, in a session without one."""

    model: str | None = None

    def choose(self, model: str | None) -> None:
        self.model = model


def no_agents(root: Path) -> AgentSupervisor:
    """The agents of a session that starts none."""

    async def build(agent: RunningAgent, parent: LoopPorts | None) -> BuiltSubagent:
        raise AssertionError(agent.id, parent)

    async def ask(text: str) -> bool:
        return False

    return AgentSupervisor(
        AgentCatalog(AgentFiles),
        SupervisorPorts(
            build=build,
            emit=discard,
            price=lambda _model, _usage: 0.0,
            ask=ask,
            directory=root / "session",
            project=root,
        ),
        AgentCaps(),
    )


def until_interrupted(conversation: RecordedConversation) -> Awaitable[object]:
    """A step that ends when the user interrupts."""
    return conversation.interrupted.wait()


def ask(
    request: PermissionRequest, pending: Decision
) -> Callable[[RecordedConversation], Awaitable[object]]:
    """A step that opens the permission dialog and keeps its answer."""

    async def step(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        answer = await conversation.ports.contender.decide(request, pending)
        conversation.answers.append(answer)

    return step


def make_app(
    conversation: RecordedConversation | None = None,
    *,
    theme: str = "dark",
    no_color: bool = False,
    kind: type[AgentApp] = AgentApp,
    **keywords: object,
) -> AgentApp:
    """Return an app on a recorded conversation; its clock stands still unless one is given.

    Keywords are options of the app, where they have the name of one.
    """
    played = conversation or RecordedConversation([])

    async def make(ports: ScreenPorts) -> RecordedConversation:
        played.ports = ports
        return played

    options = AppOptions(
        load_theme(theme)[0],
        version="1.2.3",
        directory=Path("/home/ada/slugs"),
        home=Path("/home/ada"),
        no_color=no_color,
    )
    changes = {name: keywords.pop(name) for name in [*keywords] if hasattr(options, name)}
    options = replace(options, **changes)
    return kind(make, options, **{"clock": lambda: 0.0, **keywords})  # type: ignore[arg-type]
