"""The environment that the entry point read, and the settings in force there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agent.errors import UsageError
from agent.options import RunOptions
from agent.settings.load import FILE_SOURCES, CliSettings, Settings, load_settings
from agent.settings.locations import find_agent_home
from agent.settings.trust import TrustState
from agent.settings.user_values import HOME_VARIABLE
from permissions.matching.match_tool import ORCHESTRATED
from permissions.rule import RuleSource


class Environment(Struct, frozen=True, kw_only=True):
    """What the entry point read from the process; no other code reads it again."""

    launch_dir: Path
    home: Path
    agent_home: Path
    env: Mapping[str, str]
    uid: int
    version: str


def environment_from(env: Mapping[str, str], launch_dir: Path, *, version: str) -> Environment:
    """Return the environment of this process.

    Raises:
        UsageError: there is no home directory, and no variable names one.
    """
    home_text = env.get("HOME", "").strip()
    agent_home = env.get(HOME_VARIABLE, "").strip()
    if not home_text and not agent_home:
        try:
            home = Path.home()
        except RuntimeError as error:
            raise UsageError(
                "HOME is not set, so there is no place for settings and sessions. "
                "Set HOME, or AGENT_TUI_HOME to a folder that is writable."
            ) from error
    else:
        home = Path(home_text) if home_text else Path(agent_home)
    return Environment(
        launch_dir=launch_dir,
        home=home,
        agent_home=find_agent_home(env, home),
        env=env,
        uid=os.getuid(),
        version=version,
    )


def settings_for(
    options: RunOptions, environment: Environment, at_start: Settings | None = None
) -> Settings:
    """Load the settings; `at_start` are those loaded at the start. Raises ConfigError."""
    trust: TrustState | bool = options.trust or options.demo
    if trust and at_start is not None:
        trust = at_start.trust
    return load_settings(
        launch_dir=environment.launch_dir,
        home=environment.home,
        agent_home=environment.agent_home,
        env=environment.env,
        cli=CliSettings(
            allow=_allow_rules(options),
            ask=options.ask,
            deny=options.deny,
            disallowed_tools=options.disallowed_tools,
            settings=options.settings_file,
            model=options.model,
            effort=options.effort,
            permission_mode=options.permission_mode,
            add_dirs=tuple(str(path) for path in options.add_dirs),
            mcp_configs=options.mcp_configs,
            trust=trust,
            sources=_sources(options.setting_sources),
        ),
    )


def _allow_rules(options: RunOptions) -> tuple[str, ...]:
    """Return the allow rules of the command line.

    A headless run cannot ask a user: there the option for orchestration mode counts as consent.
    """
    if options.orchestrate and options.headless:
        return (*options.allow, f"Workflow({ORCHESTRATED})")
    return options.allow


def _sources(names: tuple[str, ...] | None) -> frozenset[RuleSource]:
    if names is None:
        return FILE_SOURCES
    return frozenset(RuleSource(f"{name}Settings") for name in names)
