"""The options that the entry point passes to the screen before the first frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from themes.theme import Theme
from tui.input.keymap import Keymap, default_keymap


class AppOptions(Struct, frozen=True):
    """Values that are known before the first frame."""

    theme: Theme
    """The theme of the first frame."""
    wanted_theme: str = ""
    """The theme's name in the settings; `auto` follows the background; empty: `theme`."""
    is_dark: bool | None = None
    """Whether the terminal's background is dark, as known before it replies; None if unknown."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The program's environment, which identifies the terminal."""
    version: str = ""
    directory: Path = field(default_factory=Path)
    awaits_demo: bool = False
    """Whether the demo's directory replaces this one, which is not shown until then."""
    home: Path = field(default_factory=Path)
    no_color: bool = False
    is_inline: bool = False
    """Whether to use the inline mode, in which the transcript is in the terminal's scrollback."""
    keymap: Keymap = field(default_factory=default_keymap)
    history: tuple[str, ...] = ()
    initial_prompt: str = ""
    agent_home: Path | None = None
    """Directory of settings, keys and history; with None nothing is stored."""
    themes_dir: tuple[Path, ...] = ()
    """Directories with the user's own themes."""
    shell_env: Mapping[str, str] = field(default_factory=dict)
    """Environment of commands typed after `!`, secrets already removed."""
    program_env: Mapping[str, str] = field(default_factory=dict)
    """The same for the user's programs (such as the clipboard's), with no PATH entry in the
    project."""
    notices: tuple[str, ...] = ()
    """Lines to show at the start, such as warnings about settings."""
