"""Rows of text with styles by role: every component makes them, and the painter draws them.

Independent of Textual: a row contains text and roles, so it remains valid when the theme changes,
and tests can compare it as plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from themes.theme import Role


class Ink(Struct, frozen=True):
    """The style of a piece of text, by role."""

    role: Role = Role.TEXT
    ground: Role | None = None
    """Background; None: that of what is behind."""
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False
    link: str | None = None
    """The http(s) or file address that the text links to."""
    image: int = 0
    """Number of the image that the cells belong to, encoded as their color; 0 for text."""

    def with_ground(self, ground: Role | None) -> Ink:
        """Return the ink with this background, unless it has its own."""
        return self if ground is None or self.ground is not None else _with_ground(self, ground)


@lru_cache(maxsize=1024)
def _with_ground(ink: Ink, ground: Role) -> Ink:
    return replace(ink, ground=ground)


TEXT: Final = Ink()
MUTED: Final = Ink(Role.MUTED)
FAINT: Final = Ink(Role.FAINT)
ACCENT: Final = Ink(Role.ACCENT)
BOLD: Final = Ink(bold=True)

Run = tuple[str, Ink]
"""A piece of text in one ink, without tabs, line breaks and control characters."""


class Row(Struct, frozen=True):
    """One row of cells."""

    runs: tuple[Run, ...] = ()
    gutter_chars: int = 0
    """Number of leading characters that are decoration and not copied."""
    joint: str | None = None
    """None: a logical line starts here. Otherwise the text that a soft wrap removed before it."""
    fill: Role | None = None
    """Background of the cells after the text, up to the full width."""
    is_copied: bool = True
    """Whether a selection copies it; False for rules, hints and counts."""
    patch_sign: str = ""
    """`+`, `-` or a space in the first row of a line of a change: copied lines with different signs
    become a patch."""

    @property
    def text(self) -> str:
        """The row as plain text."""
        return "".join(text for text, _ in self.runs)


BLANK: Final = Row()


def row(*runs: Run | str, fill: Role | None = None, is_copied: bool = True) -> Row:
    """Return a row; plain strings get the text ink."""
    return Row(
        tuple(part if isinstance(part, tuple) else (part, TEXT) for part in runs),
        fill=fill,
        is_copied=is_copied,
    )


def on_ground(rows: Iterable[Row], ground: Role) -> list[Row]:
    """Return the rows with a background, which also fills them to the full width."""
    return [
        replace(
            line,
            runs=tuple((text, ink.with_ground(ground)) for text, ink in line.runs),
            fill=line.fill or ground,
        )
        for line in rows
    ]


def indent_rows(rows: Iterable[Row], first: Sequence[Run], rest: Sequence[Run]) -> list[Row]:
    """Return the rows with a decoration before the first and another before all others."""
    result: list[Row] = []
    for line in rows:
        prefix = rest if result else first
        width = sum(len(text) for text, _ in prefix)
        result.append(
            replace(
                line,
                runs=(*prefix, *line.runs),
                gutter_chars=line.gutter_chars + width,
            )
        )
    return result


def plain(rows: Iterable[Row]) -> str:
    """Return rows as a text grid, for snapshots."""
    return "\n".join(line.text.rstrip() for line in rows)
