"""Everything that rules and scope need to know about a command, worked out from its text alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from permissions.bash_pattern import WORD_END
from permissions.glob_text import UNKNOWN
from permissions.shell.access import Access
from permissions.shell.accesses import accesses
from permissions.shell.arguments import split_arguments
from permissions.shell.flow import UNKNOWN_FOLDER, Folders, Placed, place
from permissions.shell.parse import parse
from permissions.shell.read_only import is_read_only
from permissions.shell.risky_options import risk_of
from permissions.shell.sed_script import sed_script_risk
from permissions.shell.syntax import (
    GLOB_MARKS,
    HOME_MARK,
    PIPE_MARK,
    PWD_MARK,
    Redirect,
    Script,
    Simple,
    Unparsable,
    Word,
)
from permissions.shell.text_accesses import sed_arguments
from permissions.shell.unwrap import READS_INPUT, Layer, program_of, unwrap

MAX_PARTS = 2_000
"""Simple commands, nested ones included; more make the command unparsable."""
_MAX_NESTING = 6


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAFE_ASSIGNMENTS = _set(
    """
    NODE_ENV CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TZ LANG LANGUAGE RUST_BACKTRACE
    RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH CGO_ENABLED TERM COLORTERM
    COLUMNS LINES DEBUG VERBOSE LOG_LEVEL CARGO_TERM_COLOR PYTHONHASHSEED RAILS_ENV RACK_ENV
    FLASK_ENV APP_ENV ENVIRONMENT GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS DEBIAN_FRONTEND HUSKY
    PIP_DISABLE_PIP_VERSION_CHECK PYTHONIOENCODING PYTHONUTF8
    """
)
"""Variables that cannot make a program run something else, looked through for allow rules."""

_PROGRAM_VARIABLES = _set("PAGER GIT_PAGER GH_PAGER MANPAGER EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR")
"""Variables that name a program; safe only where it is one that does nothing."""

EDIT_PROGRAMS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})
"""File commands that acceptEdits allows on operands inside scope."""

_INERT = _set("true false : test [ [[ exit return break continue wait")
"""Builtins without an effect, when all their words are known."""
_READ_WORD = re.compile(r"-[re]+|-[dnNpt].*|[a-z][a-z0-9]*(?!.*proxy)(?:_[a-z0-9]+)*|[0-9]+|")
"""Options of `read` and the lower-case names it sets, which no program looks at."""
_SET_OPTIONS = _set(
    "-e -u -x -v -o +e +u +x +v +o -eu -ex -eux -euo -exo -euxo pipefail errexit nounset"
)


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling of a command that rules may match."""

    head: str
    """Its program."""
    joined: str
    spaced: str
    must_name: str = ""
    """How a wildcard must begin to match: a wrapper's has to name the program inside."""


@dataclass(frozen=True, slots=True)
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
    stage: int
    is_late: bool
    """When it runs, as `Placed` says it; inside a text that a shell runs, counted from there."""


@lru_cache(maxsize=1024)
def analyse(command: str, folder: str, home: str) -> tuple[CommandFacts, ...] | Unparsable:
    """Return the facts about every simple command in source order, or why there are none.

    Args:
        folder: Where the shell is, absolute.
        home: What `~` and `$HOME` mean.
    """
    script = parse(command)
    if isinstance(script, Unparsable):
        return script
    try:
        return tuple(_facts_of(script, folder, home, 0))
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


def _facts_of(script: Script, folder: str, home: str, depth: int) -> list[CommandFacts]:
    placed = place(script, folder, home)
    if len(placed) > MAX_PARTS:
        raise Unparsable("the command has too many parts")
    found = [_facts(one, script, home, depth) for one in placed]
    if depth == 0 and (len(found) > 1 or (found and "$" in script.raw)):
        # Deny and ask rules may spell out a whole compound, as in `curl * | sh`, or a variable.
        whole = " ".join(script.raw.split())
        extra = Form(found[0].deny_forms[0].head if found[0].deny_forms else "", "", whole)
        first = replace(found[0], deny_forms=(*found[0].deny_forms, extra))
        return [first, *found[1:]]
    return found


def _facts(placed: Placed, script: Script, home: str, depth: int) -> CommandFacts:
    simple = placed.simple
    folders = placed.folders
    folder = next(iter(folders)) if len(folders) == 1 else None
    if folder == UNKNOWN_FOLDER:
        folder = None
    words = simple.words
    if not all(word.text.isascii() for word in words):
        words = tuple(_known(word, script, home, folder) for word in words)
    unwrapped = unwrap(words)
    unsafe = [item.name for item in simple.assignments if not _is_safe(item.name, item.value)]
    hidden = script.hides or unwrapped.hidden
    inner: list[CommandFacts] = []
    texts = unwrapped.scripts
    given = [item.text for item in simple.redirects if item.text is not None]
    if given and not script.hides and unwrapped.hidden.endswith(READS_INPUT):
        # The last one is what the shell reads; the others are replaced by it.
        texts, hidden = (*texts, given[-1]), ""
    for text in (*texts, *unwrapped.scripts_elsewhere):
        if depth >= _MAX_NESTING:
            hidden = hidden or "nested too deeply"
            break
        nested = parse(text)
        if isinstance(nested, Unparsable) and text in texts and not unwrapped.hidden:
            raise Unparsable(f"a text that a shell runs: {nested}")
        if isinstance(nested, Unparsable):
            hidden = hidden or f"a text that a shell runs: {nested}"
            continue
        commands = _nested(nested, folders, home, depth + 1)
        inner.extend(commands if text in texts else map(_elsewhere, commands))
    layers = [layer for layer in unwrapped.layers if layer.words]
    forms = [_join(layer.words) for layer in layers]
    last = layers[-1] if layers else None
    is_plain = len(layers) == 1 or all(layer.is_open_to_allow for layer in layers)
    clean = not unsafe and not hidden and not inner and bool(words) and is_plain
    program = "" if last is None or not last.words[0].is_literal else last.words[0].text
    arguments = () if last is None else last.words[1:]
    risk = next(
        (
            found
            for layer in layers
            if (found := risk_of(program_of(layer.words[0]), layer.words[1:]))
        ),
        "",
    )
    return CommandFacts(
        text=simple.raw or " ".join(redirect.raw for redirect in simple.redirects),
        folders=folders,
        allow_forms=_allow_forms(simple, layers, forms, unsafe),
        deny_forms=_deny_forms(simple, layers, forms),
        has_literal_program=all(layer.words[0].is_literal for layer in layers),
        hidden=hidden,
        risk=risk,
        accesses=_accesses(layers),
        inner=tuple(inner),
        redirects=tuple(
            Redirect(
                item.raw,
                item.kind,
                None if item.target is None else _known(item.target, script, home, folder),
            )
            for item in simple.redirects
        ),
        is_read_only=clean and is_read_only(program, arguments),
        is_edit=clean and _is_edit(program, arguments, risk),
        is_inert=clean and not simple.assignments and _is_inert(program, arguments, layers),
        looked_through=_looked_through(layers, simple),
        stage=placed.stage,
        is_late=placed.is_late,
    )


def _nested(script: Script, folders: Folders, home: str, depth: int) -> list[CommandFacts]:
    return [fact for folder in sorted(folders) for fact in _facts_of(script, folder, home, depth)]


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


def _is_safe(name: str, value: Word) -> bool:
    if not value.is_literal or value.scripts:
        return False
    if name in _PROGRAM_VARIABLES:
        return value.text in ("", "cat", "true", ":")
    return name in SAFE_ASSIGNMENTS or name.startswith("LC_")


def _join(words: tuple[Word, ...], program: str | None = None) -> Form:
    texts = [word.plain for word in words]
    if program is not None:
        texts[0] = program
    return Form(texts[0], WORD_END.join(texts), " ".join(texts))


def _allow_forms(
    simple: Simple, layers: list[Layer], layer_forms: list[Form], unsafe: list[str]
) -> tuple[Form, ...]:
    forms: list[Form] = []
    if not simple.words:
        texts = [item.raw for item in simple.assignments]
        if texts and all(item.value.is_literal for item in simple.assignments):
            forms.append(Form(texts[0], WORD_END.join(texts), " ".join(texts)))
        return tuple(forms)
    if simple.assignments and all(item.value.is_literal for item in simple.assignments):
        # A rule may spell the assignments out.
        texts = [f"{item.name}={item.value.text}" for item in simple.assignments]
        texts.extend(word.plain for word in layers[0].words)
        forms.append(Form(texts[0], WORD_END.join(texts), " ".join(texts)))
    if unsafe:
        return tuple(forms)
    for index, layer in enumerate(layers):
        if not layer.is_open_to_allow or layer.assignments:
            break
        inner = layers[index + 1] if index + 1 < len(layers) else None
        is_wrapper = inner is not None and inner.is_open_to_allow
        must_name = _up_to(layer, inner.words[0]) if inner is not None and is_wrapper else ""
        forms.append(replace(layer_forms[index], must_name=must_name))
    return tuple(forms)


def _up_to(outer: Layer, program: Word) -> str:
    """Return a wrapper's form up to the program inside."""
    words = outer.words
    length = next((i for i, word in enumerate(words) if word is program), len(words))
    return _join(words[: length + 1]).joined


def _deny_forms(simple: Simple, layers: list[Layer], layer_forms: list[Form]) -> tuple[Form, ...]:
    forms: dict[str, Form] = {}

    def add(form: Form) -> None:
        forms.setdefault(form.joined, form)

    if simple.assignments:
        texts = [item.raw for item in simple.assignments]
        texts.extend(word.plain for word in simple.words)
        add(Form(texts[0], WORD_END.join(texts), " ".join(texts)))
    for layer, form in zip(layers, layer_forms, strict=True):
        words = layer.words
        add(form)
        kept = tuple(word for word in words if not _may_vanish(word))
        if kept and len(kept) < len(words):
            # A rule about the bare command is about it with an empty expansion behind it too.
            add(_join(kept))
        if any(word.guess for word in words):
            add(_join(tuple(replace(word, text=word.guess or word.text) for word in words)))
        program = program_of(words[0])
        if program != words[0].plain:
            add(_join(words, program))
        for shortened in _without_global_options(program, words):
            add(_join(shortened, program))
    return tuple(forms.values())


def _may_vanish(word: Word) -> bool:
    """Is the word nothing but an expansion that may be empty, or but a substitution?"""
    return (
        not word.text.strip(_EXPANDED) and bool(word.text) and (word.splits or bool(word.scripts))
    )


_EXPANDED = UNKNOWN + PIPE_MARK

_GLOBAL_VALUED = {
    "git": "cC",
    "docker": "Hlc",
    "podman": "",
    "kubectl": "nsv",
    "npm": "C",
    "pnpm": "CF",
    "yarn": "",
    "cargo": "CZ",
    "gh": "R",
    "make": "CfIj",
    "helm": "n",
    "terraform": "",
    "systemctl": "HMt",
    "svn": "",
    "hg": "R",
}
_GLOBAL_LONG = _set(
    """
    --git-dir --work-tree --namespace --config-env --exec-path --context --host --log-level
    --config --kubeconfig --prefix --workspace --filter --dir --cwd --repo --color
    --manifest-path --target-dir --user --server --token --userconfig --registry --project
    """
)


def _without_global_options(program: str, words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return the command without the options before its first operand, in both readings."""
    if len(words) < 2 or not words[1].plain.startswith(("-", "+")):
        return []
    found: list[tuple[Word, ...]] = []
    rest = words[1:]
    while rest and rest[0].plain.startswith("+"):
        rest = rest[1:]
    arguments = split_arguments(
        rest,
        valued=_GLOBAL_VALUED.get(program, ""),
        valued_long=_GLOBAL_LONG,
        stops_at_operand=True,
    )
    found.append((words[0], *arguments.operands))
    if program not in _GLOBAL_VALUED and len(arguments.operands) > 1:
        # Any of these options may have taken the first operand as its value.
        found.append((words[0], *arguments.operands[1:]))
    return found


def _accesses(layers: list[Layer]) -> tuple[Access, ...]:
    found: list[Access] = []
    for layer in layers:
        if layer.is_elsewhere:
            continue
        if not layer.words[0].is_literal:
            likely = _likely(layer.words)
            if likely and likely[0].is_literal:
                inner = [
                    replace(one, moves=one.moves or layer.moves)
                    for one in unwrap(likely).layers
                    if one.words
                ]
                found.extend(_accesses(inner))
            continue
        for access in accesses(program_of(layer.words[0]), layer.words[1:]):
            path = access.path
            if layer.moves and not path.text.startswith("/"):
                path = Word(path.raw, UNKNOWN)
            found.append(Access(access.kind, path))
    return tuple(found)


def _likely(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command if what is unknown of its program is nothing: `$SUDO touch x`.

    It can only make the answer stricter: the program counts as unknown all the same.
    """
    while words and not words[0].text.strip(_EXPANDED):
        words = words[1:]
    if not words:
        return ()
    first = words[0]
    return (Word(first.raw, first.text.strip(_EXPANDED + "".join(GLOB_MARKS.values()))), *words[1:])


def _is_edit(program: str, arguments: tuple[Word, ...], risk: str) -> bool:
    if program not in EDIT_PROGRAMS:
        return False
    if program != "sed":
        return not risk
    found = sed_arguments(arguments)
    if found.has("-f", "--file") or found.injectable:
        return False
    scripts = found.values("-e", "--expression") or found.operands[:1]
    return all(word.is_literal and not sed_script_risk(word.text) for word in scripts)


def _is_inert(program: str, arguments: tuple[Word, ...], layers: list[Layer]) -> bool:
    if len(layers) != 1:
        return False
    if program == "cd":
        return True
    if not all(word.is_literal for word in arguments):
        return False
    if program == "read":
        return all(_READ_WORD.fullmatch(word.text) for word in arguments)
    if program == "set":
        return bool(arguments) and all(word.text in _SET_OPTIONS for word in arguments)
    return program in _INERT


def _looked_through(layers: list[Layer], simple: Simple) -> str:
    pieces = [item.raw for item in simple.assignments if simple.words]
    pieces.extend(layer.words[0].plain for layer in layers[:-1])
    return " ".join(pieces)
