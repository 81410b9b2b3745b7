"""The facts about a simple command that depend on its words alone, not on its position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import Access, AccessKind
from permissions.shell.command_facts import CommandFacts, Plain
from permissions.shell.effects.file_accesses import accesses
from permissions.shell.effects.named_paths import open_values
from permissions.shell.effects.read_only import is_edit, is_read_only
from permissions.shell.effects.risks import risk_of
from permissions.shell.flow.no_effect import is_inert, sets_plain_name
from permissions.shell.flow.working_directories import Directories
from permissions.shell.parse.assignments import is_safe_assignment
from permissions.shell.programs.registry import program_named
from permissions.shell.programs.shell_builtins import GIT_PLACES
from permissions.shell.rule_spellings import EXPANDED, allow_forms, deny_forms, form_of
from permissions.shell.syntax import FOUND, GLOB_MARKS, Simple, Word
from permissions.shell.wrappers.command_options import option_commands, started_by_variables
from permissions.shell.wrappers.layers import Layer
from permissions.shell.wrappers.unwrap import Unwrapped, unwrap

_GLOBS = tuple(GLOB_MARKS.values())


def texts_started(simple: Simple, unwrapping: Unwrapped) -> Iterator[str]:
    """Yield the commands that options and variables start."""
    yield from started_by_variables(simple)
    for layer in unwrapping.layers:
        if layer.words and not layer.is_elsewhere:
            yield from option_commands(layer.program, layer.words[1:])


def own_facts(
    simple: Simple, unwrapping: Unwrapped, unknown_reason: str, inner: tuple[CommandFacts, ...]
) -> CommandFacts:
    """Return the facts except for those that depend on the place: directories, redirections and
    time."""
    unsafe = [
        item.name for item in simple.assignments if not is_safe_assignment(item.name, item.value)
    ]
    layers = [layer for layer in unwrapping.layers if layer.words]
    forms = [form_of(layer.words) for layer in layers]
    clean = not (unsafe or unknown_reason or inner) and _is_seen_through(layers)
    spellings = _loop_spellings(layers)
    own = _strictest([_programs(one, clean=clean) for one in spellings])
    return CommandFacts(
        text=simple.raw or " ".join(redirect.raw for redirect in simple.redirects),
        directories=_NOWHERE,
        allow_forms=allow_forms(simple, layers, forms, unsafe),
        deny_forms=deny_forms(simple, layers, forms),
        has_literal_program=all(layer.words[0].is_literal for layer in layers),
        unknown_reason=unknown_reason,
        risk=own.risk,
        accesses=(*chain.from_iterable(map(_accesses, spellings)), *_variables(simple)),
        inner=inner,
        redirects=(),
        is_read_only=own.is_read_only,
        is_edit=own.is_edit,
        is_inert=_is_inert(simple, layers, clean=clean)
        if layers
        else _only_sets(simple, unknown_reason),
        looked_through=_looked_through(layers, simple),
        when_plain=_when_plain(layers, clean=clean),
        stage=0,
        is_late=False,
        open_values=tuple(chain.from_iterable(map(_open_values, layers))),
        runs_configured=any(program_named(layer.program).runs_configured for layer in layers),
    )


def _open_values(layer: Layer) -> list[Word]:
    return [] if layer.is_elsewhere else open_values(layer.program, layer.words[1:])


def _is_seen_through(layers: list[Layer]) -> bool:
    """Whether an allow rule may cover all of it; what find runs is analyzed with it."""
    is_one = len(layers) == 1 or _is_search(layers)
    return bool(layers) and (is_one or all(layer.is_open_to_allow for layer in layers))


def _is_inert(simple: Simple, layers: list[Layer], *, clean: bool) -> bool:
    words = layers[0].words
    is_alone = clean and len(layers) == 1 and not simple.assignments and words[0].is_literal
    return is_alone and is_inert(words[0].text, words[1:])


def _only_sets(simple: Simple, unknown_reason: str) -> bool:
    return not unknown_reason and sets_plain_name(simple)


def _when_plain(layers: list[Layer], *, clean: bool) -> Plain | None:
    """Return the facts if patterns expand to no options; None if no word begins with a pattern."""
    if not any(_begins_open(word) for layer in layers for word in layer.words):
        return None
    plain_layers = [replace(layer, words=tuple(map(_below_here, layer.words))) for layer in layers]
    return _programs(plain_layers, clean=clean)


_NOWHERE: Directories = frozenset()
_MAX_SPELLED = 20
"""Maximum number of words of a loop's list that are substituted one by one."""
_PLAIN_NAME = compile_late(r"[\w./][\w./-]*", re.ASCII)
"""A name that every program here takes for a file, never for an option or an assignment."""


def _loop_spellings(layers: list[Layer]) -> list[list[Layer]]:
    """Return the command once for each word that a loop substitutes, if that is certain.

    Only file commands that edit mode may allow are expanded: others give bare words special
    meanings (`tar cf`, `dd of=`).
    """
    words = layers[0].words if len(layers) == 1 else ()
    lists = {word.raw: word.choices for word in words if word.choices}
    if len(lists) != 1 or not program_named(words[0].text).edits:
        return [layers]
    choices = next(iter(lists.values()))
    if len(choices) > _MAX_SPELLED or not all(map(_PLAIN_NAME.fullmatch, choices)):
        return [layers]
    return [[replace(layers[0], words=_chosen(words, choice))] for choice in choices]


def _chosen(words: tuple[Word, ...], choice: str) -> tuple[Word, ...]:
    return tuple(Word(word.raw, choice) if word.choices else word for word in words)


def _strictest(readings: list[Plain]) -> Plain:
    """Return what is true of every spelling."""
    if len(readings) == 1:
        return readings[0]
    return Plain(
        next((one.risk for one in readings if one.risk), ""),
        is_read_only=all(one.is_read_only for one in readings),
        is_edit=all(one.is_edit for one in readings),
    )


def _programs(layers: list[Layer], *, clean: bool) -> Plain:
    """Return what the programs themselves may do; `clean` if nothing else makes it uncertain."""
    risk = ""
    for layer in layers:
        risk = risk or risk_of(layer.program, layer.words[1:])
    last = layers[0] if _is_search(layers) else layers[-1] if layers else None
    if not clean or last is None or not last.words[0].is_literal:
        return Plain(risk, is_read_only=False, is_edit=False)
    program, arguments = last.words[0].text, last.words[1:]
    return Plain(risk, is_read_only(program, arguments), is_edit(program, arguments, risk))


def _is_search(layers: list[Layer]) -> bool:
    return bool(layers) and layers[0].words[0].text == "find"


def _begins_open(word: Word) -> bool:
    return not word.text.isascii() and word.text.startswith(_GLOBS)


def _below_here(word: Word) -> Word:
    return Word(word.raw, f"./{word.text}") if _begins_open(word) else word


def _accesses(layers: list[Layer]) -> tuple[Access, ...]:
    results: list[Access] = []
    for layer in layers:
        if layer.is_elsewhere:
            continue
        if not layer.words[0].is_literal:
            results.extend(_accesses(_likely_layers(layer)))
            continue
        results.extend(
            replace(access, path=_rebase(access.path, layer.directory))
            if layer.directory
            else access
            for access in accesses(layer.program, layer.words[1:])
            if access.path is not FOUND
        )
        builds = program_named(layer.words[0].text).builds
        if layer.directory and UNKNOWN not in layer.directory and builds:
            results.append(Access(AccessKind.PLACE, Word(layer.directory, layer.directory)))
    return tuple(results)


def _likely_layers(layer: Layer) -> list[Layer]:
    """Return the layers of the command if the unknown part of its program is empty."""
    likely = _likely(layer.words)
    if not likely or not likely[0].is_literal:
        return []
    layers = [one for one in unwrap(likely).layers if one.words]
    return [replace(one, directory=UNKNOWN) for one in layers] if layer.directory else layers


def _variables(simple: Simple) -> Iterator[Access]:
    """Yield the directories that variables set for git."""
    for item in simple.assignments:
        if item.name in GIT_PLACES:
            yield Access(AccessKind.PLACE, item.value)


def _rebase(path: Word, directory: str) -> Word:
    """Return a path relative to the shell's directory."""
    if path.text.startswith("/"):
        return path
    text = UNKNOWN if UNKNOWN in directory else f"{directory}/{path.text}"
    return Word(path.raw, text, path.splits, path.scripts)


def _likely(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command if the unknown part of its program is empty: `$SUDO touch x`.

    It can only make the answer stricter: the program still counts as unknown.
    """
    while words and not words[0].text.strip(EXPANDED):
        words = words[1:]
    if not words:
        return ()
    first = words[0]
    return (Word(first.raw, first.text.strip(EXPANDED + "".join(GLOB_MARKS.values()))), *words[1:])


def _looked_through(layers: list[Layer], simple: Simple) -> str:
    if len(layers) < 2 and not simple.assignments:
        return ""
    pieces = [item.raw for item in simple.assignments if simple.words]
    pieces.extend(layer.words[0].plain for layer in layers[:-1])
    return " ".join(pieces)
