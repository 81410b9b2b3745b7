"""A confinement and the state of a session become the policy of one program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from agent.sandbox.configuration.path_lists import PathLists
from agent.sandbox.denied_files import denied_files
from agent.sandbox.git.git_program import PROGRAM_DIRECTORIES
from agent.sandbox.package_caches import PackageCaches, private_caches, shared_caches
from agent.sandbox.policy import OVERLAID, Network, SandboxPolicy, deepest
from agent.sandbox.protected.daemon_sockets import daemon_sockets, harmless_sockets
from agent.sandbox.protected.home_names import home_names
from agent.sandbox.protected.protected_mounts import common_directory, pins_around, protected_mounts
from agent.sandbox.protected.protected_names import NameSearch
from permissions.base.files.plain_file import is_lone_file
from permissions.base.process.neutral_git import with_git_values
from permissions.confinement import Confinement
from permissions.context import PermissionContext
from permissions.paths.credential_paths import credential_paths
from permissions.paths.own_program import own_program
from permissions.paths.resolve import beginnings, is_below

CONTENT: Final = ("agents", "bin", "commands", "hooks", "plugins", "rules", "scripts", "skills")
"""Names in the agent's own directory whose content allowed commands may read and run."""


class PolicyError(Exception):
    """No policy can be enforced here; the message gives the reason."""


class PolicyRequest(Struct, frozen=True, kw_only=True):
    """The inputs of `build_policy`."""

    confinement: Confinement
    context: PermissionContext
    """Working directories, deny rules, home; its `scratch_dir` is the temporary directory."""
    cwd: Path
    env: Mapping[str, str]
    """The program's environment. Projects and servers add to it, so it grants no access."""
    user_env: Mapping[str, str]
    """The user's own environment; locates caches, programs, daemons and agents."""
    write_dirs: tuple[str, ...] = ()
    """Directories that the user opened for this one call."""
    visible: tuple[str, ...] = ()
    """Paths outside the working directories that a rule lets it read."""
    word_paths: tuple[str, ...] = ()
    """The same, named by words of the command. If one is a directory below `/tmp` or `/run`, Unix
    sockets are blocked: it may hold sockets of any of the user's programs."""
    masks_denied: bool = True
    """Whether files that deny rules match are masked, which requires a search of the directories.
    False for the program's own helpers, whose output is subject to the rules anyway."""
    opens_written: bool = False
    """Whether the files that hooks only write (`PermissionContext.written_files`) are writable."""
    network: Network = Network.OFF
    """Applies to `project` only; the other confinements determine their own."""
    settings_lists: PathLists = field(default_factory=PathLists)
    """Paths that the settings add."""
    unix_sockets: bool = False
    """Whether the user allows all Unix sockets."""
    sockets: tuple[str, ...] = ()
    """Unix sockets that the user allows by path."""
    can_mount: bool
    """Whether a directory of the session can be mounted in the place of another one."""
    search: NameSearch = field(default_factory=NameSearch)
    """Finds protected names; reuse it to keep its cache."""


def _open_names(request: PolicyRequest, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that hooks only write, and that the program may create or, where it is a
    hook, write. Not those that are anything else than a plain file."""
    return tuple(
        path
        for path in sorted(request.context.written_files)
        if any(is_below(path, root) for root in roots)
        and (request.opens_written or not os.path.lexists(path))
        and is_lone_file(path)
    )


def build_policy(request: PolicyRequest) -> SandboxPolicy:
    """Return the policy for one program.

    Raises:
        PolicyError: the working directory is the root of the file system, or there is no temporary
            directory.
        TooManyFiles: deny rules cannot be compared with every file.
    """
    context = request.context
    if context.scratch_dir is None:
        raise PolicyError("the session has no temporary directory")
    temp_dir = os.path.realpath(context.scratch_dir)
    scope = _canonical((context.launch_dir, *context.additional_dirs, *request.write_dirs))
    lists = request.settings_lists
    if _may_write(request) and "/" in (*scope, *_canonical(lists.allow_write)):
        raise PolicyError("the working directory is /, which cannot be opened for writing alone")
    is_shared = request.confinement is Confinement.PROJECT_FILES
    roots = _canonical((*scope, *lists.allow_write)) if _may_write(request) else ()
    caches = _caches(request, temp_dir)
    opens_all = request.unix_sockets and _may_write(request)
    cwd = os.path.realpath(request.cwd)
    own = _own(context)
    credentials = (*credential_paths(context.home), *own)
    readable = _canonical((*lists.allow_read, *request.visible, *request.word_paths))
    secret = tuple([path for path in (own if is_shared else credentials) if path not in readable])
    by_rules = denied_files(context, scope) if request.masks_denied else ()
    denied_paths = (*_canonical(lists.deny_read), *by_rules)
    own_names = home_names(context.home, roots, caches.directories)
    read_only = (
        *credentials,
        *own_names.read_only,
        *_canonical(lists.deny_write),
        *denied_files(context, roots, "Edit"),
    )
    daemons = (
        ()
        if opens_all or not is_shared
        else daemon_sockets(context.home, request.user_env, request.sockets, roots)
    )
    names_by_root = {root: request.search.find(root, cwd) for root in roots}
    names = {root: one.names for root, one in names_by_root.items()}
    open_names = _open_names(request, roots)
    files = context.protected_files.difference(open_names)
    mounts = protected_mounts(roots, cwd, files, names=names)
    writable = (*roots, *caches.directories, *caches.session_directories)
    read_only = (*read_only, *own_program(writable), *caches.read_only)
    all_read_only = _unique((*mounts.read_only, *_inside(read_only, writable)))
    return SandboxPolicy(
        confinement=request.confinement,
        cwd=cwd,
        temp_dir=temp_dir,
        write_roots=_unique((*roots, *mounts.writable)),
        caches=caches.directories,
        session_directories=caches.session_directories,
        pinned_directories=_outside(
            (*mounts.pinned_directories, *pins_around(writable, (*denied_paths, *read_only))),
            all_read_only,
        ),
        read_only=all_read_only,
        repositories=_unique(mounts.repositories),
        missing_directories=_unique(mounts.missing_directories),
        watched_names=_unique(
            (*mounts.watched_names, *own_names.missing, *_missing(lists.deny_write, roots))
        ),
        watched_links=open_names,
        found_names=names_by_root,
        links=tuple(dict.fromkeys((*mounts.links, *own_names.links))),
        contents=tuple(mounts.contents),
        secret=secret,
        denied_paths=_unique(denied_paths),
        visible=_visible(
            request, scope, (*secret, *daemons), (*writable, temp_dir), denied_paths, cwd
        ),
        network=_network(request),
        unix_sockets=(is_shared and not _opens_shared_directory(request.word_paths, scope))
        or (opens_all and (is_shared or context.sandbox.runs_inside)),
        hides_abstract_sockets=is_shared and not opens_all,
        daemons=daemons,
        env=_environment(request, temp_dir, caches),
    )


def _opens_shared_directory(paths: Iterable[str], scope: tuple[str, ...]) -> bool:
    """Return whether one of the paths is a directory in which other programs of the user may
    listen."""
    directories = filter(os.path.isdir, map(os.path.realpath, paths))
    return any(
        f"{path}/".startswith(beginnings(OVERLAID)) and not f"{path}/".startswith(beginnings(scope))
        for path in directories
    )


def _caches(request: PolicyRequest, temp_dir: str) -> PackageCaches:
    if request.confinement is not Confinement.PROJECT_FILES:
        return private_caches(temp_dir)
    home, env = request.context.home, request.user_env
    return shared_caches(home, env, temp_dir, can_mount=request.can_mount)


def _may_write(request: PolicyRequest) -> bool:
    return request.confinement is not Confinement.READ_ONLY


def _network(request: PolicyRequest) -> Network:
    if request.confinement is Confinement.PROJECT_FILES:
        return Network.HOST
    return request.network if _may_write(request) else Network.OFF


def _environment(request: PolicyRequest, temp_dir: str, caches: PackageCaches) -> dict[str, str]:
    ours = {"TMPDIR": temp_dir, "AGENT_TUI_SANDBOX": "1", "SANDBOX_RUNTIME": "1", **caches.env}
    if not _may_write(request):
        return ours
    # A confined git cannot write the repository's configuration, so a checkout must not fail while
    # it records the upstream branch.
    git_env = with_git_values(request.env, [("branch.autoSetupMerge", "false")])
    git = {name: value for name, value in git_env.items() if name.startswith("GIT_CONFIG_")}
    return {**git, **ours}


def _visible(
    request: PolicyRequest,
    scope: tuple[str, ...],
    masked_dirs: tuple[str, ...],
    writable: tuple[str, ...],
    denied_paths: tuple[str, ...],
    cwd: str,
) -> tuple[str, ...]:
    """Return the paths to mount again because a parent is masked or replaced.

    What is in a directory that may be written is there already, and must stay writable.
    """
    context = request.context
    paths: list[str | Path] = [
        *scope,
        cwd,
        context.home,
        *_repository(context.project_root),
        *context.readable_dirs,
        *request.visible,
        *request.word_paths,
        *request.settings_lists.allow_read,
        *_program_directories(request.user_env),
        *(PROGRAM_DIRECTORIES if _may_write(request) else ()),
    ]
    if request.confinement is Confinement.PROJECT_FILES:
        paths.append(request.user_env.get("SSH_AUTH_SOCK", ""))
        paths += harmless_sockets(request.user_env, request.sockets)
        paths += [os.path.join(one, name) for one in _own(context) for name in CONTENT]
    paths = [one for one in paths if str(one)]
    hiding = (*OVERLAID, *masked_dirs)
    hidden_paths = [
        path
        for path in _inside(_canonical(paths), hiding)
        if deepest(path, hiding) > deepest(path, writable)
    ]
    masked_prefixes = beginnings(denied_paths)
    return tuple([path for path in hidden_paths if not f"{path}/".startswith(masked_prefixes)])


def _repository(root: Path) -> tuple[str, ...]:
    """Return the root, and the common git directory if the root is a linked work tree."""
    common = common_directory(str(root / ".git"))
    return (str(root),) if common is None else (str(root), common)


def _program_directories(env: Mapping[str, str]) -> list[str]:
    """Return the directories of `PATH`; for a `bin` directory its parent, which holds libraries
    too."""
    directories: list[str] = []
    for entry in env.get("PATH", "").split(":"):
        if not entry.startswith("/"):
            continue
        parent = os.path.dirname(entry.rstrip("/"))
        is_bin = os.path.basename(entry.rstrip("/")) in ("bin", "sbin")
        directories.append(parent if is_bin and parent not in ("/", *OVERLAID) else entry)
    return directories


def _own(context: PermissionContext) -> tuple[str, ...]:
    """Return the agent's own directories: settings, trust, transcripts, and the pipes and tokens by
    which the user answers questions; no confined program may reach them."""
    return _canonical((context.home / ".agent", *context.own_dirs))


def _canonical(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """Return the paths that exist, links resolved, each once."""
    return tuple(filter(os.path.exists, dict.fromkeys(map(os.path.realpath, paths))))


def _missing(paths: Iterable[str], roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths below `roots` that do not exist."""
    real_paths = (os.path.realpath(path) for path in paths if not os.path.lexists(path))
    return _inside(real_paths, roots)


def _inside(paths: Iterable[str], roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths that are strictly below one of the directories."""
    above = beginnings(roots)
    return tuple([path for path in paths if path != "/" and path.startswith(above)])


def _outside(paths: Iterable[str], directories: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths that are not below one of the directories, without duplicates: a writable
    mount there would override the read-only one."""
    inside = beginnings(directories)
    return tuple(
        path for path in dict.fromkeys(paths) if not f"{os.path.dirname(path)}/".startswith(inside)
    )


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
