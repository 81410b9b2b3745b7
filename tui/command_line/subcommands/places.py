"""The directories and settings of a subcommand."""

from __future__ import annotations

import os
from pathlib import Path

import click
from msgspec import Struct

from agent.errors import ConfigError
from agent.settings.load import CliSettings, Settings, load_settings
from agent.settings.locations import find_agent_home
from agent.settings.user_values import HOME_VARIABLE


class Here(Struct, frozen=True):
    """The directories of this process."""

    cwd: Path
    home: Path
    agent_home: Path

    @property
    def theme_directories(self) -> tuple[Path, ...]:
        """Directories with the user's own themes, in order of precedence."""
        return self.agent_home / "themes", self.home / ".claude" / "themes"


def current_directories() -> Here:
    """Return the directories of this process. Raises click.ClickException if one is missing."""
    try:
        cwd = Path.cwd()
    except OSError as error:
        raise click.ClickException("The current folder no longer exists.") from error
    home_variable = os.environ.get(HOME_VARIABLE, "").strip()
    home_text = os.environ.get("HOME", "").strip()
    if not home_text and not home_variable:
        home = home_directory()
    else:
        home = Path(home_text or home_variable)
    return Here(cwd, home, find_agent_home(os.environ, home))


def home_directory() -> Path:
    """Return the home directory: HOME, or that of the system's user database.

    Raises click.ClickException without either.
    """
    text = os.environ.get("HOME", "").strip()
    try:
        return Path(text) if text else Path.home()
    except RuntimeError as error:
        reason = "HOME is not set. Set it, or set AGENT_TUI_HOME to a folder."
        raise click.ClickException(reason) from error


def settings_here(place: Here, *, trust: bool = False) -> Settings:
    """Load the settings in force. Raises click.ClickException for an invalid policy file."""
    try:
        return load_settings(
            launch_dir=place.cwd,
            home=place.home,
            agent_home=place.agent_home,
            env=os.environ,
            cli=CliSettings(trust=trust),
        )
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
