"""The run with a screen: first frame at once, the conversation made behind it, a clean end.

What takes long (settings, the model's SDK, the session) is imported and read only after the first
frame; keys typed meanwhile are kept by the app.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.child_env import child_environment
from agent.exit_status import EXIT_HANGUP, EXIT_INTERRUPTED
from agent.options import RunOptions
from themes.registry import DEFAULT_THEME, load_theme
from themes.theme import ThemeError
from tui.app import AgentApp
from tui.app_options import AppOptions, ExitReport
from tui.conversation_port import ScreenPorts
from tui.external_editor import edit_file, edit_text, editor_command
from tui.start_collector import resume_collection
from tui.version import version

if TYPE_CHECKING:
    from agent.assemble import Assembled, Surroundings
    from agent.conversation import Conversation
    from agent.model.endpoint import ModelSetup
    from agent.settings.load import Settings
    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from tui.dialogs.permission import GrantOffer
    from tui.model_choice import Closer


HURRY_PRESSES: Final = 3
SWITCH_S: Final = 0.0005
"""How long a thread that imports or colours code keeps the interpreter: a tenth of the usual, or
each key would wait 5 ms more for its echo."""


def run_screen(options: RunOptions, launch_dir: Path) -> int:
    """Run the app on the terminal and return the exit status."""
    sys.setswitchinterval(SWITCH_S)
    for name in ("COLUMNS", "LINES"):
        # Exported by some shells and tools; they would count more than the terminal's own size.
        os.environ.pop(name, None)
    run = _ScreenRun(options, launch_dir, os.environ)
    try:
        status = asyncio.run(run.run())
    except KeyboardInterrupt:
        status = run.status
    # All is saved and the terminal is back: a Ctrl+C that comes late has nothing to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_go_of_output()
    return status


def _let_go_of_output() -> None:
    """Write what is left; to a terminal that has gone, nothing can be, and that is no failure."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # The interpreter tries once more while it ends, and would change the exit status.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


class _ScreenRun:
    def __init__(self, options: RunOptions, launch_dir: Path, env: Mapping[str, str]) -> None:
        if options.resume == "" and not options.prompt:
            # `-r` alone: the person chooses on the screen, from a conversation that is still empty.
            from dataclasses import replace

            options = replace(options, resume=None, prompt="/resume")
        self.options = options
        self.launch_dir = launch_dir
        self.env = env
        self.closers: list[Closer] = []
        self._background: set[asyncio.Future[None]] = set()
        self.assembled: Assembled | None = None
        self.status = EXIT_INTERRUPTED
        """Exit status, once the goodbye was said."""
        home = Path(env.get("HOME") or "/")
        agent_home = Path(env["AGENT_TUI_HOME"]) if env.get("AGENT_TUI_HOME") else home / ".agent"
        theme_name, notices = _theme_name(agent_home)
        themes_dir = agent_home / "themes"
        try:
            theme, theme_notices = load_theme(theme_name, user_dir=themes_dir)
        except ThemeError as error:
            theme, theme_notices = load_theme(DEFAULT_THEME)
            notices = (*notices, f"theme: {error}")
        editor = editor_command(env)
        self.app = AgentApp(
            self.make_conversation,
            AppOptions(
                theme=theme,
                version=version(),
                folder=launch_dir,
                home=home,
                no_color=bool(env.get("NO_COLOR")),
                initial_prompt=options.prompt or "",
                agent_home=agent_home,
                themes_dir=themes_dir,
                shell_env=child_environment(env, {}),
                notices=(*notices, *theme_notices),
            ),
            suggest_grants=self.suggest_grants,
            edit_text=(lambda text: edit_text(editor, text)) if editor else None,
            edit_path=(lambda path: edit_file(editor, path)) if editor else None,
            release=self.release,
        )

    async def run(self) -> int:
        report: ExitReport | None = None
        try:
            report = await self.app.run_async()
        finally:
            await self._close_patiently()
        try:
            self.status = self._say_goodbye(report)
        except OSError:
            # The terminal is gone, and with it whoever would read.
            self.status = self.app.return_code or EXIT_HANGUP
        return self.status

    async def _close_patiently(self) -> None:
        """Close; a Ctrl+C that comes late does no harm, and the third one ends the waiting."""
        closing = asyncio.ensure_future(self._close())
        presses = 0

        def on_interrupt() -> None:
            nonlocal presses
            presses += 1
            if presses >= HURRY_PRESSES:
                closing.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        await asyncio.wait({closing})
        if not closing.cancelled():
            closing.result()
        elif self.assembled is not None:
            self.assembled.conversation.shells.kill_now()

    async def release(self, session_id: str | None) -> None:
        """End the conversation; the next one made is this session, or a new one."""
        from dataclasses import replace  # with the first `/clear` or `/resume`

        if self.assembled is not None:
            await self.assembled.conversation.aclose("clear" if session_id is None else "resume")
            self.assembled = None
        self.options = replace(
            self.options,
            prompt=None,
            resume=session_id,
            continue_latest=False,
            fork_session=False,
        )

    async def _close(self) -> None:
        if self.assembled is not None:
            await self.assembled.conversation.aclose("prompt_input_exit")
        for close in reversed(self.closers):
            await close()

    def _say_goodbye(self, report: ExitReport | None) -> int:
        if report is None:
            self._say_how_to_continue()
            return self.app.return_code or 0
        if report.last_answer:
            sys.stdout.write(report.last_answer.rstrip() + "\n\n")
        if report.error:
            sys.stderr.write(f"agent-tui: {report.error}\n")
            return 1
        self._say_how_to_continue()
        return 0

    def _say_how_to_continue(self) -> None:
        conversation = self.assembled.conversation if self.assembled is not None else None
        if conversation is not None and conversation.messages and not conversation.is_demo:
            sys.stdout.write(f"Continue with: agent-tui -r {conversation.session_id}\n")

    # -- making the conversation ------------------------------------------------------------

    async def make_conversation(self, ports: ScreenPorts) -> Conversation:
        """Make the conversation behind the first frame; what it raises ends the program."""
        # In a thread: the import takes longer than a frame, and keys must echo meanwhile.
        assembly = await asyncio.to_thread(importlib.import_module, "agent.assemble")
        sdk = importlib.import_module("agent.model.sdk")
        sdk.preload(then=resume_collection)
        around = assembly.surroundings_from(self.env, self.launch_dir, version=version())
        settings, setup, around = await self._settle(ports, around)
        person = assembly.PersonPorts(
            dialog=ports.contender, ask=ports.person, notice=self.app.notice
        )
        is_demo = setup.origin == "embedded demo"
        self.assembled = await assembly.assemble(
            self.options, around, settings, setup, person, is_demo=is_demo
        )
        for notice in self.assembled.notices:
            self.app.notice(notice, "warning")
        resumed = self.assembled.resumed
        conversation = self.assembled.conversation
        if resumed is not None and self._restore(resumed.draft, resumed.queued):
            # They are in the prompt now: the next resume must not bring them once more.
            conversation.forget_queue()
        self._background.add(asyncio.ensure_future(self._greet(conversation)))
        return conversation

    async def _greet(self, conversation: Conversation) -> None:
        """Fire SessionStart behind the screen; the first prompt waits for it, typing does not."""
        for event in await conversation.start():
            await self.app.bridge.put(event)

    async def _settle(
        self, ports: ScreenPorts, around: Surroundings
    ) -> tuple[Settings, ModelSetup, Surroundings]:
        from agent.assemble import settings_for  # after the first frame, see above
        from tui.dialogs.onboarding import Onboarding
        from tui.model_choice import NotConfigured, demo_model, real_model

        if not self.options.demo:
            settings = await asyncio.to_thread(settings_for, self.options, around)
            if settings.trust.must_ask and settings.trust.new:
                settings = await self._ask_trust(ports, around, settings)
            try:
                return settings, await real_model(settings, around, self.options), around
            except NotConfigured as error:
                if await ports.onboarding() is not Onboarding.DEMO:
                    raise error
        setup, around, closer = await demo_model(around)
        self.closers.append(closer)
        self.app.use_folder(around.launch_dir)
        demo_options = _as_demo(self.options)
        self.options = demo_options
        settings = await asyncio.to_thread(settings_for, demo_options, around)
        return settings, setup, around

    async def _ask_trust(
        self, ports: ScreenPorts, around: Surroundings, settings: Settings
    ) -> Settings:
        from agent.assemble import settings_for  # after the first frame, see above
        from agent.settings.trust import TrustStore
        from tui.dialogs.trust import TrustItem, TrustRequest

        state = settings.trust
        new = {item.digest for item in state.new}
        request = TrustRequest(
            folder=str(state.root),
            items=[
                TrustItem(
                    item.kind,
                    item.label,
                    f"{item.file}:{item.line}" if item.file and item.line else str(item.file or ""),
                    is_new=state.trusted and item.digest in new,
                )
                for item in state.new
            ],
            was_trusted=state.trusted,
        )
        if not await ports.trust(request):
            return settings
        TrustStore(around.agent_home / "trust.json").accept(state)
        return await asyncio.to_thread(settings_for, self.options, around)

    def _restore(self, draft: str, queued: Sequence[str]) -> bool:
        """Put what was typed and not sent back into the prompt; returns whether that was done."""
        text = "\n".join([*queued, *([draft] if draft else [])])
        if not text or self.options.prompt:
            return False
        self.app.composer.insert(text)
        return True

    # -- ports ------------------------------------------------------------------------------

    def suggest_grants(
        self, request: PermissionRequest, decision: Decision
    ) -> Sequence[GrantOffer]:
        """Return the answers of the dialog that store something."""
        # With the first dialog, not with the first frame.
        from permissions.decision import GrantChoice
        from permissions.grants import suggest
        from tui.dialogs.permission import GrantOffer

        if self.assembled is None:
            return ()
        conversation = self.assembled.conversation
        found = suggest(request, decision, conversation.gate.context, cwd=conversation.cwd)
        return tuple(
            GrantOffer(
                grant.label, GrantChoice(grant.rules, str(grant.destination)), grant.also_allows
            )
            for grant in found
            if grant.destination is not None
        )


def _as_demo(options: RunOptions) -> RunOptions:
    from dataclasses import replace

    return replace(options, demo=True, continue_latest=False, resume=None, model=None)


def _theme_name(agent_home: Path) -> tuple[str, tuple[str, ...]]:
    """Return the theme that the person's settings name; the full settings are read later."""
    try:
        data = json.loads((agent_home / "settings.json").read_text("utf-8"))
    except (OSError, ValueError):
        return DEFAULT_THEME, ()
    name = data.get("theme") if isinstance(data, dict) else None
    if not isinstance(name, str) or not name or name == "auto":
        return DEFAULT_THEME, ()
    return name, ()
