"""The composition root: wires settings, permissions, hooks, model, tools and session into one
conversation.

Nothing else knows all the parts. Order matters for safety: settings as data, trust, then everything
that may start a program. Next: `agent.conversation`.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from agent.accounting import Accounting, AddToLedger
from agent.child_env import child_environment
from agent.command_setup import CommandParts, CommandPorts
from agent.commands.center import CommandCenter
from agent.conversation import (
    DEFAULT_MAX_TURNS,
    DEFAULT_MAX_TURNS_HEADLESS,
    Conversation,
    Identity,
    Totals,
)
from agent.display import Display
from agent.errors import ConfigError, SessionError, SessionLocked, UsageError
from agent.events import Usage
from agent.hook_agent import HookAgent
from agent.hook_dispatch import HookDispatch
from agent.hook_setup import hook_config
from agent.hook_sources import HookSources
from agent.live_settings import LiveSettings
from agent.loop import LoopPorts
from agent.memory.budget import ContextBudget
from agent.memory.estimate import prefix_tokens
from agent.memory.keeper import ContextKeeper, KeeperPorts
from agent.memory.summariser import ModelSummariser
from agent.messages import Message
from agent.model.anthropic import AnthropicClient
from agent.model.capabilities import known_capabilities
from agent.model.client import Effort, ModelCapabilities, ModelRequest
from agent.model.endpoint import ModelSetup, expand_alias
from agent.model.key_helper import KeyRefresh
from agent.model.prices import PriceTable, canonical_name, shipped_prices
from agent.observe.background import Background
from agent.observe.cost import CostTracker, read_cost_state
from agent.observe.debug_log import DebugLog, debug_path
from agent.observe.ledger import Costs, Entry, Ledger, Sums, ledger_path
from agent.observe.observer import Observer
from agent.options import RunOptions
from agent.permission_contenders import PermissionContenders, is_auto_available
from agent.permission_setup import Grants, PermissionSetup, permission_setup
from agent.prompt.builtin import builtin_registry
from agent.prompt.context import GitState, PromptContext
from agent.prompt.git import read_branch, read_git_state
from agent.prompt.instruction_files import Instructions, Places
from agent.prompt.reminders import PromptReminders
from agent.prompt.system import PromptConfig, build_system
from agent.recovery.retry import RequestSource, RetryPolicy, policy_for
from agent.scope import WorkingDirectories
from agent.session.binding import bound
from agent.session.checkpoint import Checkpoints
from agent.session.recorder import SessionRecorder
from agent.session.redact import Redactor, secrets_of
from agent.session.resume import ResumedConversation, load
from agent.session.store import Session, SessionStore
from agent.session.worktree import Worktree
from agent.settings.load import CliSettings, Settings, load_settings
from agent.settings.watch import Reloaded
from agent.small_model import SmallModel
from agent.subagent import BuiltSubagent, SubagentRunner, SubagentSpec
from agent.tools.call import CallPorts
from agent.tools.deferred import DeferredTools
from agent.tools.emitter import SideEvents
from agent.tools.file_state import FileState
from agent.tools.registry import ToolRegistry
from agent.tools.services import AskPerson, ToolServices
from agent.tools.shells import ShellRegistry
from agent.turn import Recovery
from agent.user_prompt import Prompt
from hooks.contender import HookContender
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.audit import AuditLog
from permissions.classifier_local import LocalClassifier
from permissions.contender import Contender
from permissions.decision import Decision, Reason
from permissions.gate import PermissionGate
from permissions.grants import Grant, suggest
from permissions.handlers import HeadlessHandler, InteractiveHandler
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText

MAX_OUTPUT_TOKENS: Final = 32_000
"""Asked for per response; models that give less are asked for less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The world as the entry point found it; nothing below reads it again."""

    launch_dir: Path
    home: Path
    agent_home: Path
    env: Mapping[str, str]
    uid: int
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonPorts:
    """How the person is reached; all None in a headless run."""

    dialog: Contender | None = None
    ask: AskPerson | None = None
    notice: Callable[[str, str], None] | None = None
    """Shows a line outside of a turn; takes the text and its level, `info` or `warning`."""


@dataclass(slots=True, kw_only=True)
class Assembled:
    """A conversation, and what the entry point shows about how it came to be."""

    conversation: Conversation
    settings: Settings
    notices: tuple[str, ...] = ()
    resumed: ResumedConversation | None = None
    hook_runner: HookRunner = field(repr=False)
    grants: Grants = field(repr=False)
    checkpoints: Checkpoints = field(repr=False)
    commands: CommandCenter = field(repr=False)


def surroundings_from(env: Mapping[str, str], launch_dir: Path, *, version: str) -> Surroundings:
    """Return the surroundings of this process.

    Raises:
        UsageError: there is no home folder and none was named.
    """
    home_text = env.get("HOME", "").strip()
    named = env.get("AGENT_TUI_HOME", "").strip()
    if not home_text and not named:
        try:
            home = Path.home()
        except RuntimeError as error:
            raise UsageError(
                "HOME is not set, so there is no place for settings and sessions. "
                "Set HOME, or AGENT_TUI_HOME to a folder that may be written."
            ) from error
    else:
        home = Path(home_text) if home_text else Path(named)
    return Surroundings(
        launch_dir=launch_dir,
        home=home,
        agent_home=Path(named) if named else home / ".agent",
        env=env,
        uid=os.getuid(),
        version=version,
    )


def settings_for(options: RunOptions, around: Surroundings) -> Settings:
    """Load the settings of a start. Raises ConfigError."""
    return load_settings(
        launch_dir=around.launch_dir,
        home=around.home,
        agent_home=around.agent_home,
        env=around.env,
        cli=CliSettings(
            allow=options.allow,
            ask=options.ask,
            deny=options.deny,
            settings=str(options.settings_file) if options.settings_file is not None else None,
            model=options.model,
            effort=options.effort,
            permission_mode=options.permission_mode,
            add_dirs=tuple(str(path) for path in options.add_dirs),
            mcp_configs=(str(options.mcp_config),) if options.mcp_config is not None else (),
            trust=options.trust or options.demo,
        ),
    )


def open_session(
    options: RunOptions, around: Surroundings, settings: Settings
) -> tuple[Session, ResumedConversation | None, tuple[str, ...]]:
    """Open the session that the options name, or a new one.

    Raises:
        SessionError: there is none of that id, or the home folder takes none.
    """
    store = SessionStore(around.agent_home, version=around.version)
    found = None
    if options.resume:
        found = store.get(options.resume)
    elif options.continue_latest or options.resume == "":
        found = store.latest(settings.project_root)
        if found is None and options.continue_latest:
            raise SessionError("There is no earlier session in this project to continue.")
    if found is None:
        try:
            session = store.create(settings.project_root, launch_dir=around.launch_dir)
        except SessionError as error:
            session = store.create_unsaved(settings.project_root, launch_dir=around.launch_dir)
            return session, None, (f"This conversation will not be kept. {error}",)
        return session, None, ()
    if options.fork_session:
        session = store.fork(found.id)
        return session, load(session.path), (f"This is a copy of session {found.id}.",)
    try:
        session = store.open(found.id)
        notes = session.transcript.repairs
    except SessionLocked as error:
        session = store.fork(found.id)
        notes = (f"{error} This is a copy: {session.id}.",)
    return session, load(session.path), notes


async def assemble(
    options: RunOptions,
    around: Surroundings,
    settings: Settings,
    setup: ModelSetup,
    person: PersonPorts,
    *,
    is_demo: bool = False,
    on_close: Sequence[Callable[[], Awaitable[None]]] = (),
) -> Assembled:
    """Build a conversation. Trust was settled before: `settings` holds only what may count.

    Raises:
        SessionError: the session cannot be opened.
        ConfigError: no model can be chosen.
    """
    session, resumed, session_notes = await asyncio.to_thread(
        open_session, options, around, settings
    )
    try:
        return await _Assembly(
            options, around, settings, setup, person, session, resumed, is_demo, on_close
        ).build(session_notes)
    except BaseException:
        session.close()
        raise


class _Assembly:
    def __init__(
        self,
        options: RunOptions,
        around: Surroundings,
        settings: Settings,
        setup: ModelSetup,
        person: PersonPorts,
        session: Session,
        resumed: ResumedConversation | None,
        is_demo: bool,
        on_close: Sequence[Callable[[], Awaitable[None]]],
    ) -> None:
        self.options = options
        self.around = around
        self.settings = settings
        self.setup = setup
        self.person = person
        self.session = session
        self.resumed = resumed
        self.is_demo = is_demo
        self.on_close = tuple(on_close)
        self.model = ""
        self.effort: Effort | None = None
        self.queue: list[Prompt] = []
        self.previews: dict[str, Display | None] = {}
        self.side = SideEvents()
        self.env_files: list[Path] = []
        self.git: GitState | None = None
        self.notes: list[str] = []
        values = settings.values
        self.env = child_environment(around.env, settings.env)
        self.headless = options.headless

        if values.effortLevel is not None:
            self.effort = values.effortLevel

    async def build(self, session_notes: Sequence[str]) -> Assembled:
        folder = self.session.folder
        scratch = folder / "scratch"
        results = folder / "results"
        for path in (folder, scratch, results):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.client = AnthropicClient(self.setup.endpoint)
        self.model = await self._choose_model()
        self.capabilities: ModelCapabilities = known_capabilities(self.model)

        granted = self.resumed.grants if self.resumed is not None else ()
        permissions = permission_setup(
            self.settings,
            bypass_available=self._bypass_available(),
            auto_available=is_auto_available(self.settings),
            session_rules=[
                RuleText(rule, RuleBehavior(behavior), RuleSource.SESSION)
                for behavior, rule in granted
            ],
            scratch_dir=scratch,
            readable_dirs=(results,),
            resumed_mode=self.resumed.mode if self.resumed is not None else None,
        )
        redactor = Redactor(secrets_of({**self.around.env, **self.settings.env}))
        recorder = SessionRecorder(self.session, redact=redactor.json)
        recorder.seed(self.resumed.states if self.resumed is not None else ())
        hook_session = HookSession(
            session_id=self.session.id,
            transcript_path=self.session.path,
            project_dir=self.around.launch_dir,
            home=self.around.home,
            state_dir=folder,
            cwd=self.around.launch_dir,
            permission_mode=str(permissions.context.mode),
            effort=self.effort,
            scratch_dir=scratch,
            pid=os.getpid(),
        )
        small = SmallModel(
            self.client,
            lambda: self.setup.small_model or self.model,
            account=lambda usage, model: accounting.add_quietly(usage, model),
        )
        runner = HookRunner(
            hook_config(self.settings),
            session=hook_session,
            ports=HookPorts(
                env=self.env,
                ask_small_model=small.for_hooks,
                run_hook_agent=HookAgent(lambda: ports, self.side.emit),
            ),
        )
        dispatch = self.dispatch = HookDispatch(runner, hook_session, env_files=self.env_files)
        grants = Grants(lambda: self.settings, self._add_rules, session=list(granted))
        ways = PermissionContenders(lambda: self.settings, folder=folder, env=self.env)
        model_classifier = ways.classifier(
            small,
            said=lambda: [message.text for message in conversation.prompts],
            is_on=lambda: self.gate.mode is Mode.AUTO,
        )
        self.gate = self._gate(
            permissions, [model_classifier], ways.remote(), runner, grants, recorder, redactor
        )
        live = LiveSettings(
            self.settings,
            load=lambda: settings_for(self.options, self.around),
            gate=self.gate,
            runner=runner,
            in_force=self._use_settings,
            tell=self._tell,
            approve=dispatch.may_change_settings,
        )
        services = self.services = self._services(scratch, results, small)
        checkpoints = Checkpoints(
            folder,
            Worktree(
                Path(os.path.realpath(self.settings.project_root)),
                use_git=self.settings.trust.is_settled,
                env=self.env,
            ),
            turn_id=lambda: conversation.turn_id,
            may_write=services.scope.may_write,
        )
        services.checkpoints = checkpoints
        registry = ToolRegistry()
        if self.person.ask is None:
            registry = registry.without({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})
        registry.offer_search()
        totals = self.totals = self._totals()
        accounting = Accounting(
            totals,
            CostTracker(
                prices=self._prices(),
                state=read_cost_state(self.resumed.cost_by_model) if self.resumed else None,
            ),
            lambda: self.model,
            max_budget_usd=self.options.max_budget_usd or self.settings.values.maxBudgetUsd,
            on_exceeded=self._budget_exceeded,
            add_to_ledger=self._ledger(),
        )
        recorder.cost_by_model = lambda: accounting.costs.state.as_json()
        observer = self._observer(folder, redactor)
        prompt_context, instructions = await self._prompt_context(scratch, services)
        sources = HookSources(
            dispatch, instructions, prompt_context().instructions, lambda: services.cwd
        )
        sections = builtin_registry()
        commands = self.commands = CommandParts(
            CommandPorts(
                settings=lambda: self.settings,
                services=services,
                gate=self.gate,
                calls=lambda: ports.calls,
                hooks=dispatch,
                side=self.side,
                choice=self,
                model=lambda: self.model,
                effort=lambda: self.effort,
                is_headless=self.headless,
            )
        )
        services.skills = commands.skills
        system = build_system(
            prompt_context(),
            sections,
            PromptConfig(
                custom=self.options.system_prompt, append_tail=self.options.append_system_prompt
            ),
        )
        prefix, changed = bound(
            system,
            registry.to_wire(),
            self.resumed,
            keeps_own=bool(self.options.system_prompt or self.options.append_system_prompt),
        )
        system = prefix.system
        await recorder.system(system, prefix.digest)
        if changed is not None and self.resumed is not None:
            self.resumed = replace(self.resumed, messages=changed)
            await recorder.rewound(changed[-1].uid if changed else None, changed)
        await recorder.mode(str(permissions.context.mode))
        recovery = Recovery(
            self._policy(RequestSource.MAIN),
            self.setup.endpoint.base_url,
            fallback_model=next(iter(self.setup.fallback_models), None),
            refresh=self._key_refresh(),
        )
        ports = self._loop_ports(
            registry, services, dispatch, accounting, recorder, recovery, system, sources
        )
        services.subagents = SubagentRunner(
            lambda spec: self._subagent(
                spec, registry, services, dispatch, ports, prompt_context()
            ),
            self.side,
        )
        self.gate.on_mode_change(lambda mode: setattr(hook_session, "permission_mode", str(mode)))
        self.gate.on_mode_change(self._tell_stripped)
        learning = asyncio.ensure_future(self._learn_capabilities())
        conversation = Conversation(
            identity=Identity(
                launch_dir=self.around.launch_dir,
                project_root=self.settings.project_root,
                is_demo=self.is_demo,
                endpoint=self.setup.endpoint.base_url,
                branch=read_branch(self.settings.project_root),
                version=self.around.version,
            ),
            gate=self.gate,
            hooks=dispatch,
            ports=ports,
            recorder=recorder,
            reminders=commands.reminders(
                PromptReminders(
                    prompt_context,
                    sections,
                    is_resumed=self.resumed is not None,
                    told_mode=self.resumed.mode if self.resumed is not None else None,
                )
            ),
            totals=totals,
            model=lambda: self.model,
            effort=lambda: self.effort,
            switch=self,
            shells=services.shells,
            max_turns=self._max_turns(),
            previews=self.previews,
            todos=lambda: services.todos,
            cwd=lambda: services.cwd,
            tool_names=[tool.name for tool in registry.all()],
            queue=self.queue,
            on_close=(
                _cancelling(learning),
                commands.aclose,
                live.aclose,
                ways.aclose,
                sources.aclose,
                _closing(checkpoints.close),
                services.shells.kill_all,
                lambda: runner.aclose(wait_s=5.0 if self.headless else 0.0),
                self.client.aclose,
                lambda: asyncio.to_thread(observer.close),
                lambda: asyncio.to_thread(self.ledger.close),
                *self.on_close,
            ),
            messages=self.resumed.messages if self.resumed is not None else (),
            is_resumed=self.resumed is not None,
            observe=observer.record,
            on_start=sources.start,
            checkpoints=checkpoints,
            costs=Costs(lambda: accounting.costs.state, self._cost_sums),
            token_budget=self.settings.values.tokenBudget,
            expander=commands.expander,
        )
        if self.person.dialog is not None:
            opened = await ways.start()
            if opened is not None:
                self.notes.append(opened)
            live.start()
        assembled = Assembled(
            conversation=conversation,
            settings=self.settings,
            notices=self._notices(permissions, session_notes, instructions, runner),
            resumed=self.resumed,
            hook_runner=runner,
            grants=grants,
            checkpoints=checkpoints,
            commands=commands.center(
                conversation,
                instructions=lambda: prompt_context().instructions,
                on_directory=lambda path: self._later(
                    dispatch.directory_added(str(path), "slash_command")
                ),
                env=self.env,
                version=self.around.version,
                endpoint=self.setup.endpoint.base_url,
                list_models=self.client.list_models,
                reload_settings=lambda: self._reload_settings(live),
            ),
        )
        conversation.commands = assembled.commands
        return assembled

    async def _reload_settings(self, live: LiveSettings) -> None:
        """Read everything again, trust included; what changed counts at once."""
        fresh = await asyncio.to_thread(settings_for, self.options, self.around)
        if fresh != self.settings:
            trust = self.around.agent_home / "trust.json"
            live.apply(Reloaded(self.settings, fresh, (trust,)))

    # -- pieces -----------------------------------------------------------------------------

    async def _choose_model(self) -> str:
        resumed = self.resumed.model if self.resumed is not None and not self.is_demo else None
        chosen = self.options.model and self.setup.model
        model = chosen or resumed or self.setup.model
        if model:
            return model
        listed = await self.client.list_models()
        if len(listed) == 1:
            return listed[0]
        known = f" It has: {', '.join(listed[:10])}." if listed else ""
        raise ConfigError(
            f"{self.setup.endpoint.base_url} is no vendor endpoint, so no model is assumed. "
            f"Name one with --model or ANTHROPIC_MODEL.{known}"
        )

    async def set_model(self, model: str) -> None:
        """Use another model from the next request on."""
        self.model = expand_alias(model)
        self.capabilities = known_capabilities(self.model)
        await self._learn_capabilities()

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next request on; None is the model's default."""
        self.effort = effort

    async def _learn_capabilities(self) -> None:
        """Ask the endpoint what the model can take; the table counts until it answers."""
        model = self.model
        found = await self.client.capabilities(model)
        if model == self.model:
            self.capabilities = found
            self.totals.context_window = found.context_window

    def _bypass_available(self) -> bool:
        if not self.options.allow_bypass:
            return False
        return self.around.uid != 0 or self.around.env.get("AGENT_TUI_SANDBOXED") == "1"

    def _max_turns(self) -> int:
        given = self.options.max_turns or self.settings.values.maxTurns
        return given or (DEFAULT_MAX_TURNS_HEADLESS if self.headless else DEFAULT_MAX_TURNS)

    def _policy(self, source: RequestSource) -> RetryPolicy:
        """Return how requests are retried; for hours where nobody waits (error-recovery)."""
        asked = self.around.env.get("AGENT_TUI_PERSISTENT_RETRY", "") not in {"", "0"}
        return policy_for(source, persistent=asked or self.settings.values.persistentRetry is True)

    def _key_refresh(self) -> Callable[[], Awaitable[bool]] | None:
        """Return what reads the key anew; None where it would be the same one again."""
        command = self.settings.values.apiKeyHelper
        if not command or self.setup.origin != "apiKeyHelper":
            return None
        return KeyRefresh(self.client, command, {**self.settings.env, **self.around.env})

    def _prices(self) -> PriceTable:
        own = self.settings.values.prices
        try:
            return shipped_prices().with_overrides(own or {})
        except ValueError as error:
            self.notes.append(f"Settings: {error}. The shipped prices count.")
            return shipped_prices()

    def _ledger(self) -> AddToLedger:
        ledger = Ledger(ledger_path(self.around.agent_home))
        entries = self.ledger = Background(ledger.add, name="costs")

        def add(model: str, usd: float, usage: Usage) -> None:
            name = canonical_name(model)
            entries(Entry(self.session.id, date.today(), name, usd, usage))

        return add

    async def _cost_sums(self) -> Sums:
        ledger = Ledger(ledger_path(self.around.agent_home))
        return await asyncio.to_thread(ledger.sums, date.today())

    def _observer(self, folder: Path, redactor: Redactor) -> Observer:
        debug: DebugLog | None = None
        if self.options.debug:
            path = debug_path(self.around.agent_home, self.session.id)
            try:
                debug = DebugLog(path, redact=redactor.text)
            except OSError as error:
                self.notes.append(f"There is no debug log: {path}: {error.strerror}.")
            else:
                self.notes.append(f"Debug log: {path}")
        return Observer(folder, env=self.around.env, debug=debug)

    def _totals(self) -> Totals:
        totals = Totals(context_window=self.capabilities.context_window)
        if self.resumed is not None:
            totals.usage = self.resumed.usage
            totals.cost_usd = self.resumed.cost_usd
            totals.context_tokens = self.resumed.context_tokens
        return totals

    def _gate(
        self,
        permissions: PermissionSetup,
        classifiers: Sequence[Contender],
        remote: Sequence[Contender],
        runner: HookRunner,
        grants: Grants,
        recorder: SessionRecorder,
        redactor: Redactor,
    ) -> PermissionGate:
        classifier = LocalClassifier(lambda: (self.gate.context, self.services.cwd))
        contenders: list[Contender] = [
            HookContender(runner, on_outcome=self.dispatch.show_outcome, suggest=self._suggest),
            classifier,
            *classifiers,
        ]
        if self.person.dialog is not None:
            handler: Any = InteractiveHandler([*contenders, *remote, self.person.dialog])
        else:
            handler = HeadlessHandler(contenders)
        grants.on_session_change = lambda rules: self._later(recorder.grants(rules))
        return PermissionGate(
            permissions.context,
            handler,
            audit=AuditLog(
                self.around.agent_home / "audit" / f"{date.today():%Y-%m}.jsonl",
                session_id=self.session.id,
                redact=redactor.text,
                mode=lambda: str(self.gate.mode),
                cwd=lambda: self.services.cwd,
                folder=self.around.launch_dir,
                tell=lambda text: self._tell(text, "warning"),
            ),
            grants=grants,
            auto_available=is_auto_available(self.settings),
        )

    def _tell(self, text: str, level: str) -> None:
        if self.person.notice is not None:
            self.person.notice(text, level)

    def _tell_stripped(self, _mode: Mode) -> None:
        rules = ", ".join(rule.text for rule in self.gate.stripped_rules)
        if rules:
            self._tell(f"In auto mode these allow rules do not count: {rules}.", "warning")

    def _use_settings(self, settings: Settings) -> None:
        self.settings = settings

    def _suggest(self, request: PermissionRequest, pending: Decision) -> Sequence[Grant]:
        return suggest(request, pending, self.gate.context, cwd=self.services.cwd)

    def _add_rules(self, rules: Sequence[RuleText]) -> None:
        context = self.gate.context
        self.gate.replace_context(context.with_rules(context.rules.with_rules(rules)))

    def _budget_exceeded(self, reason: str) -> None:
        self.gate.replace_context(replace(self.gate.context, budget_exceeded=reason))

    def _services(self, scratch: Path, results: Path, small: SmallModel) -> ToolServices:
        return ToolServices(
            launch_dir=self.around.launch_dir,
            cwd=self.around.launch_dir,
            home=self.around.home,
            scratch_dir=scratch,
            results_dir=results,
            env=self.env,
            files=FileState(),
            shells=ShellRegistry(),
            scope=WorkingDirectories(lambda: self.gate.context),
            mode=_Modes(self.gate),
            session_id=self.session.id,
            person=self.person.ask,
            small_model=small,
            todos=self.resumed.todos if self.resumed is not None else (),
            blocked_hosts=tuple(sorted(self.gate.context.blocked_hosts)),
            may_search=self._may_search,
            env_files=self.env_files,
        )

    async def _prompt_context(
        self, scratch: Path, services: ToolServices
    ) -> tuple[Callable[[], PromptContext], Instructions]:
        settings = self.settings
        instructions = Instructions(
            Places(
                launch_dir=self.around.launch_dir,
                project_root=settings.project_root,
                home=self.around.home,
                agent_home=self.around.agent_home,
                uid=self.around.uid,
                excludes=tuple(settings.values.claudeMdExcludes or ()),
            )
        )
        files = await asyncio.to_thread(instructions.at_start)
        is_repository = (settings.project_root / ".git").exists()
        if is_repository and settings.trust.is_settled:
            self.git = await read_git_state(settings.project_root, self.env)

        def context() -> PromptContext:
            return PromptContext(
                launch_dir=self.around.launch_dir,
                cwd=services.cwd,
                platform=f"{platform.system()} {platform.release()} ({platform.machine()})",
                shell="bash",
                today=date.today(),
                model=self.model,
                mode=str(self.gate.mode),
                is_repository=is_repository,
                git=self.git,
                additional_dirs=settings.additional_dirs,
                scratch_dir=scratch,
                instructions=files,
                headless=self.headless,
                language=settings.values.language,
            )

        return context, instructions

    def _loop_ports(
        self,
        registry: ToolRegistry,
        services: ToolServices,
        dispatch: HookDispatch,
        accounting: Accounting,
        recorder: SessionRecorder,
        recovery: Recovery,
        system: tuple[dict[str, Any], ...],
        sources: HookSources,
    ) -> LoopPorts:
        tools = registry.to_wire()
        deferred = DeferredTools(registry)
        services.deferred = deferred
        prefix = prefix_tokens(system, tools)

        def request(messages: tuple[Message, ...]) -> ModelRequest:
            return ModelRequest(
                model=self.model,
                system=system,
                # What the model loads comes behind the rest: until then the prefix is the same.
                tools=(*tools, *deferred.definitions()),
                messages=messages,
                max_tokens=min(MAX_OUTPUT_TOKENS, self.capabilities.max_output_tokens),
                effort=self.effort,
            )

        return LoopPorts(
            client=self.client,
            recovery=recovery,
            calls=CallPorts(
                registry=registry,
                gate=self.gate,
                hooks=dispatch,
                services=services,
                recorder=recorder,
                side=self.side,
                previews=self.previews,
            ),
            hooks=dispatch,
            request=request,
            account=accounting.account,
            spent=accounting.spent,
            queued=self._take_queued,
            reports=self._ended_shells,
            after_calls=sources.after_calls,
            context=ContextKeeper(
                KeeperPorts(
                    budget=lambda: ContextBudget(
                        self.capabilities.context_window, self.capabilities.max_output_tokens
                    ),
                    prefix_tokens=lambda: prefix,
                    turn_id=dispatch.turn_id,
                    summary=ModelSummariser(
                        self.client,
                        request,
                        lambda: replace(recovery, policy=self._policy(RequestSource.COMPACTION)),
                        turn_id=dispatch.turn_id,
                        account=accounting.add_quietly,
                        on_event=self.side.emit,
                    ),
                    hooks=dispatch,
                    is_automatic=lambda: self.settings.values.autoCompactEnabled is not False,
                )
            ),
        )

    def _ended_shells(self) -> list[str]:
        return [
            f"The background command {shell.id} (`{shell.command[:200]}`) ended with exit code "
            f"{shell.exit_code}. BashOutput shows what it wrote."
            for shell in self.services.shells.take_finished()
        ]

    def _may_search(self, path: Path) -> bool:
        """Whether rules let the contents of a file appear among search results."""
        request = PermissionRequest("Read", {"file_path": str(path)})
        decision = self.gate.evaluate(request, cwd=self.services.cwd)
        return decision.reason not in {Reason.DENY_RULE, Reason.ASK_RULE}

    async def _take_queued(self) -> list[Message]:
        """Take what may join a running turn; commands wait for its end, and so what follows."""
        messages: list[Message] = []
        while self.queue:
            prompt = self.queue[0]
            before = await self.commands.expander.expand_queued(prompt)
            if before is None or prompt not in self.queue:
                break
            self.queue.remove(prompt)
            messages.extend((*before, prompt.to_message()))
        return messages

    def _subagent(
        self,
        spec: SubagentSpec,
        registry: ToolRegistry,
        services: ToolServices,
        dispatch: HookDispatch,
        parent: LoopPorts,
        context: PromptContext,
    ) -> BuiltSubagent:
        tools = registry.without({t.name for t in registry.all() if not spec.has_tool(t.name)})
        own = replace(
            services,
            files=FileState(),
            person=None,
            subagents=None,
            todos=(),
        )
        hooks = dispatch.for_subagent(spec.agent_id, spec.agent_type, "")
        system = build_system(
            context, builtin_registry(), PromptConfig(append_tail=_SUBAGENT_PROMPT)
        )
        wire = tools.to_wire()
        model = spec.model or self.model

        def request(messages: tuple[Message, ...]) -> ModelRequest:
            return ModelRequest(
                model=model,
                system=system,
                tools=wire,
                messages=messages,
                max_tokens=min(MAX_OUTPUT_TOKENS, self.capabilities.max_output_tokens),
                effort=self.effort,
            )

        ports = replace(
            parent,
            recovery=replace(parent.recovery, policy=self._policy(RequestSource.SUB_AGENT)),
            calls=replace(parent.calls, registry=tools, hooks=hooks, services=own, side=None),
            hooks=hooks,
            request=request,
            queued=_nothing_queued,
            reports=list,
            context=None,
            after_calls=None,
        )
        return BuiltSubagent(ports, hooks)

    def _notices(
        self,
        permissions: PermissionSetup,
        session_notes: Sequence[str],
        instructions: Instructions,
        runner: HookRunner,
    ) -> tuple[str, ...]:
        resumed = self.resumed.notes if self.resumed is not None else ()
        waiting = len(self.settings.waiting_rules)
        notes = [
            *(str(w) for w in self.settings.warnings if w.level != "info"),
            *(w.message for w in permissions.warnings),
            *(str(w) for w in runner.config.warnings),
            *self.setup.warnings,
            *self.notes,
            *instructions.warnings,
            *session_notes,
            *resumed,
        ]
        if self.settings.trust.must_ask and (waiting or self.settings.trust.new):
            notes.append(
                f"This folder is not trusted: {len(self.settings.trust.new)} settings of the "
                "project do nothing (allow rules, hooks, servers, variables). "
                "Use --trust to let them count."
            )
        return tuple(dict.fromkeys(notes))

    def _later(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        _PENDING.add(task)
        task.add_done_callback(_PENDING.discard)


def _cancelling(task: asyncio.Future[None]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        task.cancel()
        await asyncio.wait({task})

    return run


async def _nothing_queued() -> list[Message]:
    return []


def _closing(close: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        close()

    return run


_PENDING: set[asyncio.Task[None]] = set()

_SUBAGENT_PROMPT: Final = (
    "You work for another agent, not for a person: nobody can answer questions. Do the task you "
    "are given with the tools you have, then answer with a report of at most 300 words: what you "
    "found or changed, with file paths and line numbers. Only that report is passed on."
)


class _Modes:
    """The permission mode as tools see it."""

    def __init__(self, gate: PermissionGate) -> None:
        self._gate = gate

    @property
    def mode(self) -> str:
        return str(self._gate.mode)

    def enter_plan_mode(self) -> None:
        self._gate.enter_plan_mode()

    def leave_plan_mode(self, mode: str) -> None:
        self._gate.leave_plan_mode(parse_mode(mode) or Mode.DEFAULT)
