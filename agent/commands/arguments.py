"""Insert arguments into a command's text: `$ARGUMENTS`, `$1`, `$name`, `${CLAUDE_…}`. Pure.

Forms and counting are those of the skills documentation: `$ARGUMENTS[0]` is the first argument
everywhere, `$N` counts from 0 in skills and from 1 in command files (unless one uses `$0`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from permissions.base.text.late_pattern import compile_late

_PLACEHOLDER: Final = compile_late(
    r"\\\$(?P<escaped>ARGUMENTS|\d|[A-Za-z_{])"
    r"|\$ARGUMENTS\[(?P<index>\d{1,3})\]"
    r"|\$(?P<all>ARGUMENTS)\b"
    r"|\$(?P<number>\d{1,2})(?!\d)"
    r"|\$\{(?P<variable>[A-Z][A-Z0-9_]*)\}"
    r"|\$(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
)


class CommandArguments(Struct, frozen=True):
    """What the user typed after a command's name."""

    text: str
    names: tuple[str, ...] = ()
    """Names of the arguments in order, from the frontmatter of the file."""
    first: int = 1
    """The number of the first argument in `$N`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """`${NAME}` values; unknown names are left unchanged."""

    @property
    def words(self) -> tuple[str, ...]:
        """The separate arguments; quotes are respected if they are closed."""
        return split_arguments(self.text)


def split_arguments(text: str) -> tuple[str, ...]:
    """Split a line like a shell; with an unclosed quote, at white space only."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def uses_arguments(template: str, names: Sequence[str] = ()) -> bool:
    """Whether a template has a placeholder for its arguments."""
    return any(_is_argument(match, names) for match in _PLACEHOLDER.finditer(template))


def substitute(template: str, arguments: CommandArguments) -> str:
    """Return the template with every placeholder replaced; values are not expanded again."""
    words = arguments.words
    places = {name: place for place, name in enumerate(arguments.names)}

    def word(place: int) -> str:
        return words[place] if 0 <= place < len(words) else ""

    def value(match: re.Match[str]) -> str:
        if match["escaped"] is not None:
            return match[0][1:]
        if match["index"] is not None:
            return word(int(match["index"]))
        if match["all"] is not None:
            return arguments.text
        if match["number"] is not None:
            return word(int(match["number"]) - arguments.first)
        if match["variable"] is not None:
            return arguments.variables.get(match["variable"], match[0])
        if match["name"] in places:
            return word(places[match["name"]])
        return match[0]

    return _PLACEHOLDER.sub(value, template)


def first_number(template: str, default: int) -> int:
    """Return what `$N` counts from: 0 in a text that uses `$0`, else `default`."""
    if "$0" not in template:
        # Fast path: this runs for hundreds of files before the first prompt is sent.
        return default
    uses_zero = any(match["number"] == "0" for match in _PLACEHOLDER.finditer(template))
    return 0 if uses_zero else default


def _is_argument(match: re.Match[str], names: Sequence[str]) -> bool:
    if match["name"] is not None:
        return match["name"] in names
    return match["escaped"] is None and match["variable"] is None
