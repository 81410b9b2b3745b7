"""Makes the conversation of a front end, and the next one after `/clear` and `/resume`.

It determines settings, trust and the model (or the demo), and asks the user through the front end's
dialogs. Next: `agent.assembly.assemble` (the parts), `tui.startup.run` and
`tui.screen_reader.session`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from agent.options import RunOptions
from agent.prompt.shell_command_note import as_typed
from permissions.base.process.own_environment import hide_secrets
from permissions.base.process.worker_threads import import_aside
from permissions.base.text.sanitize import sanitize
from tui.conversation.gc_pause import resume_collection
from tui.conversation.late_dialogs import ask_to_keep_facts, mcp_dialogs
from tui.ports.conversation import ScreenPorts
from tui.version import version

if TYPE_CHECKING:
    # For annotations only: these modules are loaded after the first frame.
    from agent.assembly.assemble import Assembled, Environment
    from agent.conversation.conversation import Conversation
    from agent.conversation.model_selection import ModelNotNamed
    from agent.events import AgentEvent
    from agent.model.endpoint import ModelSetup
    from agent.settings.load import Settings
    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from tui.conversation.model_choice import Closer
    from tui.dialogs.onboarding import LocalModel
    from tui.dialogs.permission_ask import GrantOffer


class Front(Protocol):
    """What the factory needs of the front end."""

    def notice(self, text: str, level: str = "info") -> None:
        """Show a line."""
        ...

    def use_directory(self, directory: Path) -> None:
        """Use the demo's copy of its project as the working directory."""
        ...

    def name_window(self, title: str) -> None:
        """Show a session's name as the window's title, if the front end has one."""
        ...

    def take_draft(self, text: str) -> bool:
        """Take unsent text of an earlier run; False if the front end cannot."""
        ...

    def write_sequence(self, sequence: str) -> None:
        """Write a hook's sequence to the terminal: a bell, a title or a notification."""
        ...

    async def show_past(self, path: Path) -> None:
        """Show the end of the resumed session, before its conversation is rebuilt."""
        ...

    async def show_event(self, event: AgentEvent) -> None:
        """Show an event that belongs to no prompt."""
        ...


COLLECT_AFTER_S: Final = 0.5
"""How long after the conversation was made garbage collection resumes: a prompt that waits is sent
before that."""


class ConversationMaker:
    """One conversation at a time; closed by `release` or `aclose`."""

    def __init__(
        self, options: RunOptions, launch_dir: Path, env: Mapping[str, str], front: Front
    ) -> None:
        """`options` are those of the command line; nothing is loaded yet."""
        self.options = options
        self._mode_of_start = options.permission_mode
        self._declined_digests: frozenset[str] = frozenset()
        """Digests of what the user declined to trust in this run."""
        self._at_start: Settings | None = None
        """Settings of the first conversation: `--trust` accepts only what they contain."""
        self.parts: Assembled | None = None
        self._launch_dir = launch_dir
        self._env = env
        self._front = front
        self._closers: list[Closer] = []
        self._background: set[asyncio.Future[None]] = set()

    async def make(self, ports: ScreenPorts) -> Conversation:
        """Make the conversation; an exception ends the program."""
        await self._show_past()
        # In a thread: the import takes longer than a frame, and keys must still be echoed.
        assembly = await import_aside("agent.assembly.assemble")
        from agent.conversation.model_selection import (
            ModelNotNamed,  # already loaded by the line above
        )

        hide_secrets()
        environment = assembly.environment_from(self._env, self._launch_dir, version=version())
        settings, setup, environment = await self._load_settings_and_model(ports, environment)
        user_ports = assembly.UserPorts(
            reads_titles=True,
            dialog=ports.contender,
            ask=ports.user,
            notice=self._front.notice,
            live=self._show_soon,
            terminal=self._front.write_sequence,
            mcp=lambda: mcp_dialogs(ports.show),
            keep_facts=lambda: ask_to_keep_facts(ports.show),
        )
        try:
            self.parts = await assembly.assemble(
                self.options, environment, settings, setup, user_ports, is_demo=self._is_demo(setup)
            )
        except ModelNotNamed as error:
            settings, setup, environment = await self._choose_model(error, ports, environment)
            self.parts = await assembly.assemble(
                self.options, environment, settings, setup, user_ports, is_demo=self._is_demo(setup)
            )
        for notice in self.parts.notices:
            self._front.notice(notice, "warning")
        old_session = self.parts.resumed_conversation
        title = self.options.name or (old_session.title if old_session is not None else None)
        if title:
            self._front.name_window(title)
        conversation = self.parts.conversation
        if old_session is not None and (
            text := self._restore(old_session.draft, old_session.queued_prompts)
        ):
            # The texts are in the prompt now: record them as the draft at once, so that a kill does
            # not lose them, and clear the queue, so that the next resume does not repeat them.
            conversation.prompt_queue.save_draft(text)
            conversation.forget_queue(old_session.unfinished_turn)
        greeting = asyncio.ensure_future(self._greet(conversation))
        self._background.add(greeting)
        greeting.add_done_callback(self._check_greeting)
        asyncio.get_running_loop().call_later(COLLECT_AFTER_S, resume_collection)
        return conversation

    @staticmethod
    def _is_demo(setup: ModelSetup) -> bool:
        return setup.origin == "embedded demo"

    async def release(self, session_id: str | None, *, team: str | None = None) -> None:
        """End the conversation; the next one made is the named session, or with None a new one.

        A new conversation keeps the current mode; a resumed session has its own.
        """
        mode = self._mode_of_start
        if self.parts is not None:
            if session_id is None:
                mode = str(self.parts.conversation.status.mode)
            await self.parts.conversation.aclose("clear" if session_id is None else "resume")
            for line in self.closing_lines():
                self._front.notice(line, "warning")
            self.parts = None
        self.options = replace(
            self.options,
            prompt=None,
            resume=session_id,
            continue_latest=False,
            fork_session=False,
            after_clear=session_id is None,
            permission_mode=mode,
            setup=None,
            team=self.options.team if team is None else team or None,
        )

    async def aclose(self) -> None:
        """End the conversation and everything that was started for it."""
        async with contextlib.AsyncExitStack() as closing:
            for close in self._closers:
                closing.push_async_callback(close)
            if self.parts is not None:
                await self.parts.conversation.aclose("prompt_input_exit")

    def resume_line(self) -> str:
        """Return a line with the command that resumes the session; "" without a session."""
        if self.parts is None:
            return ""
        conversation, home = self.parts.conversation, self.parts.temporary_home
        if (
            not conversation.view.messages
            or conversation.view.is_demo
            or conversation.view.is_unused_copy
        ):
            return ""
        where = f"AGENT_TUI_HOME={shlex.quote(str(home))} " if home is not None else ""
        team = f" --team {self.options.team}" if self.options.team is not None else ""
        return f"Continue with: {where}agent-tui{team} -r {conversation.view.session_id}\n"

    def closing_lines(self) -> Sequence[str]:
        """Return the lines to print at the end: ended shell commands, and notices of hooks."""
        if self.parts is None:
            return ()
        conversation = self.parts.conversation
        hook_events = [e for e in conversation.hooks.notices() if e.type == "hook_finished"]
        notices = [line for event in hook_events for line in event.notices]
        return [sanitize(line) for line in (*conversation.shells.closing_notice(), *notices)]

    def suggest_grants(
        self, request: PermissionRequest, decision: Decision
    ) -> Sequence[GrantOffer]:
        """Return the grants that the permission dialog offers."""
        if self.parts is None:
            return ()
        # Imported with the first dialog, not with the first frame.
        from tui.dialogs.grant_offers import grant_offers

        conversation = self.parts.conversation
        evaluation = conversation.gate.current_evaluation(request, cwd=conversation.view.cwd)
        return grant_offers(evaluation, decision)

    def judge_call(self, request: PermissionRequest) -> Decision | None:
        """Return the decision about a call that the user edited; None for sub-agents' calls."""
        if self.parts is None or request.agent_id is not None:
            return None
        conversation = self.parts.conversation
        return conversation.gate.preview(request, cwd=conversation.view.cwd)

    async def _show_past(self) -> None:
        """Show the end of the session to resume, since rebuilding a large one takes seconds."""
        options = self.options
        if options.demo or not (options.resume or options.continue_latest):
            return
        path = await asyncio.to_thread(session_to_resume, options, self._env, self._launch_dir)
        if path is not None:
            await self._front.show_past(path)

    def _show_soon(self, event: AgentEvent) -> None:
        showing = asyncio.ensure_future(self._front.show_event(event))
        self._background.add(showing)
        showing.add_done_callback(self._background.discard)

    def _check_greeting(self, greeting: asyncio.Future[None]) -> None:
        self._background.discard(greeting)
        if not greeting.cancelled() and (error := greeting.exception()) is not None:
            self._front.notice(f"The session could not start: {error}", "error")

    async def _greet(self, conversation: Conversation) -> None:
        """Run the SessionStart hooks in the background; the first prompt waits for them."""
        for event in await conversation.start():
            await self._front.show_event(event)

    async def _load_settings_and_model(
        self, ports: ScreenPorts, environment: Environment
    ) -> tuple[Settings, ModelSetup, Environment]:
        from agent.assembly.assemble import settings_for  # after the first frame, see above
        from tui.conversation.model_choice import NotConfigured, real_model

        if not self.options.demo:
            settings = await asyncio.to_thread(
                settings_for, self.options, environment, self._at_start
            )
            self._at_start = self._at_start or settings
            if settings.trust.must_ask and settings.trust.new:
                settings = await self._ask_trust(ports, environment, settings)
            try:
                return settings, await real_model(settings, environment, self.options), environment
            except NotConfigured as error:
                from tui.dialogs.onboarding import LocalModel, Onboarding  # only if asked

                chosen = await ports.onboarding(obstacle=error.obstacle)
                if isinstance(chosen, LocalModel):
                    settings = await self._store_model(chosen, environment)
                    return (
                        settings,
                        await real_model(settings, environment, self.options),
                        environment,
                    )
                if chosen is not Onboarding.DEMO:
                    raise error
        return await self._begin_demo(environment)

    async def _choose_model(
        self, error: ModelNotNamed, ports: ScreenPorts, environment: Environment
    ) -> tuple[Settings, ModelSetup, Environment]:
        """Ask which of the endpoint's models to use, and store the answer.

        Raises:
            ModelNotNamed: the endpoint lists no models, or the user declined.
            ConfigError: the settings cannot be written.
        """
        from agent.model.local_servers import LocalServer
        from tui.conversation.model_choice import real_model
        from tui.dialogs.onboarding import LocalModel, Onboarding

        if not error.models:
            raise error
        chosen = await ports.onboarding(LocalServer("", error.base_url, error.models))
        if chosen is Onboarding.DEMO:
            return await self._begin_demo(environment)
        if not isinstance(chosen, LocalModel):
            raise error
        settings = await self._store_model(chosen, environment, is_configured=True)
        return settings, await real_model(settings, environment, self.options), environment

    async def _begin_demo(
        self, environment: Environment
    ) -> tuple[Settings, ModelSetup, Environment]:
        from agent.assembly.assemble import settings_for  # after the first frame, see above
        from tui.conversation.model_choice import demo_model

        setup, environment, closer = await demo_model(environment)
        self._closers.append(closer)
        self._front.use_directory(environment.launch_dir)
        self.options = replace(
            self.options, demo=True, continue_latest=False, resume=None, model=None
        )
        settings = await asyncio.to_thread(settings_for, self.options, environment)
        return settings, setup, environment

    async def _store_model(
        self, chosen: LocalModel, environment: Environment, *, is_configured: bool = False
    ) -> Settings:
        """Write the chosen server and model into the user's settings, and read them again.

        `is_configured`: the settings already name the server.

        Raises:
            ConfigError: the settings cannot be written.
        """
        from agent.assembly.environment import settings_for
        from agent.errors import ConfigError  # after the first frame, see above
        from agent.settings.change import set_value

        file = environment.agent_home / "settings.json"
        try:
            if not is_configured:
                await asyncio.to_thread(set_value, file, "baseUrl", chosen.base_url)
            await asyncio.to_thread(set_value, file, "model", chosen.model)
        except OSError as error:
            raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error
        return await asyncio.to_thread(settings_for, self.options, environment, self._at_start)

    async def _ask_trust(
        self, ports: ScreenPorts, environment: Environment, settings: Settings
    ) -> Settings:
        from agent.assembly.assemble import settings_for  # after the first frame, see above
        from agent.settings.trust import TrustStore
        from tui.dialogs.trust_dialog import trust_request

        state = settings.trust
        digests = frozenset(item.digest for item in state.new)
        if digests <= self._declined_digests:
            return settings
        if not await ports.trust(trust_request(state)):
            self._declined_digests |= digests
            return settings
        try:
            TrustStore(environment.agent_home / "trust.json").accept(state)
        except OSError as error:
            self._front.notice(
                f"Your answer cannot be saved, so it has no effect: {error.strerror}.", "warning"
            )
            return settings
        return await asyncio.to_thread(settings_for, self.options, environment)

    def _restore(self, draft: str, queued_prompts: Sequence[str]) -> str:
        """Put unsent text back into the prompt; return it, or "" if that is not possible."""
        texts = [*queued_prompts, *([draft] if draft else [])]
        # A command joined with other texts would read them as its arguments.
        text = as_typed(texts[0]) if len(texts) == 1 else "\n".join(texts)
        if not text or self.options.prompt:
            return ""
        return text if self._front.take_draft(text) else ""


def session_to_resume(options: RunOptions, env: Mapping[str, str], launch_dir: Path) -> Path | None:
    """Return the file of the session to resume; None if there is none, which is reported later."""
    from agent.errors import SessionError  # only needed for a resume
    from agent.session.archive.find_by_name import find_session
    from agent.session.store import SessionStore
    from agent.settings.locations import find_agent_home, find_home
    from agent.settings.project_root import find_project_root

    home = find_home(env, os.getuid())
    store = SessionStore(find_agent_home(env, home))
    try:
        if options.resume:
            return find_session(store, options.resume).path
        latest = store.latest(find_project_root(launch_dir))
    except (SessionError, OSError):
        return None
    return latest.path if latest is not None else None
