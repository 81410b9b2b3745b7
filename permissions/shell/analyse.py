"""Everything that rules and scope need to know about a command, worked out from its text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from permissions.glob_text import UNKNOWN
from permissions.record import record
from permissions.shell.access import Access, AccessKind
from permissions.shell.accesses import GIT_PLACES, accesses
from permissions.shell.assignments import is_safe_assignment
from permissions.shell.database_shells import input_risk
from permissions.shell.edits import is_edit
from permissions.shell.find_command import FOUND
from permissions.shell.flow import UNKNOWN_FOLDER, Folders, Placed, place
from permissions.shell.forms import EXPANDED, Form, allow_forms, deny_forms, form_of
from permissions.shell.inert import is_inert, sets_plain_name
from permissions.shell.option_texts import started, started_by_variables
from permissions.shell.parse import SHORT_CHARACTERS, parse
from permissions.shell.plain_command import plain_words
from permissions.shell.read_only import is_read_only
from permissions.shell.redefinitions import Surroundings
from permissions.shell.risky_options import risk_of
from permissions.shell.shell_texts import all_texts, input_text, is_printed
from permissions.shell.syntax import (
    GLOB_MARKS,
    HOME_MARK,
    PWD_MARK,
    Redirect,
    Script,
    Simple,
    Unparsable,
    Word,
)
from permissions.shell.unwrap import Layer, Unwrapped, program_of, supplied_texts, unwrap

MAX_PARTS = 2_000
"""Simple commands, nested ones included; more make the command unparsable."""
_MAX_NESTING = 6


_GLOBS = tuple(GLOB_MARKS.values())


@record(frozen=True, slots=True)
class Plain:
    """Facts about a command whose patterns, such as `*.py`, surely give no options."""

    risk: str
    is_read_only: bool
    is_edit: bool


@record(frozen=True, slots=True)
class CommandFacts:
    """One simple command, seen through its wrappers."""

    text: str
    """As written, for people."""
    folders: Folders
    allow_forms: tuple[Form, ...]
    """Spellings that an allow rule may match."""
    deny_forms: tuple[Form, ...]
    """Spellings that deny and ask rules match."""
    has_literal_program: bool
    hidden: str
    """Why something that would run is out of sight; empty when nothing is."""
    risk: str
    """Why a wildcard rule does not cover it; empty when one may."""
    accesses: tuple[Access, ...]
    inner: tuple[CommandFacts, ...]
    """Commands in texts that it hands to a shell."""
    redirects: tuple[Redirect, ...]
    is_read_only: bool
    is_edit: bool
    is_inert: bool
    """Does nothing that needs permission: `cd`, `true`."""
    looked_through: str
    """Wrappers and assignments, for people; may be empty."""
    when_plain: Plain | None
    """What changes if no file in its folders has a name that begins with a dash."""
    stage: int
    is_late: bool
    """When it runs, as `Placed` says it; inside a text that a shell runs, counted from there."""
    repeats: bool = False
    """Stands in a loop."""


def analyse(command: str, folder: str, home: str) -> tuple[CommandFacts, ...] | Unparsable:
    """Return the facts about every simple command in source order, or why there are none.

    Args:
        folder: Where the shell is, absolute.
        home: What `~` and `$HOME` mean.
    """
    is_short = len(command) <= SHORT_CHARACTERS
    return (_analysed if is_short else _analysed_long)(command, folder, home)


def _worked_out(command: str, folder: str, home: str) -> tuple[CommandFacts, ...] | Unparsable:
    script = parse(command)
    if isinstance(script, Unparsable):
        return script
    try:
        return tuple(_facts_of(script, folder, home, 0))
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


_analysed = lru_cache(maxsize=512)(_worked_out)
_analysed_long = lru_cache(maxsize=4)(_worked_out)


def _facts_of(
    script: Script, folder: str, home: str, depth: int, outer: Surroundings | None = None
) -> list[CommandFacts]:
    around = Surroundings(script, outer)
    placed = place(script, folder, home)
    if len(placed) > MAX_PARTS:
        raise Unparsable("the command has too many parts")
    if script.hides and not placed:
        raise Unparsable(script.hides)
    found = [_facts(one, around, home, depth) for one in placed]
    if depth == 0 and (len(found) > 1 or (found and "$" in script.raw)):
        # Deny and ask rules may spell out a whole compound, as in `curl * | sh`, or a variable.
        whole = " ".join(script.raw.split())
        extra = Form(found[0].deny_forms[0].head if found[0].deny_forms else "", "", whole)
        first = replace(found[0], deny_forms=(*found[0].deny_forms, extra))
        return [first, *found[1:]]
    return found


def _facts(placed: Placed, around: Surroundings, home: str, depth: int) -> CommandFacts:
    script = around.script
    simple, folders = placed.simple, placed.folders
    is_alone = placed.piped is None and not simple.redirects
    is_kept = len(simple.raw) <= _KEPT_CHARACTERS and (
        is_alone or not _HEEDS_INPUT.search(simple.raw)
    )
    if simple.is_plain and not script.hides and is_kept:
        known = _plain_facts(simple.raw)
        if known is not None:
            return _placed(known, placed, script, home)
    words = simple.words
    if not (simple.is_plain or all(word.text.isascii() for word in words)):
        folder = _only(folders)
        words = tuple(_known(word, script, home, folder) for word in words)
    unwrapped = unwrap(words)
    hidden = script.hides or unwrapped.hidden
    inner: list[CommandFacts] = []
    supplied = supplied_texts(unwrapped.layers, input_text(simple.redirects, placed.piped))
    texts, elsewhere, reader = unwrapped.scripts, unwrapped.scripts_elsewhere, unwrapped.reader
    is_read_ahead = unwrapped.scripts and any(map(is_printed, words))
    if reader is not None:
        given = input_text(simple.redirects, placed.piped)
        is_read_ahead = is_read_ahead or (given is not None and placed.piped is not None)
        # Of several documents, the one that counts may be chosen by number.
        texts = (*texts, *(reader.script(one) for one in all_texts(simple.redirects)))
        if given is not None and reader.is_elsewhere:
            elsewhere = (*elsewhere, given)
        elif given is not None:
            texts = (*texts, reader.script(given))
        elif not reader.is_elsewhere:
            hidden = hidden or f"{reader.name} reads commands from its input"
    if is_read_ahead and around.redefine:
        hidden = hidden or "what a command prints that may be another than its name says"
    texts = (*texts, *supplied)
    for text in (*texts, *elsewhere):
        if depth >= _MAX_NESTING:
            hidden = hidden or "nested too deeply"
            break
        nested = parse(text)
        if isinstance(nested, Unparsable) and text in texts and not unwrapped.hidden:
            raise Unparsable(f"a text that a shell runs: {nested}")
        if isinstance(nested, Unparsable):
            hidden = hidden or f"a text that a shell runs: {nested}"
            continue
        commands = _nested(nested, folders, home, depth + 1, around)
        inner.extend(commands if text in texts else map(_elsewhere, commands))
    if depth < _MAX_NESTING:
        inner.extend(_started(simple, unwrapped, folders, home, depth + 1))
    facts = _facts_of_words(simple, unwrapped, hidden, tuple(inner))
    if not is_alone and _HEEDS_INPUT.search(simple.raw):
        told = input_risk(unwrapped.layers[-1].words, input_text(simple.redirects, placed.piped))
        facts = replace(facts, risk=told or facts.risk)
    return _placed(facts, placed, script, home)


_HEEDS_INPUT = re.compile(r"xargs|sqlite3|psql|mysql|mariadb")
"""Programs whose input says what they run."""


def _started(
    simple: Simple, unwrapped: Unwrapped, folders: Folders, home: str, depth: int
) -> Iterator[CommandFacts]:
    """Yield the commands that options and variables start; what is no command is passed over."""
    texts = [*started_by_variables(simple)]
    for layer in unwrapped.layers:
        if layer.words and not layer.is_elsewhere:
            texts.extend(started(program_of(layer.words[0]), layer.words[1:]))
    for text in texts:
        script = parse(text)
        if isinstance(script, Unparsable):
            continue
        try:
            yield from _nested(script, folders, home, depth)
        except Unparsable:
            continue


@lru_cache(maxsize=2048)
def _plain_facts(raw: str) -> CommandFacts | None:
    """Return what a plain command is anywhere; None when it hands texts to a shell."""
    words = tuple(plain_words(raw))
    unwrapped = unwrap(words)
    if unwrapped != Unwrapped(unwrapped.layers, (), (), "", None):
        return None
    if any(
        layer.words and any(started(program_of(layer.words[0]), layer.words[1:]))
        for layer in unwrapped.layers
    ):
        return None
    return _facts_of_words(Simple(raw, (), words, (), is_plain=True), unwrapped, "", ())


_KEPT_CHARACTERS = 200
"""Longer commands are worked out anew each time, so that what is remembered stays small."""


def _facts_of_words(
    simple: Simple, unwrapped: Unwrapped, hidden: str, inner: tuple[CommandFacts, ...]
) -> CommandFacts:
    """Return the facts but for what depends on the place: folders, redirections and time."""
    unsafe = [
        item.name for item in simple.assignments if not is_safe_assignment(item.name, item.value)
    ]
    layers = [layer for layer in unwrapped.layers if layer.words]
    forms = [form_of(layer.words) for layer in layers]
    # What find runs is looked at with it.
    is_plain = (
        len(layers) == 1 or _is_search(layers) or all(layer.is_open_to_allow for layer in layers)
    )
    clean = is_plain and not unsafe and not hidden and not inner and bool(layers)
    last_words = layers[-1].words if layers else ()
    program = last_words[0].text if last_words and last_words[0].is_literal else ""
    arguments = last_words[1:]
    own = _own_facts(layers, clean=clean)
    when_plain = None
    if not simple.is_plain and any(_begins_open(word) for layer in layers for word in layer.words):
        below = [replace(layer, words=tuple(map(_below_here, layer.words))) for layer in layers]
        when_plain = _own_facts(below, clean=clean)
    return CommandFacts(
        text=simple.raw or " ".join(redirect.raw for redirect in simple.redirects),
        folders=_NOWHERE,
        allow_forms=allow_forms(simple, layers, forms, unsafe),
        deny_forms=deny_forms(simple, layers, forms),
        has_literal_program=all(layer.words[0].is_literal for layer in layers),
        hidden=hidden,
        risk=own.risk,
        accesses=(*_accesses(layers), *_variables(simple)),
        inner=inner,
        redirects=(),
        is_read_only=own.is_read_only,
        is_edit=own.is_edit,
        is_inert=(
            clean and not simple.assignments and len(layers) == 1 and is_inert(program, arguments)
            if layers
            else not hidden and sets_plain_name(simple)
        ),
        looked_through=_looked_through(layers, simple),
        when_plain=when_plain,
        stage=0,
        is_late=False,
    )


_NOWHERE: Folders = frozenset()


def _own_facts(layers: list[Layer], *, clean: bool) -> Plain:
    """Return what the programs themselves may do; `clean` says that nothing else is in the way."""
    risk = ""
    for layer in layers:
        risk = risk or risk_of(program_of(layer.words[0]), layer.words[1:])
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


def _only(folders: Folders) -> str | None:
    """Return the folder when it is known which one it is."""
    if len(folders) != 1 or UNKNOWN_FOLDER in folders:
        return None
    return next(iter(folders))


def _placed(facts: CommandFacts, placed: Placed, script: Script, home: str) -> CommandFacts:
    # Written out, as `replace` would cost as much as all the rest.
    return CommandFacts(
        text=facts.text,
        folders=placed.folders,
        allow_forms=facts.allow_forms,
        deny_forms=facts.deny_forms,
        has_literal_program=facts.has_literal_program,
        hidden=facts.hidden,
        risk=facts.risk,
        accesses=facts.accesses,
        inner=facts.inner,
        redirects=_redirects(placed, script, home),
        is_read_only=facts.is_read_only,
        is_edit=facts.is_edit,
        is_inert=facts.is_inert,
        looked_through=facts.looked_through,
        when_plain=facts.when_plain,
        stage=placed.stage,
        is_late=placed.is_late,
        repeats=placed.repeats,
    )


def _redirects(placed: Placed, script: Script, home: str) -> tuple[Redirect, ...]:
    if not placed.simple.redirects:
        return ()
    folder = _only(placed.folders)
    return tuple(
        Redirect(
            item.raw,
            item.kind,
            None if item.target is None else _known(item.target, script, home, folder),
        )
        for item in placed.simple.redirects
    )


def _nested(
    script: Script, folders: Folders, home: str, depth: int, around: Surroundings | None = None
) -> list[CommandFacts]:
    places = sorted(folders)
    return [fact for one in places for fact in _facts_of(script, one, home, depth, around)]


def _elsewhere(facts: CommandFacts) -> CommandFacts:
    """Return what rules about commands still see of one that runs on another machine."""
    inner = tuple(_elsewhere(one) for one in facts.inner)
    return replace(facts, accesses=(), redirects=(), inner=inner)


def _known(word: Word, script: Script, home: str, folder: str | None) -> Word:
    """Put the values of HOME and PWD in, as far as they are known."""
    text = word.text
    if text.isascii() or (HOME_MARK not in text and PWD_MARK not in text):
        return word
    splits = word.splits
    if script.taints_variables:
        guess = text.replace(HOME_MARK, home).replace(PWD_MARK, folder or UNKNOWN)
        hidden = text.replace(HOME_MARK, UNKNOWN).replace(PWD_MARK, UNKNOWN)
        return Word(word.raw, hidden, True, word.scripts, guess)
    if folder is None and PWD_MARK in text:
        text, splits = text.replace(PWD_MARK, UNKNOWN), True
    text = text.replace(HOME_MARK, home).replace(PWD_MARK, folder or "")
    return Word(word.raw, text, splits, word.scripts)


def _accesses(layers: list[Layer]) -> tuple[Access, ...]:
    found: list[Access] = []
    for layer in layers:
        if layer.is_elsewhere:
            continue
        if not layer.words[0].is_literal:
            likely = _likely(layer.words)
            if likely and likely[0].is_literal:
                inner = [
                    replace(one, folder=UNKNOWN if layer.folder else one.folder)
                    for one in unwrap(likely).layers
                    if one.words
                ]
                found.extend(_accesses(inner))
            continue
        found.extend(
            replace(access, path=_moved(access.path, layer.folder)) if layer.folder else access
            for access in accesses(program_of(layer.words[0]), layer.words[1:])
            if access.path is not FOUND
        )
    return tuple(found)


def _variables(simple: Simple) -> Iterator[Access]:
    """Yield the places to which variables move git."""
    for item in simple.assignments:
        if item.name in GIT_PLACES:
            yield Access(AccessKind.PLACE, item.value)


def _moved(path: Word, folder: str) -> Word:
    """Return a path as the shell's folder sees it."""
    if path.text.startswith("/"):
        return path
    text = UNKNOWN if UNKNOWN in folder else f"{folder}/{path.text}"
    return Word(path.raw, text, path.splits, path.scripts)


def _likely(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command if what is unknown of its program is nothing: `$SUDO touch x`.

    It can only make the answer stricter: the program counts as unknown all the same.
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
