"""Where a command itself may put links, so that what it writes there later is not known.

`tar x`, `git checkout`, `cp -a` and their like decide only while they run whether `y` is a folder,
a file or a link to somewhere else. Writes below such a place are left to a person; reads, unless a
link is certain, and commands that come before are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from permissions.decision import Behavior, Reason
from permissions.files import FileView
from permissions.paths import Target, is_below
from permissions.scope import Floor, Scope
from permissions.shell.access import HERE, Access, AccessKind
from permissions.shell.analyse import CommandFacts
from permissions.shell.link_makers import MAKERS, Making, making_of
from permissions.shell.syntax import Word
from permissions.touch import Touch, touch_of

MAX_WALK = 1_000
"""Files below a copied folder that are looked at; beyond it the folder may hold a link."""

_LATE = frozenset({"trap", "coproc"})
"""Programs whose commands run later than those that follow them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path at or below which links may appear."""

    spellings: tuple[str, ...]
    maker: CommandFacts
    """The command that makes them; what it writes itself does not lead through them."""
    stage: int
    is_link: bool = False
    """It is a link for sure, so that a read through it leads away, too."""
    holds_only: bool = False
    """The place itself stays what it is: a folder that something is unpacked into."""


class Scoped(Protocol):
    """Whoever knows the working directories, and works them out only when asked."""

    @property
    def scope(self) -> Scope:
        """The working directories."""
        ...


def places_made(scoped: Scoped, facts: Sequence[CommandFacts]) -> tuple[Place, ...]:
    """Return the places of all commands and those inside them; usually ()."""
    found: list[Place] = []
    for outer in facts:
        for one in _with_inner(outer):
            for form in one.deny_forms:
                making = making_of(form.head, form.joined) if form.head in MAKERS else None
                if making is not None:
                    found.extend(_places(scoped.scope, one, outer.stage, making, found))
                    break
    return tuple(found)


def through_made_link(
    touches: Sequence[tuple[CommandFacts, Touch]], outer: CommandFacts, places: Sequence[Place]
) -> Floor | None:
    """Return an ask when one of a command's accesses may lead through a link made before it.

    Args:
        touches: Each with the command, `outer` or one inside it, that it belongs to.
    """
    if not places:
        return None
    heads = {form.head for one in _with_inner(outer) for form in one.deny_forms}
    last = None if outer.is_late or heads & _LATE else outer.stage
    for one, touch in touches:
        for place in places:
            if place.maker is one or (last is not None and place.stage > last):
                continue
            if any(_leads_through(place, touch, one, target) for target in touch.targets):
                return Floor(
                    Behavior.ASK,
                    Reason.SCOPE_BOUNDS_VIOLATION,
                    f"{touch.written} may lead through a link that the command makes itself",
                )
    return None


def _with_inner(facts: CommandFacts) -> Iterator[CommandFacts]:
    yield facts
    for inner in facts.inner:
        yield from _with_inner(inner)


def _leads_through(place: Place, touch: Touch, one: CommandFacts, target: Target) -> bool:
    if touch.kind in (AccessKind.PLACE, AccessKind.LENT):
        return False
    if touch.kind in (AccessKind.READ, AccessKind.CHANGE_DIR) and not place.is_link:
        return False
    # What is removed or made as a folder is never itself followed, only what leads to it.
    is_kept = touch.kind is AccessKind.REMOVE or any(
        form.head in ("mkdir", "rmdir") for form in one.deny_forms
    )
    if is_kept and not touch.text.endswith("/"):
        reached = [path.rpartition("/")[0] or "/" for path in target.spellings]
    else:
        reached = list(target.spellings)
    if ".." in touch.text or any(".." in folder for folder in one.folders):
        reached.extend(_way(touch.text, one))
    return any(
        is_below(path, spelling) and not (place.holds_only and path == spelling)
        for path in reached
        for spelling in place.spellings
    )


def _way(text: str, one: CommandFacts) -> Iterator[str]:
    """Yield every folder on the way: behind a link, dot-dot leads elsewhere than the text says."""
    for folder in one.folders:
        names: list[str] = []
        for name in (text if text.startswith("/") else f"{folder}/{text}").split("/"):
            if name == "..":
                yield "/" + "/".join(names)
                names = names[:-1]
            elif name not in ("", "."):
                names.append(name)


def _places(
    scope: Scope, one: CommandFacts, stage: int, making: Making, before: Sequence[Place]
) -> Iterator[Place]:
    written = [access for access in one.accesses if access.kind is AccessKind.WRITE]
    match making:
        case Making.LINK:
            for access in written:
                for word in _named(one, access.path):
                    yield from _at(scope, one, stage, Access(access.kind, word), is_link=True)
        case Making.COPY:
            may_hold, is_link = _copies_links(scope, one, before)
            for access in written if may_hold else ():
                yield from _at(scope, one, stage, access, is_link=is_link)
        case Making.UNPACK:
            for access in written:
                yield from _at(scope, one, stage, access, holds_only=True)
        case Making.TREE:
            places = [access for access in one.accesses if access.kind is AccessKind.PLACE]
            # Wherever in the work tree it is started, it may change all of it.
            for access in places or [Access(AccessKind.PLACE, HERE)]:
                for place in _at(scope, one, stage, access, holds_only=True):
                    roots = [
                        root
                        for root in (*scope.roots, scope.launch)
                        if any(is_below(path, root) for path in place.spellings)
                    ]
                    yield replace(place, spellings=(*place.spellings, *roots))


def _named(one: CommandFacts, path: Word) -> list[Word]:
    """Return where links are made: in the current folder, they keep the names of what they name."""
    if path.text != ".":
        return [path]
    names = [access.path.text.rstrip("/").rpartition("/")[2] for access in one.accesses]
    return [Word(name, name) for name in names]


def _at(
    scope: Scope,
    one: CommandFacts,
    stage: int,
    access: Access,
    *,
    is_link: bool = False,
    holds_only: bool = False,
) -> Iterator[Place]:
    touch = touch_of(scope, access.kind, access.path, one.folders)
    for target in touch.targets if touch else ():
        yield Place(target.spellings, one, stage, is_link, holds_only)


def _copies_links(scope: Scope, one: CommandFacts, before: Sequence[Place]) -> tuple[bool, bool]:
    """Return whether a link may be among what is copied, and whether a source surely is one."""
    kinds = (AccessKind.READ, AccessKind.REMOVE)
    sources = [access for access in one.accesses if access.kind in kinds]
    # Without a source here, it comes from another machine or a container.
    may_hold = not sources
    for access in sources:
        touch = touch_of(scope, access.kind, access.path, one.folders)
        may_hold = may_hold or touch is None or not touch.targets
        for target in touch.targets if touch else ():
            if scope.files.is_link(target.lexical):
                return True, True
            may_hold = (
                may_hold
                or any(_overlap(target, place) for place in before)
                or _holds_link(scope.files, target.real)
            )
    return may_hold, False


def _overlap(target: Target, place: Place) -> bool:
    return any(
        is_below(path, spelling) or is_below(spelling, path)
        for path in target.spellings
        for spelling in place.spellings
    )


def _holds_link(files: FileView, path: str) -> bool:
    """Is there a link below the folder, or too much to look at?"""
    left = MAX_WALK
    folders = [path] if files.is_dir(path) else []
    while folders:
        folder = folders.pop()
        entries = files.entries(folder)
        left -= len(entries or ())
        if entries is None or left < 0:
            return True
        for name in entries:
            inner = f"{folder}/{name}"
            if files.is_link(inner):
                return True
            if files.is_dir(inner):
                folders.append(inner)
    return False
