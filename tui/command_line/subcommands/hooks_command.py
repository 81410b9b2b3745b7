"""`agent-tui hooks`: lists the configured hooks, and runs those of one event."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.settings.locations import find_agent_home
from agent.settings.project_root import find_project_root
from hooks.cli.list import list_hooks
from hooks.cli.run import HookOptions, HookWorld, run_hooks
from hooks.config.config import HookLayer
from hooks.events import EVENTS
from hooks.ports import HookPorts
from permissions.base.text.sanitize import reveal
from tui.command_line.subcommands.whole_texts import WholeTexts

if TYPE_CHECKING:
    from agent.assembly.environment import Environment
    from agent.model.endpoint import ModelSetup
    from agent.settings.load import Settings


@click.group("hooks", cls=WholeTexts, short_help="List hooks, or fire one event for real.")
def command() -> None:
    """List the hooks in force, or fire one event and see what they say."""


_settings = click.option(
    "--settings", "settings", multiple=True, metavar="[SOURCE=]FILE",
    help="Use this file instead of the settings found here. Repeatable.",
)  # fmt: skip
_plugin = click.option(
    "--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), metavar="DIR",
    help="Add the hooks of a plugin. Repeatable.",
)  # fmt: skip
_trust = click.option("--trust", is_flag=True, help="Let hooks of an untrusted project run.")


@command.command("list")
@_settings
@_plugin
@_trust
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(
    settings: tuple[str, ...], plugins: tuple[Path, ...], trust: bool, as_json: bool
) -> int:
    """Show every configured hook with its source and health."""
    options = HookOptions(settings, plugins, trust)
    # Hooks of untrusted projects are listed, too: their text must not control the terminal.
    stdout, stderr = io.StringIO(), io.StringIO()
    status = asyncio.run(
        list_hooks(options, _make_hook_world(), as_json=as_json, stdout=stdout, stderr=stderr)
    )
    click.echo(stdout.getvalue() if as_json else reveal(stdout.getvalue()), nl=False)
    click.echo(reveal(stderr.getvalue()), nl=False, err=True)
    return status


@command.command("run")
@click.argument("event", required=False, shell_complete=lambda *_: list(EVENTS))
@_settings
@_plugin
@_trust
@click.option("--json", "_json", is_flag=True, help="Accepted; the output is always JSON.")
def run_command(
    event: str | None,
    settings: tuple[str, ...],
    plugins: tuple[Path, ...],
    trust: bool,
    _json: bool,
) -> int:
    """Fire EVENT with the payload on standard input; print one JSON line per step."""
    options = HookOptions(settings, plugins, trust)
    stdin = sys.stdin or io.StringIO()  # closed: treat it as empty
    if stdin.isatty():
        click.echo("Type the payload as JSON, or nothing, and ctrl+d:", err=True)
    for stream in (stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # JSON is UTF-8, independent of the locale
            stream.reconfigure(encoding="utf-8", errors="replace")
    return asyncio.run(
        _run_until_signal(
            run_hooks(
                event,
                options,
                _make_hook_world(),
                stdin=stdin,
                stdout=sys.stdout,
                stderr=sys.stderr,
            )
        )
    )


async def _run_until_signal(running: Coroutine[object, object, int]) -> int:
    """Return the status of a run, or that of a signal that ended it and its hooks."""
    task = asyncio.ensure_future(running)
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not ended_by:
            raise
        return 128 + ended_by[0]


def _make_hook_world() -> HookWorld:
    home = Path(os.environ.get("HOME") or Path.cwd())
    agent_home = find_agent_home(os.environ, home)
    cwd = Path.cwd()
    return HookWorld(
        cwd=cwd,
        home=home,
        agent_home=agent_home,
        ports=HookPorts(
            env=dict(os.environ),
            ask_small_model=_LazySmallModel(agent_home),
            run_hook_agent=_LazyHookAgent(agent_home),
        ),
        discover=_Discover(cwd, home, agent_home),
        pid=os.getpid(),
        project_dir=find_project_root(cwd),
    )


class _Discover:
    """Loads the hooks of the settings; not imported for files named on the command line."""

    def __init__(self, cwd: Path, home: Path, agent_home: Path) -> None:
        self._cwd, self._home, self._agent_home = cwd, home, agent_home

    def __call__(self, trust: bool) -> Sequence[HookLayer]:
        from agent.hook_events.config import hook_layers, waiting_layers  # pydantic, see above
        from agent.settings.load import CliSettings, load_settings

        settings = load_settings(
            launch_dir=self._cwd,
            home=self._home,
            agent_home=self._agent_home,
            env=os.environ,
            cli=CliSettings(trust=trust),
        )
        return [*hook_layers(settings), *waiting_layers(settings)]


class _Endpoint:
    """The configured endpoint, loaded with the first hook that asks a model: imports are slow."""

    def __init__(self, agent_home: Path) -> None:
        self._agent_home = agent_home

    async def _load_setup(self) -> tuple[Environment, Settings, ModelSetup]:
        from agent.assembly.environment import environment_from
        from agent.options import RunOptions  # see above
        from agent.settings.load import load_settings
        from tui.conversation.model_choice import real_model

        environment = environment_from(os.environ, Path.cwd(), version="")
        settings = load_settings(
            launch_dir=environment.launch_dir,
            home=environment.home,
            agent_home=self._agent_home,
            env=environment.env,
        )
        return environment, settings, await real_model(settings, environment, RunOptions())


class _LazyHookAgent(_Endpoint):
    """Runs the sub-agent of agent hooks."""

    async def __call__(
        self, prompt: str, *, system: str, model: str | None, max_turns: int
    ) -> Mapping[str, object] | None:
        from agent.headless.standalone_hook_agent import ask_agent  # see above

        environment, settings, setup = await self._load_setup()
        return await ask_agent(
            environment, settings, setup, prompt, system=system, model=model, max_turns=max_turns
        )


class _LazySmallModel(_Endpoint):
    """Asks the small model for prompt hooks."""

    async def __call__(self, prompt: str, *, system: str, model: str | None) -> str:
        from agent.model.anthropic import AnthropicClient  # see above
        from agent.model.small_model import SmallModel

        _, _, setup = await self._load_setup()
        client = AnthropicClient(setup.endpoint)
        small = SmallModel(client, lambda: setup.small_model or setup.model or "")
        try:
            return await small.for_hooks(prompt, system=system, model=model)
        finally:
            await client.aclose()
