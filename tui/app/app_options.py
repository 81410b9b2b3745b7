"""What the entry point tells the screen before the first frame, and what the screen leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from themes.theme import Theme
from tui.input.keymap import Keymap, default_keymap


class AppOptions(Struct, frozen=True):
    """What the entry point knows before the first frame."""

    theme: Theme
    """What the first frame is drawn in."""
    wanted_theme: str = ""
    """The theme's name in the settings, `auto` for what suits the background; empty: as given."""
    is_dark: bool | None = None
    """What is known of the terminal's background before it was asked."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Tells which terminal this is."""
    version: str = ""
    folder: Path = field(default_factory=Path)
    awaits_demo: bool = False
    """Whether the folder gives way to the demo's, which is not there yet: it is not shown."""
    home: Path = field(default_factory=Path)
    no_color: bool = False
    keymap: Keymap = field(default_factory=default_keymap)
    history: tuple[str, ...] = ()
    initial_prompt: str = ""
    agent_home: Path | None = None
    """Settings, keys and history; None keeps nothing."""
    themes_dir: tuple[Path, ...] = ()
    """Folders with the user's own themes."""
    shell_env: Mapping[str, str] = field(default_factory=dict)
    """Environment of commands typed after `!`, secrets already removed."""
    notices: tuple[str, ...] = ()
    """Lines to show at the start: warnings of settings, what a resume repaired."""


class ExitReport(Struct, frozen=True):
    """What is left to say on the normal screen."""

    session_id: str | None
    last_answer: str
    error: str = ""
    """Why the program could not go on; empty when the user left."""
