"""Where a command itself may put links, so that what it writes there later is not known.

`tar x`, `git checkout`, `cp -a` and their like decide only while they run whether `y` is a
directory, a file or a link to somewhere else. Writes below such a place are left to a user; reads,
unless a link is certain, and commands that come before are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from permissions.decision import Behavior, Reason
from permissions.paths.file_view import FileView
from permissions.paths.resolve import Target, is_below, with_parents
from permissions.scope.resolve_access import ResolvedAccess, resolve_access
from permissions.scope.scope import Floor, Scope, Scoped
from permissions.shell.access import HERE, Access, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.effects.file_accesses import created_by
from permissions.shell.program import Creates
from permissions.shell.syntax import Word

MAX_WALK = 1_000
"""Files below a copied directory that are looked at; beyond it the directory may contain a link."""

_LATE = frozenset({"trap", "coproc"})
"""Programs whose commands run later than those that follow them."""


class Place(Struct, frozen=True):
    """A path at or below which links may appear."""

    spellings: tuple[str, ...]
    maker: CommandFacts
    """The command that makes them; what it writes itself does not lead through them."""
    stage: int
    is_link: bool = False
    """It is a link for sure, so that a read through it leads away, too."""
    holds_only: bool = False
    """The place itself stays what it is: a directory that something is unpacked into."""


class Places:
    """Places found by path, so that many of them cost no more than few."""

    def __init__(self) -> None:
        """None yet."""
        self._by_path: dict[str, list[Place]] = {}
        self._above: set[str] = set()

    def __bool__(self) -> bool:
        """Is there one?"""
        return bool(self._by_path)

    def add(self, place: Place) -> None:
        """Take one more."""
        for spelling in place.spellings:
            self._by_path.setdefault(spelling, []).append(place)
            self._above.update(with_parents(spelling))

    def leading_to(self, path: str) -> Iterator[tuple[str, Place]]:
        """Yield each place at the path or above it, with the spelling in which it is there."""
        for directory in with_parents(path):
            for place in self._by_path.get(directory, ()):
                yield directory, place

    def overlap(self, target: Target) -> bool:
        """Is there one at, below or above one of the target's spellings?"""
        return any(
            path in self._above
            or any(directory in self._by_path for directory in with_parents(path))
            for path in target.spellings
        )


def add_places(scoped: Scoped, outer: CommandFacts, before: Places) -> None:
    """Add the places of a command and those inside it."""
    for one in outer.with_inner():
        for form in one.deny_forms:
            creates = created_by(form.head, form.joined)
            if creates is not None:
                for place in list(_places(scoped.scope, one, outer.stage, creates, before)):
                    before.add(place)
                break


def through_created_link(
    touches: Sequence[tuple[CommandFacts, ResolvedAccess]], outer: CommandFacts, places: Places
) -> Floor | None:
    """Return an ask when one of a command's accesses may lead through a link made before it.

    Args:
        touches: Each with the command, `outer` or one inside it, that it belongs to.
    """
    if not places:
        return None
    last = _last_stage(outer)
    for one, touch in touches:
        for place in _passed(touch, one, places):
            if (last is None or place.stage <= last) and not _is_own(place, touch, one, outer):
                return _link_floor(touch)
    return None


def _last_stage(outer: CommandFacts) -> int | None:
    """Return the last stage whose links a command may meet; None when it may run at any time."""
    heads = {form.head for one in outer.with_inner() for form in one.deny_forms}
    return None if outer.is_late or heads & _LATE else outer.stage


def _is_own(place: Place, touch: ResolvedAccess, one: CommandFacts, outer: CommandFacts) -> bool:
    """Does the command itself make the link, and not meet it again?"""
    if place.maker is not one:
        return False
    # In a loop, it may meet its own link again, if that has the same name each time.
    return not (place.is_link and (outer.repeats or one.repeats) and touch.text.isascii())


def _link_floor(touch: ResolvedAccess) -> Floor:
    return Floor(
        Behavior.ASK,
        Reason.SCOPE_BOUNDS_VIOLATION,
        f"{touch.written} may lead through a link that the command makes itself",
    )


def _passed(touch: ResolvedAccess, one: CommandFacts, places: Places) -> Iterator[Place]:
    """Yield the places that an access may lead through."""
    if touch.kind in _NEVER_FOLLOWED:
        return
    only_links = touch.kind in _FOLLOWED_READS
    for path in dict.fromkeys(_reached(touch, one)):
        for spelling, place in places.leading_to(path):
            if (place.is_link or not only_links) and not (place.holds_only and path == spelling):
                yield place


_NEVER_FOLLOWED = (AccessKind.PLACE, AccessKind.LENT, AccessKind.MENTIONED)
_FOLLOWED_READS = (AccessKind.READ, AccessKind.CHANGE_DIR)


def _reached(touch: ResolvedAccess, one: CommandFacts) -> list[str]:
    """Return the paths that an access opens, in all spellings."""
    reached = [path for target in touch.targets for path in target.spellings]
    if _leaves_last_name(touch, one):
        reached = [path.rpartition("/")[0] or "/" for path in reached]
    if touch.targets and (
        ".." in touch.text or any(".." in directory for directory in one.directories)
    ):
        reached.extend(_way(touch.text, one))
    return reached


def _leaves_last_name(touch: ResolvedAccess, one: CommandFacts) -> bool:
    """Is only what leads to the name followed, as for a removal or a new directory?"""
    if touch.text.endswith("/"):
        return False
    return touch.kind is AccessKind.REMOVE or any(
        form.head in ("mkdir", "rmdir") for form in one.deny_forms
    )


def _way(text: str, one: CommandFacts) -> Iterator[str]:
    """Yield every directory on the way: behind a link, dot-dot leads elsewhere than it seems."""
    for directory in one.directories:
        names: list[str] = []
        for name in (text if text.startswith("/") else f"{directory}/{text}").split("/"):
            if name == "..":
                yield "/" + "/".join(names)
                names = names[:-1]
            elif name not in ("", "."):
                names.append(name)


def _places(
    scope: Scope, one: CommandFacts, stage: int, creates: Creates, before: Places
) -> Iterator[Place]:
    written = [access for access in one.accesses if access.kind is AccessKind.WRITE]
    match creates:
        case Creates.LINK:
            links = [
                Access(access.kind, word) for access in written for word in _named(one, access.path)
            ]
            yield from _at(scope, one, stage, links, is_link=True)
        case Creates.COPY:
            may_hold, is_link = _copies_links(scope, one, before)
            if may_hold:
                yield from _at(scope, one, stage, written, is_link=is_link)
        case Creates.UNPACK:
            yield from _at(scope, one, stage, written, holds_only=True)
        case Creates.TREE:
            yield from _tree_places(scope, one, stage)


def _tree_places(scope: Scope, one: CommandFacts, stage: int) -> Iterator[Place]:
    """Yield the work trees of a command: wherever it is started, it may change all of one."""
    places = [access for access in one.accesses if access.kind is AccessKind.PLACE]
    places = places or [Access(AccessKind.PLACE, HERE)]
    for place in _at(scope, one, stage, places, holds_only=True):
        roots = [
            root
            for root in (*scope.roots, scope.launch)
            if any(is_below(path, root) for path in place.spellings)
        ]
        yield replace(place, spellings=(*place.spellings, *roots))


def _named(one: CommandFacts, path: Word) -> list[Word]:
    """Return where links are made: in the current directory, named like their targets."""
    if path.text != ".":
        return [path]
    names = [access.path.text.rstrip("/").rpartition("/")[2] for access in one.accesses]
    return [Word(name, name) for name in names]


def _at(
    scope: Scope,
    one: CommandFacts,
    stage: int,
    accesses: Iterable[Access],
    *,
    is_link: bool = False,
    holds_only: bool = False,
) -> Iterator[Place]:
    for access in accesses:
        touch = resolve_access(scope, access.kind, access.path, one.directories)
        for target in touch.targets if touch else ():
            yield Place(target.spellings, one, stage, is_link, holds_only)


def _copies_links(scope: Scope, one: CommandFacts, before: Places) -> tuple[bool, bool]:
    """Return whether a link may be among what is copied, and whether a source surely is one."""
    kinds = (AccessKind.READ, AccessKind.REMOVE)
    sources = [access for access in one.accesses if access.kind in kinds]
    # Without a source here, it comes from another machine or a container.
    may_hold = not sources
    for access in sources:
        touch = resolve_access(scope, access.kind, access.path, one.directories)
        may_hold = may_hold or touch is None or not touch.targets
        for target in touch.targets if touch else ():
            if scope.files.is_link(target.lexical):
                return True, True
            may_hold = may_hold or before.overlap(target) or _holds_link(scope.files, target.real)
    return may_hold, False


def _holds_link(files: FileView, path: str) -> bool:
    """Is there a link below the directory, or too much to look at?"""
    left = MAX_WALK
    directories = [path] if files.is_dir(path) else []
    while directories:
        directory = directories.pop()
        entries = files.entries(directory)
        left -= len(entries or ())
        if entries is None or left < 0:
            return True
        for name in entries:
            inner = f"{directory}/{name}"
            if files.is_link(inner):
                return True
            if files.is_dir(inner):
                directories.append(inner)
    return False
