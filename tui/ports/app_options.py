"""What the entry point hands to the screen before the first frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from themes.theme import Theme
from tui.input.keymap import Keymap, default_keymap


class AppOptions(Struct, frozen=True):
    """Values that the entry point has before the first frame."""

    theme: Theme
    """What the first frame is drawn in."""
    wanted_theme: str = ""
    """The theme's name in the settings, `auto` for what suits the background; empty: `theme`."""
    is_dark: bool | None = None
    """What is known of the terminal's background before it was asked."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Identifies the terminal."""
    version: str = ""
    directory: Path = field(default_factory=Path)
    awaits_demo: bool = False
    """Whether the demo's directory replaces this one, which is not shown until then."""
    home: Path = field(default_factory=Path)
    no_color: bool = False
    is_inline: bool = False
    """Whether the conversation goes to the terminal's own scrollback."""
    keymap: Keymap = field(default_factory=default_keymap)
    history: tuple[str, ...] = ()
    initial_prompt: str = ""
    agent_home: Path | None = None
    """Settings, keys and history; None stores nothing."""
    themes_dir: tuple[Path, ...] = ()
    """Directories with the user's own themes."""
    shell_env: Mapping[str, str] = field(default_factory=dict)
    """Environment of commands typed after `!`, secrets already removed."""
    program_env: Mapping[str, str] = field(default_factory=dict)
    """The same for the user's own programs (the clipboard's): found outside the project."""
    notices: tuple[str, ...] = ()
    """Lines to show at the start: warnings of settings, what a resume repaired."""
