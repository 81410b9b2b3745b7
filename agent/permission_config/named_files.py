"""The files of a project that a hook, a status line, a server in force or a repository names.

The user accepted the command line, not future contents of the file, so that changes to it must be
confirmed like changes to settings.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from agent.settings.git_config import repository_entries
from agent.settings.load import Settings
from agent.settings.project_items import handlers
from permissions.base.text.late_pattern import compile_late
from permissions.paths.own_program import own_program
from permissions.paths.resolve import is_below
from permissions.rule import RuleSource

_OF_PROJECTS: Final = frozenset({RuleSource.PROJECT, RuleSource.LOCAL})
_PROJECT: Final = compile_late(r"\$\{?(?:CLAUDE|AGENT_TUI)_PROJECT_DIR\}?")
_HOME: Final = compile_late(r"\$\{?HOME\}?(?=/)|^~(?=/)")
_PUNCTUATION: Final = compile_late(r"""[\s'"`;|&<>(){}]+""")
_REDIRECTIONS: Final = frozenset({">", ">>", ">|", "&>", "&>>"})
_PLAIN_TARGET: Final = compile_late(r"(?:\$\{?\w+\}?(?=/))?[\w./+@-]+")
_LOOKS_LIKE_A_FILE: Final = compile_late(r"(?!-)(?=.*/|.*\.\w+\Z)[\w./+@-]+")


def protected_files(settings: Settings) -> frozenset[str]:
    """Return the named files, and the directories of this program where it is in the project."""
    return named_files(settings).union(own_program((settings.launch_dir, settings.project_root)))


def named_files(settings: Settings) -> frozenset[str]:
    """Return absolute paths, as written and with links resolved.

    Files anywhere are included: any directory may become a working directory. A file of the project
    that does not exist yet is included if the word looks like a path: the one who creates it
    decides what runs. So is the directory of a Python script that runs as the user: Python searches
    it first for every module.
    """
    paths: set[str] = set()
    own_dirs = [os.path.realpath(one) for one in (settings.launch_dir, settings.home)]
    for command, runs_as_user in _commands(settings):
        files = set(_files(command, settings))
        paths |= files
        scripts = [path for path in files if path.endswith(".py") and os.path.isfile(path)]
        directories = map(os.path.dirname, scripts if runs_as_user else ())
        paths.update(path for path in directories if not any(is_below(a, path) for a in own_dirs))
    return frozenset(paths.union(_files_of_git(settings)))


def written_files(settings: Settings) -> frozenset[str]:
    """Return the files of `named_files` that hooks only write, by a redirection: they run nothing,
    as long as no link is in their place."""
    root = str(settings.project_root)
    read_paths = set(_files_of_git(settings))
    written_paths: set[str] = set()
    for text in settings.hooks:
        for groups in text.raw.values():
            for _, handler in handlers(groups):
                if isinstance(handler, dict):
                    words, targets = _words_and_targets(handler)
                    read_paths.update(_files(words, settings))
                    written_paths.update(_files(targets, settings))
    for command, _ in _commands(settings, with_hooks=False):
        read_paths.update(_files(command, settings))
    return frozenset(path for path in written_paths - read_paths if _is_inside(path, root))


def _files_of_git(settings: Settings) -> Iterator[str]:
    for file, name, value in repository_entries(settings.trust.items):
        yield from _named_by_git(file.parent, name, value, settings)


def _named_by_git(git: Path, name: str, value: str, settings: Settings) -> Iterator[str]:
    """Yield the files that an entry of the repository's configuration names: hooks, filters,
    includes."""
    root = str(settings.project_root)
    if name == "core.hookspath":
        paths = [os.path.join(root, value)]
    elif name.endswith(".path"):  # `include.path`, relative to the including file
        paths = [os.path.join(git, value)]
    else:
        paths = list(_files(_words(value.removeprefix("!")), settings))
    for path in map(os.path.normpath, paths):
        if _is_inside(path, root):
            yield path
            yield os.path.realpath(path)


def _commands(settings: Settings, *, with_hooks: bool = True) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of each configured command, and whether it runs as the user, that is,
    unconfined even where the sandbox can be enforced."""
    for text in settings.hooks if with_hooks else ():
        is_users = text.source not in _OF_PROJECTS
        for groups in text.raw.values():
            for _, handler in handlers(groups):
                if isinstance(handler, dict):
                    yield _words_of(handler), is_users
    for server in settings.mcp_servers:
        if server.in_force:
            yield _words_of(server.raw), False
    for line in (settings.values.statusLine, settings.values.fileSuggestion):
        if line is not None:
            yield _words(line.command), True


def _words_of(raw: Mapping[str, object]) -> list[str]:
    command, arguments = raw.get("command"), raw.get("args")
    words = _words(command) if isinstance(command, str) else []
    return [*words, *map(str, arguments if isinstance(arguments, list) else ())]


def _words_and_targets(raw: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Return the words of a hook's command without the plain targets of its redirections, and
    these targets."""
    command, arguments = raw.get("command"), raw.get("args")
    tokens = _tokens(command) if isinstance(command, str) and arguments is None else []
    targets = {
        place
        for place in range(1, len(tokens))
        if tokens[place - 1] in _REDIRECTIONS and _PLAIN_TARGET.fullmatch(tokens[place])
    }
    words = [word for place, word in enumerate(tokens) if place not in targets]
    if not tokens:
        words = _words_of(raw)
    parts = (part for word in words for part in _PUNCTUATION.split(word))
    return [*words, *parts], [tokens[place] for place in targets]


def _words(command: str) -> list[str]:
    """Split a shell command into words, and split code in a word, as after `sh -c`, once more."""
    words = _tokens(command)
    return [*words, *(part for word in words for part in _PUNCTUATION.split(word))]


def _tokens(command: str) -> list[str]:
    """Split a shell command into words and operators."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return [command]


def _files(words: list[str], settings: Settings) -> Iterator[str]:
    root = str(settings.project_root)
    names = [part for word in words for part in (word, word.rpartition("=")[2])]
    texts = [name for name in names if name and "\0" not in name]
    names = [_HOME.sub(str(settings.home), _PROJECT.sub(root, text)) for text in texts]
    # The directories that variables stand for may contain any character.
    short_names = [_HOME.sub(".", _PROJECT.sub(".", text)) for text in texts]
    places = [str(settings.launch_dir), root]
    # For `cd scripts && ./check.sh`.
    places += [path for name in names if os.path.isdir(path := os.path.join(root, name))]
    for place in dict.fromkeys(places):
        for name, short_name in zip(names, short_names, strict=True):
            path = os.path.normpath(os.path.join(place, name))
            is_named = os.path.isfile(path) or (
                _LOOKS_LIKE_A_FILE.fullmatch(short_name) is not None and not os.path.exists(path)
            )
            if is_named and (_is_inside(path, root) or os.path.isfile(path)):
                yield path
                yield os.path.realpath(path)


def _is_inside(path: str, root: str) -> bool:
    return Path(path).is_relative_to(root) and path != root
