"""Places where a command itself may create links, so that the targets of later writes are unknown.

`tar x`, `git checkout`, `cp -a` and similar commands determine only while they run whether a name
is a directory, a file or a link to somewhere else. A write below such a place asks a user; a read
does only if a link is certain, and earlier commands are not affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from permissions.decision import Behavior, Reason
from permissions.paths.resolve import is_below
from permissions.scope.resolve_access import ResolvedAccess, resolve_access
from permissions.scope.scope import Floor, Scope, Scoped
from permissions.shell.access import HERE, Access, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.effects.link_makers import Creates, links_made

_LATE = frozenset({"trap", "coproc"})
"""Programs whose commands run later than those that follow them."""
_NEVER_FOLLOWED = (AccessKind.PLACE, AccessKind.MOUNTED, AccessKind.MENTIONED, AccessKind.SENT)
_READS = (AccessKind.READ, AccessKind.CHANGE_DIR)


class Place(Struct, frozen=True):
    """A path at or below which links may appear."""

    path: str
    maker: CommandFacts
    """The command that creates them; its own writes do not lead through them."""
    stage: int
    kind: Creates


class Places(Struct):
    """Every place of one call."""

    places: dict[str, Place] = {}

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self.places)


def add_places(view: Scoped, outer: CommandFacts, earlier_places: Places) -> None:
    """Add the places of a command and those inside it."""
    for one in outer.with_inner():
        link_kinds = [
            links_made(form.head, form.joined_text) for form in one.deny_forms if form.joined_text
        ]
        kind = next(filter(None, link_kinds), None)
        if kind is None:
            continue
        for path in _written_paths(view.scope, one, kind):
            earlier_places.places.setdefault(path, Place(path, one, outer.stage, kind))


def _written_paths(scope: Scope, one: CommandFacts, kind: Creates) -> Iterable[str]:
    writes = [access for access in one.accesses if access.kind is AccessKind.WRITE]
    if kind is Creates.TREE:
        return _work_trees(scope, one)
    return _paths(scope, one, writes or [Access(AccessKind.WRITE, HERE)])


def _work_trees(scope: Scope, one: CommandFacts) -> set[str]:
    """Return the work trees of a command: wherever it is started, it may change a whole one."""
    places = [access for access in one.accesses if access.kind is AccessKind.PLACE]
    paths = set(_paths(scope, one, places or [Access(AccessKind.PLACE, HERE)]))
    roots = (*scope.roots, scope.launch)
    return paths | {root for root in roots if any(is_below(path, root) for path in paths)}


def _paths(scope: Scope, one: CommandFacts, accesses: Iterable[Access]) -> Iterator[str]:
    for access in accesses:
        touch = resolve_access(scope, access.kind, access.path, one.directories)
        for target in touch.targets if touch else ():
            yield from target.spellings


def through_created_link(
    touches: Sequence[tuple[CommandFacts, ResolvedAccess]], outer: CommandFacts, places: Places
) -> Floor | None:
    """Return an ask when one of a command's accesses may lead through a link made before it.

    Args:
        touches: Each with the command, `outer` or one inside it, that it belongs to.
    """
    heads = {form.head for one in outer.with_inner() for form in one.deny_forms}
    is_late = outer.is_late or not heads.isdisjoint(_LATE)
    for place in places.places.values():
        if not is_late and place.stage > outer.stage:
            continue
        for one, touch in touches:
            if not _is_own(place, touch, one, outer) and _leads_through(touch, one, place):
                return Floor(
                    Behavior.ASK,
                    Reason.SCOPE_BOUNDS_VIOLATION,
                    f"{touch.raw_text} may lead through a link that the command makes itself",
                )
    return None


def _is_own(place: Place, touch: ResolvedAccess, one: CommandFacts, outer: CommandFacts) -> bool:
    """Whether the command itself creates the link, and does not follow it later."""
    if place.maker is not one:
        return False
    # In a loop, it may follow its own link, if that has the same name each time.
    is_met = place.kind is Creates.LINK and touch.text.isascii()
    return not (is_met and (outer.repeats or one.repeats))


def _leads_through(touch: ResolvedAccess, one: CommandFacts, place: Place) -> bool:
    if touch.kind in _NEVER_FOLLOWED or (touch.kind in _READS and place.kind is not Creates.LINK):
        return False
    holds_only = place.kind in (Creates.UNPACK, Creates.TREE)
    for path in _opened_paths(touch, one):
        if is_below(path, place.path) and not (holds_only and path == place.path):
            return True
    return False


def _opened_paths(touch: ResolvedAccess, one: CommandFacts) -> Iterator[str]:
    """Yield the paths that an access opens, in all spellings."""
    paths = (path for target in touch.targets for path in target.spellings)
    if _leaves_last_name(touch, one):
        paths = (path.rpartition("/")[0] or "/" for path in paths)
    yield from paths
    if touch.targets and any(".." in text for text in (touch.text, *one.directories)):
        yield from _way(touch.text, one)


def _leaves_last_name(touch: ResolvedAccess, one: CommandFacts) -> bool:
    """Whether the last component is not followed, as for a removal or a new directory."""
    makes = any(form.head in ("mkdir", "rmdir") for form in one.deny_forms)
    return (touch.kind is AccessKind.REMOVE or makes) and not touch.text.endswith("/")


def _way(text: str, one: CommandFacts) -> Iterator[str]:
    """Yield every directory before a `..`, which after a link leads elsewhere than it seems."""
    for directory in one.directories:
        names: list[str] = []
        for name in (text if text.startswith("/") else f"{directory}/{text}").split("/"):
            if name == "..":
                yield "/" + "/".join(names)
                names = names[:-1]
            elif name not in ("", "."):
                names.append(name)
