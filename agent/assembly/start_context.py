"""One start: the inputs from entry point and session, and the parts that follow from them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.assembly.environment import Environment
from agent.assembly.sandbox_setup import sandbox_state
from agent.assembly.session_opening import session_seal
from agent.conversation.accounting import Totals
from agent.conversation.conversation_ports import (
    DEFAULT_MAX_TURNS,
    DEFAULT_MAX_TURNS_HEADLESS,
    Identity,
)
from agent.conversation.model_selection import ModelInUse, choose_model
from agent.errors import UsageError
from agent.events import HookFinished, HookStarted
from agent.messages import Block, Message
from agent.model.client import Effort
from agent.model.endpoint import ModelSetup
from agent.model.providers.router import ModelRouter
from agent.observe.debug_log import DebugLog, debug_path
from agent.observe.observer import CONTENT_VARIABLE, Observer, wants_content
from agent.observe.otel import missing_packages
from agent.options import RunOptions
from agent.permission_config.contenders import is_auto_available
from agent.permission_config.permission_context import PermissionSetup, permission_setup
from agent.prompt.git import read_branch
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.session.checkpoints.worktree import Worktree
from agent.session.prefix_binding import bind_prefix
from agent.session.records import GrantsRecord
from agent.session.resume import ResumedConversation
from agent.session.session_recorder import SessionRecorder
from agent.session.store import Session
from agent.settings.load import Settings
from agent.subagents.definition import AgentDefinition
from agent.teams.seat import MemberStart
from agent.tools.registry import ToolRegistry
from agent.tools.services import AskUser, PlanPort, WorkingScope
from hooks.config.sources import plugin_name
from hooks.ports import HookSession
from permissions.base.files.private_file import make_real_directory
from permissions.base.process.child_environment import child_environment
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.text.redactor import Redactor
from permissions.confinement import Confinement
from permissions.mode import Mode
from permissions.resolve.contender import Contender
from permissions.rule import RuleBehavior, RuleSource, RuleText

if TYPE_CHECKING:
    from agent.mcp.live.caller_channel import AskServer
    from agent.mcp.live.user_port import McpUser


class UserPorts(Struct, frozen=True, kw_only=True):
    """How the user is reached; None for what a headless run lacks."""

    dialog: Contender | None = None
    ask: AskUser | None = None
    plans: PlanPort | None = None
    """Decides about plans and answers questions if there is no `ask`."""
    notice: Callable[[str, str], None] | None = None
    """Shows a line outside of a turn; takes the text and its level, `info` or `warning`."""
    live: Callable[[HookStarted | HookFinished], None] | None = None
    """Shows at once that a hook is running, and that it has ended."""
    terminal: Callable[[str], None] | None = None
    """Writes one of the few permitted escape sequences for a hook to the terminal."""
    reads_titles: bool = False
    """Whether the user chooses among sessions by their titles."""

    ask_server: AskServer | None = None
    """Reaches MCP servers inside the calling program."""
    mcp: Callable[[], McpUser] | None = None
    """Creates the port through which MCP servers and their setup ask the user."""
    keep_facts: Callable[[], Awaitable[bool | None]] | None = None
    """Asks whether to keep facts for later sessions; returns None to ask again later."""

    def notify(self, text: str, level: str) -> None:
        """Show a line if there is a screen."""
        if self.notice is not None:
            self.notice(text, level)


def scratch_directory(session: Session) -> Path:
    """Return the session's temporary directory."""
    return session.directory / "scratch"


_SANDBOXED: Final = ("AGENT_TUI_SANDBOXED", "IS_SANDBOX")
"""Variables that say that the program runs in a disposable container."""


class CurrentSettings:
    """The settings in force, replaced when files change; trust was decided before."""

    def __init__(self, settings: Settings) -> None:
        """Start with these settings."""
        self._settings = settings
        self._listeners: list[Callable[[], None]] = []

    def __call__(self) -> Settings:
        """Return the settings in force."""
        return self._settings

    def replace(self, settings: Settings) -> None:
        """Replace the settings, and call the listeners."""
        self._settings = settings
        for listener in self._listeners:
            listener()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._listeners.append(listener)


class RequestPrefix(Struct, frozen=True):
    """The beginning of every request of a conversation."""

    system: tuple[Block, ...]
    resumed_conversation: ResumedConversation | None
    """Its messages are in the form in which they are sent now."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history to continue from."""
        return self.resumed_conversation.messages if self.resumed_conversation is not None else ()


class StartContext(Struct, frozen=True, kw_only=True):
    """The inputs that a conversation is built from."""

    options: RunOptions
    environment: Environment
    current_settings: CurrentSettings
    setup: ModelSetup
    user: UserPorts
    session: Session
    resumed_conversation: ResumedConversation | None
    is_demo: bool
    member: MemberStart | None
    """Set for a worker of a team."""
    lead: AgentDefinition | None = None
    """The agent that leads the session."""
    env: Mapping[str, str]
    """Environment of child processes."""
    sandbox: Sandbox
    """Confines the programs that this program starts."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user, added by the builders of parts."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.current_settings()

    @property
    def own_env(self) -> Mapping[str, str]:
        """Environment of the user's own programs, which nothing confines: without the variables
        that a project sets (`PYTHONPATH=src` would run what the model writes there)."""
        return child_environment(self.environment.env, self.settings.own_env)

    @property
    def plugins_with_servers(self) -> tuple[Path, ...]:
        """The directories of plugins whose servers are used."""
        launch_dir = self.environment.launch_dir
        without = {launch_dir / one for one in self.options.plugins_without_servers}
        return tuple(root for root in self.plugins if root not in without)

    @property
    def plugins(self) -> tuple[Path, ...]:
        """The directories of plugins."""
        return tuple(self.environment.launch_dir / one for one in self.options.plugin_dirs)

    def warn(self, text: str) -> None:
        """Show the user a warning outside of a turn."""
        self.user.notify(text, "warning")

    @property
    def reading(self) -> ReadingPrograms:
        """Starts git and searches in the project, confined to reading."""
        confine = self.sandbox.confine_where_held(
            RunRequest(Confinement.READ_ONLY, masks_denied=False)
        )
        return ReadingPrograms(self.env, self.settings.project_root, confine)

    @property
    def directory(self) -> Path:
        """The session's own directory."""
        return self.session.directory

    @property
    def scratch(self) -> Path:
        """Where the model may write files that belong to no project."""
        return scratch_directory(self.session)

    @property
    def results(self) -> Path:
        """Where results that are too large for the history are stored."""
        return self.directory / "results"

    def make_directories(self) -> None:
        """Create the session's directories with mode 0700."""
        for path in (self.directory, self.scratch, self.results):
            make_real_directory(path)

    def identity(self) -> Identity:
        """Return what does not change while the program runs."""
        return Identity(
            launch_dir=self.environment.launch_dir,
            project_root=self.settings.project_root,
            is_demo=self.is_demo,
            endpoint=self.setup.address,
            branch=read_branch(self.settings.project_root),
            version=self.environment.version,
            key_source=self.setup.origin,
            plugins=tuple((plugin_name(root), root) for root in self.plugins),
        )

    async def model_in_use(
        self, client: ModelRouter, on_effort: Callable[[Effort | None], None]
    ) -> ModelInUse:
        """Choose the model. Raises ConfigError if no model is configured."""
        resumed_conversation = (
            self.resumed_conversation.model
            if self.resumed_conversation is not None and not self.is_demo
            else None
        )
        model = await choose_model(
            client,
            self.setup,
            requested_model=self.options.model,
            earlier_model=resumed_conversation,
        )
        values = self.settings.values
        wants_thinking = self.options.wants_thinking
        if wants_thinking is None:
            wants_thinking = values.alwaysThinkingEnabled is not False
        return ModelInUse(
            client,
            model,
            values.effortLevel,
            wants_thinking=wants_thinking,
            on_effort=on_effort,
            totals=self._totals(),
            limits=self.resumed_conversation.limits if self.resumed_conversation else None,
        )

    def _totals(self) -> Totals:
        resumed_conversation = self.resumed_conversation
        if resumed_conversation is None:
            return Totals()
        return Totals(
            resumed_conversation.usage,
            resumed_conversation.cost_usd,
            resumed_conversation.context_tokens,
        )

    async def prefix(
        self, system: tuple[Block, ...], registry: ToolRegistry, recorder: SessionRecorder
    ) -> RequestPrefix:
        """Return the system prompt to send and the messages to continue from, both recorded."""
        own = self.options.system_prompt or self.options.append_system_prompt
        own = own or self.options.json_schema
        prefix, messages = bind_prefix(
            system, registry.to_wire(), self.resumed_conversation, has_own_prompt=bool(own)
        )
        await recorder.system(prefix.system, prefix.digest)
        if messages is None or self.resumed_conversation is None:
            return RequestPrefix(prefix.system, self.resumed_conversation)
        await recorder.rewound(messages[-1].uid if messages else None, messages)
        return RequestPrefix(prefix.system, replace(self.resumed_conversation, messages=messages))

    @property
    def session_grants(self) -> GrantsRecord:
        """What the user granted in the resumed session."""
        return (
            self.resumed_conversation.grants
            if self.resumed_conversation is not None
            else GrantsRecord()
        )

    def permissions(self) -> PermissionSetup:
        """Return rules and mode, including what was granted to a resumed session."""
        resumed_conversation, grants = self.resumed_conversation, self.session_grants
        return permission_setup(
            self.settings,
            bypass_available=self._bypass_available(),
            auto_available=is_auto_available(self.settings),
            session_rules=[
                RuleText(rule, RuleBehavior(behavior), RuleSource.SESSION)
                for behavior, rule in grants.grants
            ],
            # A directory that has become a link would grant access to another one.
            session_dirs=[Path(one) for one in grants.directories if os.path.realpath(one) == one],
            scratch_dir=self.scratch,
            readable_dirs=(self.results,),
            sandbox=sandbox_state(self.sandbox.available, self.options, self.settings),
            resumed_mode=resumed_conversation.mode if resumed_conversation is not None else None,
        )

    def _bypass_available(self) -> bool:
        if not self.options.allow_bypass:
            return False
        env = self.environment.env
        if self.environment.uid != 0 or "1" in {env.get(name) for name in _SANDBOXED}:
            return True
        if self.options.permission_mode == Mode.BYPASS:
            raise UsageError(
                "bypassPermissions is not available to root: every command could change the whole "
                "machine. Run as another user or, inside a container, set "
                f"{' or '.join(_SANDBOXED)} to 1."
            )
        return False

    def hook_session(self, permissions: PermissionSetup) -> HookSession:
        """Return the session data that hooks receive."""
        return HookSession(
            session_id=self.session.id,
            transcript_path=self.session.path,
            project_dir=self.settings.project_root,
            home=self.environment.home,
            state_dir=self.directory,
            cwd=self.environment.launch_dir,
            permission_mode=str(permissions.context.mode),
            effort=self.settings.values.effortLevel,
            scratch_dir=self.scratch,
            pid=os.getpid(),
        )

    def checkpoints(self, turn_id: Callable[[], str], scope: WorkingScope) -> Checkpoints:
        """Return the store of file contents before each prompt."""
        root = Path(os.path.realpath(self.settings.project_root))
        return Checkpoints(
            self.directory,
            Worktree(root, self.reading, use_git=self.settings.trust.is_settled),
            turn_id=turn_id,
            may_write=scope.may_write,
            seal=session_seal(self.environment, self.settings, self.session).snapshot_seal,
        )

    def registry(self, *, without: Sequence[str] = ()) -> ToolRegistry:
        """Return the tools except those named; tools that ask the user need a user."""
        registry = ToolRegistry().without(without)
        if self.user.ask is None:
            registry = registry.without({"EnterPlanMode"})
            if self.user.plans is None:
                registry = registry.without({"AskUserQuestion", "ExitPlanMode"})
        names = self.options.tools
        if names is not None and "default" not in names:
            tools_by_name = {name: registry.get(name) for name in names}
            unknown = [name for name in names if tools_by_name[name] is None]
            if self.member is not None:  # tools of servers are added later
                unknown = [name for name in unknown if not name.startswith("mcp__")]
            if unknown:
                self.notes.append(f"--tools: there is no tool {', '.join(unknown)} here.")
            registry = registry.without(
                {t.name for t in registry.all()}
                - {tool.name for tool in tools_by_name.values() if tool is not None}
            )
        registry.offer_search()
        return registry

    def max_turns(self) -> int:
        """Return after how many rounds with tool calls a turn ends."""
        limit = self.settings.limit("maxTurns", self.options.max_turns)
        usual = DEFAULT_MAX_TURNS_HEADLESS if self.options.headless else DEFAULT_MAX_TURNS
        return usual if limit is None else int(limit)

    def max_budget_usd(self) -> float | None:
        """Return the most that the session may cost in US dollars; None without a limit."""
        return self.settings.limit("maxBudgetUsd", self.options.max_budget_usd)

    def observer(self, redactor: Redactor) -> Observer:
        """Return the observer, which writes spans and, if requested, the debug log."""
        debug: DebugLog | None = None
        if self.options.debug:
            home = self.environment.agent_home
            path = self.options.debug_file or debug_path(home, self.session.id)
            try:
                debug = DebugLog(path, redact=redactor.line)
            except OSError as error:
                self.notes.append(f"There is no debug log: {path}: {error.strerror}.")
            else:
                self.notes.append(f"Debug log: {path}")
        missing = missing_packages(self.environment.env)
        if missing:
            self.notes.append(missing)
        if wants_content(self.environment.env):
            self.notes.append(
                f"Spans hold prompts, answers and tool output: {CONTENT_VARIABLE} is set."
            )
        return Observer(self.directory, env=self.environment.env, redact=redactor.text, debug=debug)
