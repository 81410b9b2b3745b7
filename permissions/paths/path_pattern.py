"""Path patterns of rules as data: gitignore syntax below an anchor, and its compiled forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cached_property, lru_cache
from itertools import count, groupby

from msgspec import Struct


class Anchor(Enum):
    """What a path pattern is relative to."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    """The directory of the rule's source, e.g. the project root."""
    CURRENT = "./"

    __hash__ = object.__hash__


class PathPattern(Struct, frozen=True, dict=True):
    """A gitignore pattern below an anchor. Its compiled forms are cached in it."""

    anchor: Anchor
    pattern: str
    """Without the anchor, not starting with a slash; may end with one (directories only)."""
    parents: int | None = None
    """How many directories above the anchor it begins; None if it was written without `..`."""

    @cached_property
    def floats_for_restrictions(self) -> bool:
        """Whether it matches at any depth in a deny or ask rule."""
        return self.floats(strict=True)

    def floats(self, *, strict: bool) -> bool:
        """Whether it matches at any depth; `strict` as deny and ask rules do."""
        may_float = self.anchor is Anchor.CURRENT and self.parents is None
        return may_float and floats(self.pattern, strict=strict)

    @cached_property
    def restricting(self) -> re.Pattern[str]:
        """The expression that deny and ask rules match with paths below the anchor."""
        return compiled_pattern(self.pattern, self.floats_for_restrictions)

    @cached_property
    def granting(self) -> re.Pattern[str]:
        """The expression that allow rules match with paths below the anchor."""
        # A bare name matches at any depth; after an anchor (`/x`, `//x`, `~/x`) only there.
        return compiled_pattern(self.pattern, self.floats(strict=False))

    @cached_property
    def literal_prefix(self) -> str | None:
        """Return the components that every path below the anchor must start with to fit.

        Joined by slashes. None when there are none: a wildcard comes first, or the pattern fits at
        any depth.
        """
        if self.floats_for_restrictions:
            return None
        literal: list[str] = []
        for component in self.pattern.split("/"):
            if any(mark in component for mark in "*?[\\"):
                break
            if component not in ("", "."):
                literal.append(component)
        return "/".join(literal) or None

    @cached_property
    def required_name(self) -> str | None:
        """Return a name, or `*.ext`, that is among the names of every matching path.

        None when nothing is known about any name.
        """
        result = None
        for component in self.pattern.split("/"):
            if component in ("", ".") or any(mark in component for mark in "?[\\"):
                continue
            if "*" not in component:
                return component
            ending = component.rpartition("*")[2].rpartition(".")
            if ending[1]:
                result = f"*.{ending[2]}"
        return result

    @cached_property
    def literal_base(self) -> str:
        """Return the leading components without a wildcard as they are written."""
        literal: list[str] = []
        for component in self.pattern.rstrip("/").split("/"):
            if any(mark in component for mark in "*?["):
                break
            literal.append(component)
        return "/".join(literal).rstrip("/")

    @cached_property
    def last_component(self) -> str:
        """Return the last component, `**` and a final slash left out."""
        components = [part for part in self.pattern.split("/") if part not in ("", "**")]
        return components[-1] if components else "*"


def floats(pattern: str, *, strict: bool) -> bool:
    """Return whether the pattern matches at any depth; `strict` as deny and ask rules do."""
    body = pattern.rstrip("/")
    if strict:
        # Written with `./`, a deny rule is the same, as in Claude Code.
        body = body.removeprefix("./")
    if "/" not in body:
        return True
    if body.startswith("**/"):
        return True
    head, _, rest = body.partition("/")
    return strict and rest == "**" and head not in (".", "")


@lru_cache(maxsize=4096)
def compiled_pattern(pattern: str, floating: bool) -> re.Pattern[str]:
    """Return the expression for paths below the anchor; `floating` matches at any depth.

    Matching takes time linear in the path: the leftmost place for each piece between two wildcards
    leaves the most room for the rest, so none is tried twice (`_first_match_only`).
    """
    body = pattern.strip("/")
    if body.startswith("./"):
        body = body[2:]
    components = [part for part in body.split("/") if part not in ("", ".")]
    runs = [list(run) for is_any, run in groupby(components, "**".__eq__) if not is_any]
    if not runs:
        # The anchor itself and everything below it.
        return re.compile(r"[\s\S]*")
    pieces: list[str] = []
    numbers = count()
    for index, run in enumerate(runs):
        names = "/".join(_component(part, numbers) for part in run)
        if index == 0 and components[0] != "**" and not floating:
            pieces.append(names)
        else:
            pieces.append(_first_match_only(f"(?:[^/]*/)*?{names}", numbers))
    # A directory pattern fits the directory too: whether it exists yet must not matter.
    ending = "/.*" if components[-2:] == ["**", "**"] else "(?:/.*)?"
    return re.compile("/".join(pieces) + ending, re.DOTALL)


def selects(lines: Sequence[str], path: str) -> bool:
    """Return whether the lines of a gitignore select a relative path: the last that fits decides.

    A line that names a directory selects what is below it.
    """
    is_selected = False
    for line in lines:
        pattern = line.strip().removeprefix("!")
        if (
            pattern.strip("/")
            and not pattern.startswith("#")
            and compiled_pattern(pattern, floats(pattern, strict=False)).fullmatch(path)
        ):
            is_selected = not line.strip().startswith("!")
    return is_selected


def _character_set(component: str, position: int) -> tuple[str, int]:
    """Return the expression for a set whose bracket was just read, and where reading continues."""
    start = position + 2 if component[position:][:1] in "!^" else position + 1
    closing = component.find("]", start)
    if closing < 0:
        return re.escape("["), position
    body = component[position:closing].replace("\\", "\\\\").replace("[", "\\[")
    if body[:1] in ("!", "^"):
        body = "^/" + body[1:]
    return f"(?!/)[{body}]", closing + 1


def _first_match_only(expression: str, numbers: Iterator[int]) -> str:
    """Return an expression that matches as `expression` does first, without backtracking.

    A lookahead and a backreference emulate an atomic group: early releases of Python 3.11 match
    atomic groups and possessive quantifiers wrongly.
    """
    name = f"n{next(numbers)}"
    return f"(?=(?P<{name}>{expression}))(?P={name})"


def _component(component: str, numbers: Iterator[int]) -> str:
    """Return the expression for one name of a path, up to its end."""
    chunks: list[str] = [""]
    position = 0
    while position < len(component):
        character = component[position]
        position += 1
        if character == "\\" and position < len(component):
            chunks[-1] += re.escape(component[position])
            position += 1
        elif character == "*":
            chunks.append("")
        elif character == "?":
            chunks[-1] += "[^/]"
        elif character == "[":
            expression, position = _character_set(component, position)
            chunks[-1] += expression
        else:
            chunks[-1] += re.escape(character)
    first, *others = chunks
    last = f"[^/]*{others.pop()}" if others else ""
    between = "".join(_first_match_only(f"[^/]*?{chunk}", numbers) for chunk in others if chunk)
    expression = _first_match_only(f"{first}{between}{last}(?=/|\\Z)", numbers)
    try:
        re.compile(expression)
    except re.error:
        return re.escape(component)
    return expression
