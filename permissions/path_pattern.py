"""Path patterns of rules as data: gitignore syntax below an anchor, and what it compiles to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache


class Anchor(Enum):
    """Where a path pattern starts."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    """The place that belongs to the rule's source, e.g. the project root."""
    CURRENT = "./"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class PathPattern:
    """A gitignore pattern below an anchor. What it compiles to lives as long as it does."""

    anchor: Anchor
    pattern: str
    """Without the anchor, not starting with a slash; may end with one (folders only)."""

    @cached_property
    def floats_for_restrictions(self) -> bool:
        """Does it fit at any depth in a deny or ask rule?"""
        return self.anchor is Anchor.CURRENT and floats(self.pattern, strict=True)

    @cached_property
    def restricting(self) -> re.Pattern[str]:
        """Return what deny and ask compare paths below the anchor with."""
        return compiled_pattern(self.pattern, self.floats_for_restrictions)

    @cached_property
    def granting(self) -> re.Pattern[str]:
        """Return what allow compares paths below the anchor with."""
        # A bare name fits at any depth; behind an anchor (`/x`, `//x`, `~/x`) it is that one place.
        floating = self.anchor is Anchor.CURRENT and floats(self.pattern, strict=False)
        return compiled_pattern(self.pattern, floating)

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
    def telling_name(self) -> str | None:
        """Return what one of a path's names must be for the pattern to fit: a name, or `*.ext`.

        None when nothing is known about any name.
        """
        known = None
        for component in self.pattern.split("/"):
            if component in ("", ".") or any(mark in component for mark in "?[\\"):
                continue
            if "*" not in component:
                return component
            ending = component.rpartition("*")[2].rpartition(".")
            if ending[1]:
                known = f"*.{ending[2]}"
        return known

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
    """Does the pattern fit at any depth? `strict` adds the wider reading of deny and ask."""
    body = pattern.rstrip("/")
    if "/" not in body:
        return True
    if body.startswith("**/"):
        return True
    head, _, rest = body.partition("/")
    return strict and rest == "**" and head not in (".", "")


@lru_cache(maxsize=4096)
def compiled_pattern(pattern: str, floating: bool) -> re.Pattern[str]:
    """Return the expression for paths below the anchor; `floating` fits at any depth."""
    body = pattern.strip("/")
    if body.startswith("./"):
        body = body[2:]
    components = [part for part in body.split("/") if part not in ("", ".")]
    if not components:
        # The anchor itself and everything below it.
        return re.compile(r"[\s\S]*")
    pieces: list[str] = ["(?:.*/)?"] if floating and components[0] != "**" else []
    for index, component in enumerate(components):
        last = index == len(components) - 1
        if component == "**":
            if last:
                # Everything inside; the folder itself too, as removing it removes all of it.
                if pieces and pieces[-1] == "/":
                    pieces[-1] = "(?:/.*)?"
                else:
                    pieces.append(".*")
                return re.compile("".join(pieces), re.DOTALL)
            pieces.append("(?:.*/)?")
            continue
        pieces.append(_component(component))
        if not last:
            pieces.append("/")
    # A folder pattern fits the folder too: whether it exists yet must not matter.
    pieces.append("(?:/.*)?")
    return re.compile("".join(pieces), re.DOTALL)


def _component(component: str) -> str:
    pieces: list[str] = []
    position = 0
    while position < len(component):
        character = component[position]
        position += 1
        if character == "\\" and position < len(component):
            pieces.append(re.escape(component[position]))
            position += 1
        elif character == "*":
            if not pieces or pieces[-1] != "[^/]*":
                pieces.append("[^/]*")
        elif character == "?":
            pieces.append("[^/]")
        elif character == "[":
            closing = component.find(
                "]", position + 2 if component[position:][:1] in "!^" else position + 1
            )
            if closing < 0:
                pieces.append(re.escape("["))
                continue
            body = component[position:closing].replace("\\", "\\\\").replace("[", "\\[")
            if body[:1] in ("!", "^"):
                body = "^/" + body[1:]
            pieces.append(f"(?!/)[{body}]")
            position = closing + 1
        else:
            pieces.append(re.escape(character))
    try:
        re.compile("".join(pieces))
    except re.error:
        return re.escape(component)
    return "".join(pieces)
