"""Entry point of the sandbox: launches programs under the confinement of their decision.

Next: `agent.sandbox.build_policy` (what a confinement means here) and
`agent.sandbox.confined_launch` (how a backend enforces it).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.configuration.bounded_glob import TooManyMatches
from agent.sandbox.configuration.path_lists import PathLists, path_lists
from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.confined_launch import SandboxRun, confined_launch
from agent.sandbox.denied_files import TooManyFiles
from agent.sandbox.landlock import held_by_landlock
from agent.sandbox.network.call_access import SessionAccess
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.namespace import NamespaceRefused
from agent.sandbox.network.session_network import SessionNetwork
from agent.sandbox.package_caches import DIRECTORY
from agent.sandbox.placeholders import Placeholders
from agent.sandbox.planted.planted_repositories import SubmoduleSearch, what_runs
from agent.sandbox.policy import Network, SandboxPolicy
from agent.sandbox.protected.protected_names import NameSearch
from agent.sandbox.refusals import RefusalLog
from permissions.base.files.directory_trees import remove_tree
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.spawn import CannotConfine, Confine, Launch
from permissions.confinement import Confinement, SandboxLevel, can_hold
from permissions.context import PermissionContext
from permissions.paths.resolve import is_below


class RunRequest(Struct, frozen=True):
    """How one program is confined."""

    confinement: Confinement
    write_dirs: tuple[str, ...] = ()
    """Directories that the user opened for this one call, and files that it is given to write."""
    visible: tuple[str, ...] = ()
    """Paths outside the working directories that a rule lets it read."""
    word_paths: tuple[str, ...] = ()
    """Paths of any kind that its words name; a directory may block Unix sockets
    (`PolicyRequest`)."""
    command: str = ""
    """The shell command that the program runs, whose words may name more such paths."""
    masks_denied: bool = True
    """See `PolicyRequest`."""
    opens_written: bool = False
    """See `PolicyRequest`."""
    network: Network = Network.OFF
    """Applies to `project` only; `SESSION` is set by `launch_call`."""


class Sandbox:
    """Confines the programs of one session."""

    def __init__(
        self,
        available: Availability,
        context: Callable[[], PermissionContext],
        *,
        state_dir: Path,
        user_env: Callable[[], Mapping[str, str]],
        settings: Callable[[], SandboxSettings] = SandboxSettings,
    ) -> None:
        """Nothing is started yet.

        Args:
            context: Returns the current working directories and rules.
            state_dir: Holds the record of placeholders and the quarantine; outlives the session.
            user_env: Returns the environment that the user set, without what projects add.
            settings: Returns what settings say about the sandbox now.
        """
        self.available = available
        self.network: SessionNetwork | None = None
        """Access of commands to allowed hosts; None until there is a gate that decides about
        hosts."""
        self.settings = settings
        """Returns what settings say about the sandbox now."""
        self.refusal_log = RefusalLog()
        self.started_ns = time.time_ns()
        """Files that changed later may have been changed by a command."""
        self._context = context
        self._user_env = user_env
        self._placeholders = Placeholders(state_dir)
        self._quarantine = state_dir / "quarantine"
        self._submodules = SubmoduleSearch()
        self._names = NameSearch()

    def within(self, context: Callable[[], PermissionContext]) -> Sandbox:
        """Return the same sandbox for other working directories."""
        other = copy(self)
        other._context = context
        return other

    @property
    def level(self) -> SandboxLevel:
        """What can be enforced here."""
        return self.available.level

    @property
    def confines_hooks(self) -> bool:
        """Whether hooks of projects, plugins, skills and agents run confined."""
        return self.settings().confines_hooks and can_hold(self.level, Confinement.PROJECT)

    def policy(self, request: RunRequest, program: Launch) -> SandboxPolicy:
        """Return the policy for a program.

        Raises:
            CannotConfine: no policy can be enforced here.
        """
        # Imported with the first program: the command parser is slow to import.
        from agent.sandbox.build_policy import PolicyError, PolicyRequest, build_policy
        from agent.sandbox.configuration.named_paths import readable_names, without_sockets

        context, settings = self._context(), self.settings()
        names = readable_names(request.command, request.confinement, context)
        try:
            policy = build_policy(
                PolicyRequest(
                    confinement=request.confinement,
                    context=context,
                    cwd=program.cwd or context.launch_dir,
                    env=program.env,
                    user_env=self._user_env(),
                    write_dirs=request.write_dirs,
                    visible=(*request.visible, os.path.dirname(program.argv[0])),
                    word_paths=(*names, *without_sockets(request.word_paths)),
                    masks_denied=request.masks_denied,
                    opens_written=request.opens_written,
                    network=request.network,
                    can_mount=self.available.backend is Backend.BUBBLEWRAP,
                    search=self._names,
                    settings_lists=path_lists(settings, context, request.confinement)
                    if request.masks_denied
                    else PathLists(),
                    unix_sockets=settings.all_unix_sockets,
                    sockets=settings.unix_sockets,
                )
            )
        except (PolicyError, TooManyFiles, TooManyMatches) as error:
            raise CannotConfine(str(error)) from error
        if self.available.backend is not Backend.LANDLOCK:
            return policy
        return held_by_landlock(
            policy,
            git_writes=settings.landlock_git_writes,
            unix_sockets=settings.all_unix_sockets,
        )

    def hidden_from_search(self, directory: Path) -> tuple[str, ...]:
        """Return the credential paths in or around a directory that are hidden from our own
        programs."""
        if not can_hold(self.level, Confinement.READ_ONLY):
            return ()
        request = RunRequest(Confinement.READ_ONLY, masks_denied=False)
        policy = self.policy(request, Launch(("/",), {}, directory))
        real_path = os.path.realpath(directory)
        parents = policy.secret if policy.read_refusal(real_path) else ()
        inside = [one for one in policy.secret if is_below(one, real_path)]
        return tuple(
            dict.fromkeys((*(one for one in parents if is_below(real_path, one)), *inside))
        )

    def launch(
        self, program: Launch, request: RunRequest, access: SessionAccess | None = None
    ) -> Launch:
        """Return the launch of a program under a confinement. Blocks while it reads directories.

        Raises:
            CannotConfine: this machine does not enforce it, or the backend cannot be prepared.
        """
        if request.confinement is Confinement.NONE:
            return program
        if not can_hold(self.level, request.confinement):
            raise CannotConfine(
                f"this machine cannot enforce {request.confinement} "
                f"(level {self.level}: {self.available.reason})"
            )
        policy = self.policy(request, program)
        denied_variables = self.settings().denied_variables
        env = {name: value for name, value in program.env.items() if name not in denied_variables}
        launch = confined_launch(
            replace(program, env=env),
            policy,
            self.available,
            self._placeholders,
            self._quarantine,
            network=access,
        )
        if policy.write_roots and isinstance(launch.confined_run, SandboxRun):
            confine = self.confine_where_held(RunRequest(Confinement.READ_ONLY, masks_denied=False))
            reading = ReadingPrograms(program.env, self._context().project_root, confine)
            launch.confined_run.find_planted = lambda run_policy: (
                *self._names_made(run_policy, reading),
                *self._submodules.find_planted(run_policy, reading),
            )
        return launch

    def _names_made(self, policy: SandboxPolicy, reading: ReadingPrograms) -> list[str]:
        paths: list[str] = []
        for root, previous in policy.found_names.items():
            current = self._names.find(root, policy.cwd, previous)
            paths += current.made_since(previous)
            paths += what_runs(current.repositories_since(previous), policy, reading)
        return paths

    async def launch_call(self, program: Launch, request: RunRequest, call: NetworkCall) -> Launch:
        """Return the launch of a model's command under the confinement that its decision assumed.

        If this machine cannot enforce it, the decision took that into account, and the program is
        returned unchanged.

        Raises:
            CannotConfine: the confinement cannot be prepared.
        """
        if not can_hold(self.level, request.confinement):
            return program
        access = await self._access(request, call, program)
        if access is not None:
            request = replace(request, network=Network.SESSION)
        try:
            return await asyncio.to_thread(self.launch, program, request, access)
        except BaseException:
            if access is not None:
                access.close()
            raise

    async def _access(
        self, request: RunRequest, call: NetworkCall, program: Launch
    ) -> SessionAccess | None:
        """Return network access for a command; None unless the user works inside the sandbox."""
        if self.network is None or not self._context().sandbox.runs_inside:
            return None
        if request.confinement is not Confinement.PROJECT:
            return None
        try:
            await self.network.start()
        except NamespaceRefused as error:
            raise CannotConfine(f"there is no network namespace: {error}") from error
        return SessionAccess(self.network, call, program.env)

    async def aclose(self) -> None:
        """Stop the proxy, so that commands that still run lose network access, and remove the
        session's package caches."""
        if self.network is not None:
            await self.network.aclose()
        temp_dir = self._context().scratch_dir
        if temp_dir is not None:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(remove_tree, temp_dir / DIRECTORY)

    def confine_where_held(self, request: RunRequest) -> Confine:
        """Return a function that confines our own programs, or leaves them unchanged where that
        cannot be enforced. Absolute paths in their arguments stay visible."""

        def confine(program: Launch) -> Launch:
            if not can_hold(self.level, request.confinement):
                return program
            paths = tuple(word for word in program.argv[1:] if word.startswith("/"))
            return self.launch(program, replace(request, visible=(*request.visible, *paths)))

        return confine
