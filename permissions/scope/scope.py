"""Checks that no rule, mode, hook or grant overrides: working directories, protected paths, budget
and blocked hosts.

A check returns a `Floor`: a final deny, or an ask, which the decision cannot be looser than. A
write proven outside the working directories is an ask that only a user may answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.network.private_addresses import inside_kind
from permissions.context import PermissionContext
from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from permissions.paths.credential_paths import credential_places
from permissions.paths.file_view import FileView, for_one_decision
from permissions.paths.protected_paths import (
    Protection,
    is_users_configuration,
    may_be_protected,
    protection_of,
)
from permissions.paths.resolve import Target, absolute, is_below, relative_to, resolve

_OWN = (".agent", ".claude")


class Floor(Struct, frozen=True):
    """The least strict decision that a check permits."""

    behavior: Behavior
    """DENY (final) or ASK."""
    reason: Reason
    message: str
    lifted_by_allow: bool = False
    """Set for a read outside the scope: a matching allow rule lifts the floor."""
    write_dirs: tuple[str, ...] = ()
    """For a write outside the scope: the existing directory that it needs, canonical."""


class Scope(Struct, frozen=True):
    """The working directories with everything resolved once per decision."""

    roots: tuple[str, ...]
    """Canonical: launch directory, extra directories, scratch directory."""
    readable: tuple[str, ...]
    own: tuple[str, ...]
    home: str
    homes: tuple[str, ...]
    """The home directory as given, and with links resolved."""
    launch: str
    """As given, absolute; relative paths of tools start here or in the shell's directory."""
    mode: Mode
    files: FileView
    protected_files: frozenset[str]
    """Case-folded."""
    scratch: str = ""
    """The session's temporary directory, canonical, also one of the roots; may be empty."""

    @classmethod
    def of(cls, context: PermissionContext, mode: Mode, view: FileView | None = None) -> Scope:
        """Resolve the directories of `context`; `view` is the file view of the decision."""
        files = for_one_decision(context.files) if view is None else view

        def canonical(directories: Iterable[object]) -> tuple[str, ...]:
            return tuple(filter(None, map(files.realpath, map(absolute, directories))))

        home = str(context.home)
        own = [os.path.join(home, name) for name in _OWN]
        scratch = () if context.scratch_dir is None else (context.scratch_dir,)
        return cls(
            roots=canonical((context.launch_dir, *context.additional_dirs, *scratch)),
            readable=canonical(context.readable_dirs),
            own=canonical((*own, *context.own_dirs)),
            home=home,
            homes=(home, *canonical((home,))),
            launch=absolute(context.launch_dir),
            mode=mode,
            files=files,
            protected_files=frozenset(path.casefold() for path in context.protected_files),
            scratch="".join(canonical(scratch)),
        )

    def resolve(self, path_text: str, base: str | None = None) -> Target | None:
        """Resolve a tool's path; return None if that is impossible."""
        return resolve(path_text, base=base or self.launch, home=self.home, files=self.files)

    def contains(self, target: Target) -> bool:
        """Return whether the file, links resolved, is inside a working directory."""
        return _is_below_one(target.real, self.roots)

    def is_credential(self, target: Target) -> bool:
        """Whether the file is in a usual location of credentials."""
        return any(_is_below_one(target.real, credential_places(home)) for home in self.homes)

    def check_read(self, target: Target | None, path_text: str) -> Floor | None:
        """Check a read: None inside, an ask outside."""
        if target is None or target.is_of_process:
            return _unresolved_floor(path_text, "read")
        if self.contains(target) or _is_below_one(target.real, self.readable):
            return None
        return Floor(
            Behavior.ASK,
            Reason.SCOPE_BOUNDS_VIOLATION,
            f"reads {_target_text(target)}, outside the working directories",
            lifted_by_allow=True,
        )

    def check_write(self, target: Target | None, path_text: str) -> Floor | None:
        """Check a write: an ask outside and on protected paths, or a deny in modes that never
        ask."""
        if target is None or target.is_of_process:
            return _unresolved_floor(path_text, "write")
        if not self.contains(target):
            return self._outside(target, target.real)
        return self._check_protected(target)

    def _outside(self, target: Target, place: str) -> Floor:
        """Return the floor of a write outside; `place` is what must be writable for it."""
        while place != "/" and not self.files.is_dir(place):
            place = os.path.dirname(place)
        final = self.mode in _NEVER_ASKS
        return Floor(
            Behavior.DENY if final else Behavior.ASK,
            Reason.SCOPE_BOUNDS_VIOLATION,
            f"writes {_target_text(target)}, outside the working directories",
            write_dirs=(place,),
        )

    def check_place(self, target: Target | None, path_text: str) -> Floor | None:
        """Check a directory in which a program changes files of its own choice."""
        if target is None or not self.contains(target):
            return self.check_write(target, path_text)
        return None

    def check_mounted(self, target: Target | None, path_text: str) -> Floor | None:
        """Check a directory that is mounted in a container, which could change it."""
        if target is None or self.contains(target):
            return self.check_place(target, path_text)
        return Floor(
            Behavior.ASK,
            Reason.SCOPE_BOUNDS_VIOLATION,
            f"lends {_target_text(target)}, outside the working directories, to a container",
        )

    def check_remove(self, target: Target | None, path_text: str) -> Floor | None:
        """Check a removal or a move away: like a write, and the working directory itself asks."""
        is_known = target is not None and not target.is_of_process
        if target is not None and is_known and not self.contains(target):
            return self._outside(target, os.path.dirname(target.real))
        floor = self.check_write(target, path_text)
        if floor is not None or target is None:
            return floor
        if target.real in self.roots:
            return self._protected_floor(f"deletes or moves the working directory {target.real}")
        return self._run_by_others(target, is_removed=True)

    def _check_protected(self, target: Target) -> Floor | None:
        results = {self._protection(spelling) for spelling in target.spellings}
        if Protection.OWN in results:
            return self._protected_floor(f"writes {_target_text(target)}, the agent's own settings")
        if Protection.PROTECTED in results and self.mode is not Mode.BYPASS:
            return self._protected_floor(f"writes {_target_text(target)}, a protected path")
        return self._run_by_others(target, is_removed=False)

    def _run_by_others(self, target: Target, *, is_removed: bool) -> Floor | None:
        """Check a change of a file that a hook, the status line, a server or git runs, or of its
        parents."""
        if self.mode is Mode.BYPASS or not self.protected_files:
            return None
        if not any(self._is_run(path, is_removed=is_removed) for path in target.spellings):
            return None
        what = "deletes or moves" if is_removed else "writes"
        return self._protected_floor(
            f"{what} {_target_text(target)}, "
            "which agent-tui, a hook, the status line, a server or git runs"
        )

    def _protection(self, path: str) -> Protection:
        if _is_below_one(path, self.own):
            inside_own = [own for own in self.own if is_below(path, own)]
            if not self._is_scratch(path, inside_own):
                return Protection.OWN
        return self._named_protection(path) if may_be_protected(path) else Protection.NONE

    def _is_run(self, path: str, *, is_removed: bool) -> bool:
        if path in self.roots:
            return False
        folded_path = path.casefold()
        if any(is_below(folded_path, file) for file in self.protected_files):
            return True
        # A write adds one name to an existing directory; a new or removed one affects all below it.
        takes_tree = is_removed or not self.files.is_dir(path)
        return takes_tree and any(is_below(file, folded_path) for file in self.protected_files)

    def _is_scratch(self, path: str, inside_own: Sequence[str]) -> bool:
        # The scratch directory is usually below the agent's home, and is not protected.
        return any(
            is_below(path, root) and any(is_below(root, own) and root != own for own in inside_own)
            for root in self.roots[1:]
        )

    def _named_protection(self, path: str) -> Protection:
        roots = self.roots if self.launch in self.roots else (*self.roots, self.launch)
        relative_paths = [relative_to(path, root) for root in roots]
        inside = [name for name in relative_paths if name is not None]
        if not inside:
            return protection_of(path)
        # The innermost working directory decides: one may be opened inside another's `.git`.
        innermost_name = min(inside, key=len)
        result = protection_of(innermost_name)
        if result is Protection.NONE and (
            "/.git/" in f"{path}/".lower() or self._is_configuration(path, innermost_name)
        ):
            return Protection.PROTECTED
        return result

    def _is_configuration(self, path: str, innermost_name: str) -> bool:
        """Whether it is the user's configuration in a working directory that is or contains the
        home."""
        names = [relative_to(path, home) for home in self.homes]
        return any(
            name is not None and is_users_configuration(name) and len(innermost_name) >= len(name)
            for name in names
        )

    def _protected_floor(self, message: str) -> Floor:
        final = self.mode in _NEVER_ASKS
        return Floor(Behavior.DENY if final else Behavior.ASK, Reason.PROTECTED_PATH, message)


_NEVER_ASKS = (Mode.PLAN, Mode.DONT_ASK)
"""Modes in which a write that only a user may allow is denied."""


class Scoped(Protocol):
    """Provides the working directories, computed on demand."""

    @property
    def scope(self) -> Scope:
        """The working directories."""
        ...


def check_budget(context: PermissionContext) -> Floor | None:
    """Deny everything once a budget is exceeded."""
    if context.budget_exceeded is None:
        return None
    return Floor(Behavior.DENY, Reason.BUDGET_EXCEEDED, context.budget_exceeded)


def check_host(blocked_hosts: frozenset[str], host: str | None) -> Floor | None:
    """Deny blocked hosts and their subdomains."""
    if host is None:
        return None
    for blocked_host in blocked_hosts:
        if host == blocked_host or host.endswith("." + blocked_host):
            return Floor(Behavior.DENY, Reason.BLOCKED_HOST, f"{host} is a blocked host")
    return None


def check_address(host: str | None) -> Floor | None:
    """Deny a host that spells out an internal address."""
    kind = None if host is None else inside_kind(host)
    if kind is None:
        return None
    return Floor(Behavior.DENY, Reason.BLOCKED_HOST, f"{host} is a blocked host: {kind}")


def strictest_floor(floors: Iterable[Floor | None]) -> Floor | None:
    """Return the strictest floor: deny, then asks that only a user may lift, then other asks."""
    best: Floor | None = None
    places: list[str] = []
    for floor in floors:
        if floor is not None:
            places.extend(floor.write_dirs)
            if best is None or _weight(floor) > _weight(best):
                best = floor
    if best is not None and len(places) > len(best.write_dirs) > 0:
        return replace(best, write_dirs=tuple(dict.fromkeys(places)))
    return best


def write_dirs_of(floors: Iterable[Floor | None]) -> tuple[str, ...]:
    """Return the directories outside that writes need; () for none."""
    return tuple(dict.fromkeys(one for floor in floors if floor for one in floor.write_dirs))


def _is_below_one(path: str, directories: tuple[str, ...]) -> bool:
    for directory in directories:  # noqa: SIM110 - half the time of `any`
        if is_below(path, directory):
            return True
    return False


def _weight(floor: Floor) -> int:
    if floor.behavior is Behavior.DENY:
        return 3
    if floor.write_dirs or floor.reason is Reason.UNSANDBOXED:
        return 2
    return 0 if floor.lifted_by_allow else 1


def _unresolved_floor(path_text: str, verb: str) -> Floor:
    return Floor(
        Behavior.ASK,
        Reason.SCOPE_BOUNDS_VIOLATION,
        f"would {verb} {path_text!r}, which cannot be resolved before it runs",
    )


def _target_text(target: Target) -> str:
    if target.lexical == target.real:
        return target.real
    return f"{target.lexical} (really {target.real})"
