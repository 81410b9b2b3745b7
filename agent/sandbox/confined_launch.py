"""Turns a launch and a policy into a backend's launch, and releases its resources afterwards."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.bubblewrap import OPENED, mount_arguments, plan_mounts
from agent.sandbox.git.git_program import git_mounts
from agent.sandbox.git.git_stops import REAL_GIT
from agent.sandbox.landlock import landlock_arguments
from agent.sandbox.placeholders import Placeholders
from agent.sandbox.planted.planted_names import move_planted
from agent.sandbox.policy import PROTECTED, SandboxPolicy
from agent.sandbox.protected.protected_mounts import LEADING_GIT, may_be_placeholder
from agent.sandbox.refusals import Refusal, RefusalKind, find_git_stops, find_refusals
from agent.sandbox.seatbelt import seatbelt_arguments
from agent.sandbox.seccomp import WITH_UNIX, WITHOUT_UNIX, filter_program
from permissions.base.files.without_links import open_anything
from permissions.base.process.spawn import CannotConfine, Launch

if TYPE_CHECKING:
    from agent.sandbox.planted.tripwire import Tripwire


class CallAccess(Protocol):
    """One call's access to the network through the session's proxy."""

    @property
    def join_argv(self) -> tuple[str, ...]:
        """The command-line prefix that enters the session's namespace."""
        ...

    @property
    def descriptors(self) -> tuple[int, ...]:
        """File descriptors that the prefix must inherit."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """Variables that point programs at the proxy."""
        ...

    def refused_hosts(self) -> Sequence[tuple[str, str]]:
        """Return `host:port` and the reason of each connection that was refused."""
        ...

    def close(self) -> None:
        """Revoke the access. Raises nothing."""
        ...


class SandboxRun:
    """One confined run: the resources that it holds, and what it was refused."""

    def __init__(
        self,
        policy: SandboxPolicy,
        placeholders: Placeholders,
        placeholder_paths: Sequence[str],
        descriptors: Sequence[int],
        quarantine: Path,
        *,
        is_wrapped: bool = False,
    ) -> None:
        """Only `confined_launch` calls this."""
        self.policy = policy
        self.find_planted: Callable[[SandboxPolicy], Iterable[str]] = lambda _: ()
        """Returns further paths that must not exist after the run."""
        self.network: CallAccess | None = None
        """Its network access; closed at the end of the run."""
        self._is_wrapped = is_wrapped
        self._placeholders = placeholders
        self._placeholder_paths = tuple(placeholder_paths)
        self._descriptors = list(descriptors)
        self._quarantine = quarantine
        self._quarantine_places: dict[str, str] = {}
        self._tripwire: Tripwire | None = None

    @property
    def is_wrapped(self) -> bool:
        """Whether a process of the backend wraps the program until its end."""
        return self._is_wrapped

    def running(self, pid: int) -> None:
        """Watch the names that would redirect git while the program runs."""
        names = [path for path in self.policy.watched_names if _leads_git(path)]
        names += [path for path, _ in self.policy.contents]
        if names and self._is_wrapped:
            from agent.sandbox.planted.tripwire import Tripwire  # with the first command

            # Without a watch, planted files are still moved away after the run.
            with contextlib.suppress(OSError):
                self._tripwire = Tripwire(names, pid, lambda: self._restore_paths(names))

    def _restore_paths(self, names: Sequence[str]) -> bool:
        name_set = frozenset(names)
        places = move_planted(self.policy.only(name_set), self._quarantine)
        self._quarantine_places |= places
        return bool(places)

    def release_start(self) -> None:
        """Close the descriptors that only the start needed."""
        while self._descriptors:
            with contextlib.suppress(OSError):
                os.close(self._descriptors.pop())

    def finish(self) -> None:
        """Release placeholders and network access; move planted files into the quarantine."""
        if self._tripwire is not None:
            self._tripwire.close()
            self._tripwire = None
        paths, self._placeholder_paths = self._placeholder_paths, ()
        self._placeholders.release(paths)
        if self.network is not None:
            self.network.close()
        planted_paths = self.find_planted(self.policy)
        self._quarantine_places |= move_planted(self.policy, self._quarantine, planted_paths)

    def refusals(self, output: str, *, has_failed: bool = True) -> tuple[Refusal, ...]:
        """Return what the program was refused; call it after `finish`."""
        writes = [
            Refusal(RefusalKind.WRITE, path, PROTECTED, place)
            for path, place in self._quarantine_places.items()
        ]
        hosts = () if self.network is None else self.network.refused_hosts()
        connections = [
            Refusal(RefusalKind.CONNECT, host, reason) for host, reason in dict(hosts).items()
        ]
        stops = find_git_stops(output)
        others = find_refusals(self.policy, output) if has_failed and not stops else ()
        return (*writes, *connections, *stops, *others)


def _leads_git(path: str) -> bool:
    return os.path.basename(path) in LEADING_GIT


def confined_launch(
    program: Launch,
    policy: SandboxPolicy,
    available: Availability,
    placeholders: Placeholders,
    quarantine: Path,
    *,
    network: CallAccess | None = None,
) -> Launch:
    """Return the launch that runs a program under a policy.

    Args:
        network: Its network access, where the policy grants one.

    Raises:
        CannotConfine: a placeholder cannot be made, or the system refuses a descriptor.
    """
    proxies = network.env if network is not None else {}
    inner = replace(program, env={**program.env, **policy.env, **proxies})
    match available.backend:
        case Backend.LANDLOCK:
            prefix = landlock_arguments(policy)
        case Backend.SEATBELT:
            prefix = seatbelt_arguments(policy)
        case Backend.BUBBLEWRAP:
            return _in_bubblewrap(inner, policy, available, placeholders, quarantine, network)
        case Backend.NONE:
            raise CannotConfine(f"this machine cannot enforce {policy.confinement}")
    run = SandboxRun(policy, placeholders, (), (), quarantine)
    return replace(inner, argv=(*prefix, *program.argv), confined_run=run)


def _in_bubblewrap(
    program: Launch,
    policy: SandboxPolicy,
    available: Availability,
    placeholders: Placeholders,
    quarantine: Path,
    network: CallAccess | None,
) -> Launch:
    try:
        placeholder_paths = placeholders.acquire(
            policy.missing_directories, filter(may_be_placeholder, policy.read_only)
        )
    except OSError as error:
        raise CannotConfine(
            f"the sandbox cannot be set up: {error.filename}: {error.strerror}"
        ) from error
    descriptors: list[int] = []
    try:
        mounts_by_path = plan_mounts(policy)
        by_path = {}
        for path in [one for one, kind in mounts_by_path.items() if kind in OPENED]:
            by_path[path] = open_anything(policy.session_directories.get(path, path))
            descriptors.append(by_path[path])
        arguments = mount_arguments(
            policy, mounts_by_path, by_path, hides_processes=available.hides_processes
        )
        git, script = git_mounts(policy, program.env.get("PATH", ""))
        if git:
            arguments += ["--ro-bind", git[0], REAL_GIT]
        for place in git:
            descriptors.append(_memory_file(script))
            arguments += ["--perms", "0555", "--ro-bind-data", str(descriptors[-1]), place]
        # bubblewrap itself is not confined and must not load libraries that a project names.
        inside = {name: value for name, value in program.env.items() if name.startswith("LD_")}
        for name, value in inside.items():
            arguments += ["--setenv", name, value]
        mounts = _memory_file("\0".join(arguments).encode("utf-8", "surrogateescape"))
        descriptors.append(mounts)
        families = WITH_UNIX if policy.unix_sockets else WITHOUT_UNIX
        seccomp = _memory_file(filter_program(families))
        descriptors.append(seccomp)
    except OSError as error:
        for descriptor in descriptors:
            os.close(descriptor)
        placeholders.release(placeholder_paths)
        path = f"{error.filename}: " if error.filename else ""
        raise CannotConfine(f"the sandbox cannot be set up: {path}{error.strerror}") from error
    run = SandboxRun(
        policy, placeholders, placeholder_paths, descriptors, quarantine, is_wrapped=True
    )
    run.network = network
    join, namespaces = ((), ()) if network is None else (network.join_argv, network.descriptors)
    argv = (
        *(*join, available.program, "--args", str(mounts), "--seccomp", str(seccomp), "--"),
        *program.argv,
    )
    pass_fds = (*program.pass_fds, *namespaces, *descriptors)
    env = {name: value for name, value in program.env.items() if name not in inside}
    return replace(
        program,
        argv=argv,
        env=env,
        pass_fds=pass_fds,
        confined_run=run,
        hides_abstract_sockets=policy.hides_abstract_sockets and not _is_setuid(available.program),
    )


def _is_setuid(program: str) -> bool:
    return bool(os.stat(program).st_mode & stat.S_ISUID)


def _memory_file(content: bytes) -> int:
    """Return the descriptor of an unnamed file, to be read from its start. Raises OSError."""
    descriptor = os.memfd_create("agent-tui", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(descriptor), "wb") as stream:
        stream.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
