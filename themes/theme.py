"""A theme: one color for every role; roles are named by meaning, not by appearance.

Next: `themes.registry`, which finds and loads the TOML files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct


class ThemeError(ValueError):
    """A theme file cannot be used; the text names the key, its value and what is expected."""


class Role(StrEnum):
    """What a color is for. Every theme defines or inherits a color for each role."""

    BACKGROUND = "background"
    """Background of the screen."""
    SURFACE = "surface"
    """Background of dialogs and of the user's messages."""
    SURFACE_RAISED = "surface_raised"
    """Background of the highlighted row of a list."""
    TEXT = "text"
    MUTED = "muted"
    """Secondary text: still meant to be read."""
    FAINT = "faint"
    """Rules, gutters, separators: meant to be seen, not read."""
    ACCENT = "accent"
    """The most prominent color: the prompt sign, the selected choice."""
    PERSON = "person"
    """The sign before the user's messages."""
    ASSISTANT = "assistant"
    """The sign before the answer."""
    SUCCESS = "success"
    WARNING = "warning"
    ERROR = "error"
    SHELL = "shell"
    """The prompt while it contains a shell command."""
    SELECTION = "selection"
    """Background of selected text."""
    HEADING = "heading"
    CODE = "code"
    """Inline code."""
    CODE_BACKGROUND = "code_background"
    QUOTE = "quote"
    LINK = "link"
    MODE_DEFAULT = "mode_default"
    MODE_ACCEPT_EDITS = "mode_accept_edits"
    MODE_PLAN = "mode_plan"
    MODE_DONT_ASK = "mode_dont_ask"
    MODE_BYPASS = "mode_bypass"
    MODE_AUTO = "mode_auto"
    DIFF_ADDED = "diff_added"
    """Background of an added line."""
    DIFF_REMOVED = "diff_removed"
    DIFF_ADDED_WORD = "diff_added_word"
    """Background of the words that changed inside an added line."""
    DIFF_REMOVED_WORD = "diff_removed_word"
    DIFF_ADDED_SIGN = "diff_added_sign"
    """Foreground of the plus sign and of the count of added lines."""
    DIFF_REMOVED_SIGN = "diff_removed_sign"
    SYNTAX_KEYWORD = "syntax_keyword"
    SYNTAX_STRING = "syntax_string"
    SYNTAX_NUMBER = "syntax_number"
    SYNTAX_COMMENT = "syntax_comment"
    SYNTAX_FUNCTION = "syntax_function"
    SYNTAX_TYPE = "syntax_type"
    SYNTAX_OPERATOR = "syntax_operator"


ANSI_NAMES: Final = (
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright_black",
    "bright_red",
    "bright_green",
    "bright_yellow",
    "bright_blue",
    "bright_magenta",
    "bright_cyan",
    "bright_white",
)
"""In the order of the terminal's palette."""

_HEX: Final = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)
_RGB: Final = re.compile(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_INDEXED: Final = re.compile(r"ansi256\(\s*(\d{1,3})\s*\)")


class Theme(Struct, frozen=True):
    """One complete theme."""

    name: str
    """As written in settings."""
    label: str
    """As shown to users."""
    dark: bool
    roles: Mapping[Role, str]
    """Every role, in canonical form: `#rrggbb`, `ansi:<name>`, `ansi256(n)` or `default`."""

    @property
    def uses_terminal_palette(self) -> bool:
        """Whether any color is from the terminal's palette: then none may become true color."""
        return any(not value.startswith("#") for value in self.roles.values())


def parse_color(text: str) -> str:
    """Return a color in canonical form.

    Raises:
        ThemeError: the text has none of the accepted forms, which the message lists.
    """
    value = text.strip().lower()
    if value == "default":
        return value
    if _HEX.fullmatch(value):
        digits = value[1:]
        return "#" + ("".join(d * 2 for d in digits) if len(digits) == 3 else digits)
    if match := _RGB.fullmatch(value):
        channels = [int(group) for group in match.groups()]
        if max(channels) <= 255:
            return "#" + "".join(f"{channel:02x}" for channel in channels)
    if (match := _INDEXED.fullmatch(value)) and int(match[1]) <= 255:
        return f"ansi256({int(match[1])})"
    if value.startswith("ansi:") and value[5:].replace("-", "_") in ANSI_NAMES:
        return "ansi:" + value[5:].replace("-", "_")
    raise ThemeError(
        f"{text!r} is not a color: expected #rrggbb, #rgb, rgb(r,g,b), ansi256(0-255), "
        "ansi:<name> or default"
    )


def build_theme(
    name: str, data: Mapping[str, object], *, base: Theme | None
) -> tuple[Theme, tuple[str, ...]]:
    """Return a theme made from a file's content over `base`, and warnings about what was ignored.

    Unknown roles and bad colors fall back to the base and are reported; without a base every role
    must be there.

    Raises:
        ThemeError: the content has no usable `roles` table, or a role has no color at all.
    """
    raw_roles = data.get("roles", {})
    if not isinstance(raw_roles, Mapping):
        raise ThemeError(f"theme {name!r}: 'roles' must be a table of role = color")
    warnings: list[str] = []
    roles: dict[Role, str] = dict(base.roles) if base else {}
    for key, value in raw_roles.items():
        try:
            role = Role(key)
        except ValueError:
            warnings.append(f"theme {name!r}: no role is called {key!r}; ignored")
            continue
        try:
            roles[role] = parse_color(str(value))
        except ThemeError as error:
            warnings.append(f"theme {name!r}: {key} = {error}; ignored")
    missing = [role.value for role in Role if role not in roles]
    if missing:
        raise ThemeError(
            f'theme {name!r} has no color for {", ".join(missing)}; add them, or base = "dark"'
        )
    label = data.get("label", name)
    dark = data.get("dark", base.dark if base else True)
    return Theme(name=name, label=str(label), dark=bool(dark), roles=roles), tuple(warnings)
