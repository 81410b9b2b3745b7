"""Converts a theme's roles to styles of Textual and Rich; the only module that knows both.

Next: `themes.theme` (roles), `tui.text.styled_rows` (rows of text with roles).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from themes.theme import Role, Theme
from tui.screen.width import text_width, without_controls
from tui.text.styled_rows import Ink, Row
from tui.text.wrap import clip

_DIM_WITHOUT_COLOR: Final = frozenset({Role.MUTED, Role.FAINT, Role.QUOTE, Role.SYNTAX_COMMENT})
_BOLD_WITHOUT_COLOR: Final = frozenset(
    {Role.ACCENT, Role.ERROR, Role.WARNING, Role.HEADING, Role.PERSON}
)
_REVERSE_WITHOUT_COLOR: Final = frozenset(
    {Role.SELECTION, Role.SURFACE_RAISED, Role.DIFF_ADDED_WORD, Role.DIFF_REMOVED_WORD}
)


class Palette:
    """Styles of one theme, cached by ink."""

    def __init__(self, theme: Theme, *, no_color: bool = False) -> None:
        """Take a theme; with `no_color` only bold, dim, underline and reverse remain."""
        self.theme: Final = theme
        self.no_color: Final = no_color
        self._colors = {} if no_color else {r: _color(value) for r, value in theme.roles.items()}
        self._styles: dict[Ink, Style] = {}
        self._blank = Ink()

    def style(self, ink: Ink) -> Style:
        """Return the Rich style of an ink."""
        style = self._styles.get(ink)
        if style is None:
            style = self._styles[ink] = self._make(ink)
        return style

    def strip(self, line: Row, width_cells: int) -> Strip:
        """Return a row as a strip of exactly that width; what does not fit is cut."""
        segments: list[Segment] = []
        cells = 0
        style = self.style
        for text, ink in line.runs:
            cells += text_width(text)
            # The cells of our own output omit controls; Textual's output would contain them.
            segments.append(Segment(without_controls(text), style(ink.with_ground(line.fill))))
        if cells > width_cells:
            return self.strip(replace(line, runs=clip(line.runs, width_cells)), width_cells)
        if cells < width_cells:
            rest = style(Ink(ground=line.fill))
            segments.append(Segment(" " * (width_cells - cells), rest))
        return Strip(segments, max(cells, width_cells))

    def _make(self, ink: Ink) -> Style:
        names = ("bold", "italic", "underline", "strike", "reverse")
        attributes = {name: getattr(ink, name) or None for name in names}
        if self.no_color:
            if ink.role in _DIM_WITHOUT_COLOR:
                attributes["dim"] = True
            if ink.role in _BOLD_WITHOUT_COLOR:
                attributes["bold"] = True
            if ink.ground in _REVERSE_WITHOUT_COLOR:
                attributes["reverse"] = True
            return Style(link=ink.link, **attributes)
        if ink.image:
            red, green, blue = ink.image.to_bytes(3, "big")
            ground = self._colors[ink.ground or Role.BACKGROUND]
            return Style(color=Color.from_rgb(red, green, blue), bgcolor=ground)
        return Style(
            color=self._colors[ink.role],
            bgcolor=self._colors[ink.ground or Role.BACKGROUND],
            link=ink.link,
            **attributes,
        )


def textual_theme(theme: Theme) -> TextualTheme:
    """Return the theme for Textual's own widgets: palette, toasts, scrollbars."""
    roles = {role: _css_color(value) for role, value in theme.roles.items()}
    return TextualTheme(
        name=f"agent-{theme.name}",
        primary=roles[Role.ACCENT],
        secondary=roles[Role.MODE_PLAN],
        warning=roles[Role.WARNING],
        error=roles[Role.ERROR],
        success=roles[Role.SUCCESS],
        accent=roles[Role.ACCENT],
        foreground=roles[Role.TEXT],
        background=roles[Role.BACKGROUND],
        surface=roles[Role.SURFACE],
        panel=roles[Role.SURFACE_RAISED],
        dark=theme.dark,
        ansi=theme.uses_terminal_palette,
        variables=_terminal_variables(dark=theme.dark) if theme.uses_terminal_palette else {},
    )


def _terminal_variables(*, dark: bool) -> dict[str, str]:
    """Return the variables that Textual's style sheet needs for a theme in terminal colors."""
    return dict(BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"].variables)


def _color(value: str) -> Color:
    return Color.parse(_rich_name(value))


def _rich_name(value: str) -> str:
    if value.startswith("ansi:"):
        return value.removeprefix("ansi:")
    if value.startswith("ansi256("):
        return "color(" + value.removeprefix("ansi256(")
    return value


def _css_color(value: str) -> str:
    if value == "default":
        return "ansi_default"
    if value.startswith("ansi:"):
        return "ansi_" + value.removeprefix("ansi:")
    if value.startswith("ansi256("):
        triplet = Color.parse(_rich_name(value)).get_truecolor()
        return triplet.hex
    return value
