"""What a call would do, in a few words for users: deletes, writes, network, root.

Shown with the question, never used for a decision: unrecognized effects are not listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.grave_effects import GRAVE_LABELS, grave_effects, secret_file
from permissions.paths.file_view import FileView
from permissions.paths.resolve import is_below
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Scope
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import DELETES, MOVES, CommandFacts
from permissions.shell.effects.connections import connections
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY, Directories
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import RedirectKind, Word
from permissions.tool_names import EDIT_TOOLS, canonical_tool, is_mcp_name

_MAX_NAMES = 3
_URL = compile_late(r"""[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([^\s/:?#"'@]+)""", re.IGNORECASE)
_LOGIN = compile_late(r"[\w.-]+@([A-Za-z][\w.-]*)(?::|$)")


_LETTERS = compile_late(r"[^\W\d_]+")
_POSING = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408"
    "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
"""Cyrillic and Greek letters that look like Latin ones in most fonts."""


def effects_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what the call would do, the gravest first; () when nothing is recognized. Pure.

    Words of its command or path with look-alike letters are listed at the end.
    """
    tool_input = evaluation.request.tool_input
    values = [tool_input.get(key) for key in ("command", "file_path", "path")]
    words = [word for text in values if isinstance(text, str) for word in _posing(text)]
    alike = (f"look-alike letters: {_join_names(words)}",) if words else ()
    return (*_effects_of(evaluation), *alike)


def _posing(text: str) -> list[str]:
    """Return the Latin words that contain look-alike letters of other scripts."""
    if text.isascii():
        return []
    results: list[str] = []
    for word in _LETTERS.findall(text):
        foreign = [letter for letter in word if letter in _POSING]
        if foreign and any(letter.isascii() for letter in word):
            codes = " ".join(f"U+{ord(letter):04X}" for letter in dict.fromkeys(foreign))
            results.append(f"{word} ({codes})")
    return results


def _effects_of(evaluation: Evaluation) -> tuple[str, ...]:
    tool, tool_input = canonical_tool(evaluation.request.tool), evaluation.request.tool_input
    scope = evaluation.view.scope
    if tool == "Bash":
        return _of_commands(evaluation.facts, scope)
    if tool == "Read":
        return secret_file(tool_input.get("file_path"))
    if tool in EDIT_TOOLS:
        path = tool_input.get("file_path", tool_input.get("notebook_path"))
        target = scope.resolve(path, evaluation.view.base) if isinstance(path, str) else None
        if target is None or _is_versioned(target.real, scope):
            return ()
        return (f"writes outside git: {os.path.basename(target.real)}",)
    if tool in ("WebFetch", "WebSearch"):
        url = tool_input.get("url")
        return (f"network: {_name_hosts('', [url])}",) if isinstance(url, str) else ("network",)
    if is_mcp_name(tool):
        return (f"asks the server {tool.split('__')[1]}",)
    return ()


def _of_commands(facts: Iterable[CommandFacts], scope: Scope) -> tuple[str, ...]:
    names_by_label: dict[str, list[str]] = {label: [] for label in _LABELS}
    every = list(_all(facts))
    for label, name in grave_effects(every):
        names_by_label[label].append(name)
    for one in every:
        for label, name in (*_program_effects(one), *_file_effects(one, scope)):
            names_by_label[label].append(name)
    return tuple(
        f"{label} {_join_names(names)}" for label, names in names_by_label.items() if names
    )


_DISCARDS, _AS_ROOT = "discards work:", "as root:"
_OUTSIDE_GIT, _CONNECTS, _WRITES = "outside git:", "network:", "writes"
_LABELS = (*GRAVE_LABELS, DELETES, MOVES, _DISCARDS, _AS_ROOT, _OUTSIDE_GIT, _CONNECTS, _WRITES)
"""The gravest first."""


def _program_effects(facts: CommandFacts) -> Iterator[tuple[str, str]]:
    """Yield what the programs of a command are known to do, each with its label."""
    # A form without words is the text of the whole line.
    for form in (form for form in facts.deny_forms if form.joined_text):
        program, words = form.head.rpartition("/")[2], form.spaced_text.split()
        program_record = program_named(program)
        verb = words[1] if len(words) > 1 else ""
        if program_record.is_root:
            yield _AS_ROOT, program
        options = program_record.discards.get(verb)
        if options is not None and _has_option(options, words[2:]):
            yield _DISCARDS, f"{program} {verb}"
    connection_names = [_name_hosts(program, words) for program, words in connections(facts)]
    for name in _most_specific(connection_names):
        yield _CONNECTS, name


def _has_option(options: str, words: Sequence[str]) -> bool:
    return not options or not set(options.split()).isdisjoint(words)


def _file_effects(facts: CommandFacts, scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the effects on files, each with its label."""
    accesses = [(access.kind, access.path) for access in facts.accesses]
    accesses += [
        (AccessKind.WRITE, item.target)
        for item in facts.redirects
        if item.kind is RedirectKind.WRITE and item.target is not None
    ]
    for kind, word in accesses:
        if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
            yield _CONNECTS, word.raw
        elif kind in (AccessKind.REMOVE, AccessKind.WRITE):
            yield from _change_effects(kind, word, facts.directories, scope, facts.loss_verb)


def _change_effects(
    kind: AccessKind, word: Word, directories: Directories, scope: Scope, loss_label: str
) -> Iterator[tuple[str, str]]:
    if kind is AccessKind.REMOVE:
        yield loss_label, word.raw
    if _is_unversioned(kind, word, directories, scope):
        yield _OUTSIDE_GIT, word.raw
    elif kind is AccessKind.WRITE and resolve_access(scope, kind, word, directories) is not None:
        yield _WRITES, word.raw


def _all(facts: Iterable[CommandFacts]) -> Iterable[CommandFacts]:
    for one in facts:
        yield one
        yield from _all(one.inner)


def _is_unversioned(kind: AccessKind, word: Word, directories: Directories, scope: Scope) -> bool:
    """Whether the word names a file outside every git work tree, which no commit restores."""
    known_directories = directories - {UNKNOWN_DIRECTORY}
    access = resolve_access(scope, kind, word, known_directories) if known_directories else None
    targets = access.targets if access is not None else ()
    return any(not _is_versioned(target.real, scope) for target in targets)


def _is_versioned(path: str, scope: Scope) -> bool:
    """Whether the path is in a git work tree or in the session's temporary directory."""
    if scope.scratch and is_below(path, scope.scratch):
        return True
    directory = path
    while True:
        if _has_git(scope.files, directory):
            return True
        parent = os.path.dirname(directory)
        if parent == directory or not any(
            is_below(parent, root) or is_below(root, parent) for root in scope.roots
        ):
            return False
        directory = parent


def _has_git(files: FileView, directory: str) -> bool:
    # A linked work tree has a file of that name instead of a directory.
    return files.is_dir(f"{directory}/.git") or ".git" in (files.entries(directory) or ())


def _name_hosts(program: str, words: Sequence[str]) -> str:
    """Return a program with the hosts that its words name, as they are looked up."""
    forms = (_URL, _LOGIN) if program_named(program).logs_in else (_URL,)
    results = [match[1] for word in words for form in forms if (match := form.match(word))]
    hosts = ", ".join(dict.fromkeys(_looked_up(host) for host in results))
    return f"{program} to {hosts}".strip() if program and hosts else hosts or program


def _most_specific(connection_names: list[str]) -> list[str]:
    """Leave out a program if another form of the same words names its host."""
    return [
        one
        for one in connection_names
        if not any(two.startswith(f"{one} to ") for two in connection_names)
    ]


def _looked_up(host: str) -> str:
    """Return a host, with its IDNA form if it has letters of other scripts."""
    try:
        return host if host.isascii() else f"{host} ({host.encode('idna').decode()})"
    except UnicodeError:
        return host


def _join_names(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MAX_NAMES} more" if len(distinct) > _MAX_NAMES else ""
    return ", ".join(distinct[:_MAX_NAMES]) + more
