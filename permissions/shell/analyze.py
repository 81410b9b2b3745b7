"""Everything that rules and scope need to know about a command, derived from its text alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from msgspec.structs import replace

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import has_operator, whole_text
from permissions.shell.context_free_facts import own_facts, texts_started
from permissions.shell.effects.code_names import input_accesses, takes_code
from permissions.shell.flow.nested_scripts import all_texts, input_text, is_printed
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY, Directories, Placed, place
from permissions.shell.parse.parse import SHORT_CHARACTERS, parse
from permissions.shell.program import Code
from permissions.shell.programs.databases import input_risk
from permissions.shell.programs.registry import program_named
from permissions.shell.rule_spellings import Form
from permissions.shell.syntax import HOME_MARK, PWD_MARK, Redirect, Script, Unparsable, Word
from permissions.shell.wrappers.code_commands import commands_in_code
from permissions.shell.wrappers.layers import Layer
from permissions.shell.wrappers.unwrap import Reader, Unwrapped, found_texts, supplied_texts, unwrap

MAX_PARTS = 2_000
"""Simple commands, nested ones included; more make the command unparsable."""
_MAX_NESTING = 6


def analyze(
    command: str, directory: str, home: str, temp_dir: str = ""
) -> tuple[CommandFacts, ...] | Unparsable:
    """Return the facts about every simple command in source order, or why there are none.

    Args:
        directory: Where the shell is, absolute.
        home: What `~` and `$HOME` mean.
        temp_dir: The value of `$TMPDIR` in the command; empty if not known.
    """
    is_short = len(command) <= SHORT_CHARACTERS
    # If it cannot matter, the cache key is the same for all callers, whether they know the value or
    # not.
    temp_dir = temp_dir if "TMPDIR" in command else ""
    return (_analyze_short if is_short else _analyze_long)(command, directory, home, temp_dir)


def _work_out(
    command: str, directory: str, home: str, temp_dir: str
) -> tuple[CommandFacts, ...] | Unparsable:
    script = parse(command, temp_dir)
    if isinstance(script, Unparsable):
        return script
    try:
        return tuple(_facts_of(script, directory, home, 0))
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


_analyze_short = lru_cache(maxsize=512)(_work_out)
_analyze_long = lru_cache(maxsize=4)(_work_out)


def _facts_of(
    script: Script, directory: str, home: str, depth: int, functions: frozenset[str] = frozenset()
) -> list[CommandFacts]:
    functions |= script.functions
    placed_commands = place(script, directory, home)
    if len(placed_commands) > MAX_PARTS:
        raise Unparsable("the command has too many parts")
    if script.unknown_reason and not placed_commands:
        raise Unparsable(script.unknown_reason)
    facts = [_facts(one, script, functions, home, depth) for one in placed_commands]
    if functions:
        facts = [_of_function(one, functions) for one in facts]
    if facts and has_operator(script.raw):
        return [_with_whole(facts[0], script.raw), *facts[1:]]
    return facts


def _with_whole(first: CommandFacts, raw: str) -> CommandFacts:
    """Return facts with a form for the whole command.

    Deny and ask rules may name a whole compound command, as in `curl * | sh`, or a variable.
    """
    extra = Form(first.deny_forms[0].head if first.deny_forms else "", "", whole_text(raw))
    return replace(first, deny_forms=(*first.deny_forms, extra))


def _of_function(facts: CommandFacts, functions: frozenset[str]) -> CommandFacts:
    """Return the facts of what may be a call of a function: `:(){ :|:& };:`.

    What the function runs is analyzed where it is defined; how often it runs is not known.
    """
    if not any(form.head in functions for form in facts.deny_forms):
        return facts
    return replace(facts, is_read_only=False, is_inert=False, is_edit=False, when_plain=None)


def _facts(
    placed_command: Placed, script: Script, functions: frozenset[str], home: str, depth: int
) -> CommandFacts:
    simple = placed_command.simple
    words = simple.words
    if not all(word.text.isascii() for word in words):
        directory = _only(placed_command.directories)
        words = tuple(_expand_variables(word, script, home, directory) for word in words)
    unwrapping = unwrap(words)
    stdin = input_text(simple.redirects, placed_command.piped_text)
    unknown_reason, inner = _shell_texts(
        placed_command, script.unknown_reason, functions, unwrapping, stdin, home, depth
    )
    last = unwrapping.layers[-1]
    program = last.program
    is_here = not (last.directory or last.is_elsewhere)
    code = stdin if is_here and takes_code(program, last.words[1:]) else None
    if depth < _MAX_NESTING:
        started_texts = chain(
            texts_started(simple, unwrapping), commands_in_code(program, code or "")
        )
        inner.extend(_started_facts(started_texts, placed_command.directories, home, depth + 1))
    facts = own_facts(simple, unwrapping, unknown_reason, tuple(inner))
    named_accesses = input_accesses(code) if code else ()
    return replace(
        facts,
        directories=placed_command.directories,
        risk=input_risk(last.words, stdin) or facts.risk,
        accesses=(*facts.accesses, *named_accesses),
        redirects=_redirects(placed_command, script, home),
        stage=placed_command.stage,
        is_late=placed_command.is_late,
        repeats=placed_command.repeats,
        takes_code=unwrapping.reader is not None or _runs_input(last, is_fed=placed_command.is_fed),
    )


def _runs_input(layer: Layer, *, is_fed: bool) -> bool:
    """Whether a program runs code that its words do not show: from its input, or from a pipe."""
    if not layer.words:
        return False
    program_record, words = program_named(layer.program), layer.words[1:]
    if program_record.code is not Code.LANGUAGE and not program_record.is_shell:
        return is_fed and takes_code(layer.program, words)
    is_piped = any(map(is_printed, words))
    return is_piped or (not program_record.is_shell and takes_code(layer.program, words))


def _shell_texts(
    placed_command: Placed,
    unknown_reason: str,
    functions: frozenset[str],
    unwrapping: Unwrapped,
    stdin: str | None,
    home: str,
    depth: int,
) -> tuple[str, list[CommandFacts]]:
    """Return why a text that a shell runs is unknown, and the commands in the other texts."""
    read, remote, unseen = _read_texts(placed_command, unwrapping.reader, stdin)
    texts = (*unwrapping.scripts, *read)
    remote = (*unwrapping.scripts_elsewhere, *remote)
    unknown_reason = unknown_reason or unwrapping.unknown_reason or unseen
    if not unknown_reason and _is_read_ahead(placed_command, unwrapping, stdin):
        # Deny rules check it, but another program may have the name of the one that prints.
        unknown_reason = "what a command prints"
    layers = unwrapping.layers
    texts = (*texts, *supplied_texts(layers, stdin), *found_texts(layers, placed_command.search))
    if depth >= _MAX_NESTING and (texts or remote):
        return unknown_reason or "nested too deeply", []
    inner: list[CommandFacts] = []
    for text, is_remote in (*((one, False) for one in texts), *((one, True) for one in remote)):
        script = parse(text)
        if isinstance(script, Unparsable):
            unknown_reason = unknown_reason or f"code that a shell runs: {script}"
            if not (is_remote or unwrapping.unknown_reason):
                raise Unparsable(f"code that a shell runs: {script}")
            continue
        commands = _nested_facts(script, placed_command.directories, home, depth + 1, functions)
        inner.extend(map(_elsewhere, commands) if is_remote else commands)
    return unknown_reason, inner


def _read_texts(
    placed_command: Placed, reader: Reader | None, stdin: str | None
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the texts that a shell reads from its input, here and elsewhere, and why one is
    unknown."""
    if reader is None:
        return (), (), ""
    # Of several here-documents, a descriptor number may select the one that applies.
    texts = tuple(map(reader.script, all_texts(placed_command.simple.redirects)))
    if stdin is None:
        unseen = "" if reader.is_elsewhere else f"{reader.name} reads commands from its input"
        return texts, (), unseen
    if reader.is_elsewhere:
        return texts, (stdin,), ""
    return (*texts, reader.script(stdin)), (), ""


def _is_read_ahead(placed_command: Placed, unwrapping: Unwrapped, stdin: str | None) -> bool:
    """Whether a shell runs what commands print."""
    if unwrapping.scripts and any(map(is_printed, placed_command.simple.words)):
        return True
    return (
        unwrapping.reader is not None
        and stdin is not None
        and placed_command.piped_text is not None
    )


def _started_facts(
    texts: Iterable[str], directories: Directories, home: str, depth: int
) -> Iterator[CommandFacts]:
    """Yield the facts about commands that are started; what is not a command is skipped."""
    for text in texts:
        script = parse(text)
        if isinstance(script, Unparsable):
            continue
        try:
            yield from _nested_facts(script, directories, home, depth)
        except Unparsable:
            continue


def _only(directories: Directories) -> str | None:
    """Return the directory if it is known which one it is, else None."""
    if len(directories) != 1 or UNKNOWN_DIRECTORY in directories:
        return None
    return next(iter(directories))


def _redirects(placed_command: Placed, script: Script, home: str) -> tuple[Redirect, ...]:
    if not placed_command.simple.redirects:
        return ()
    directory = _only(placed_command.directories)
    return tuple(
        Redirect(
            item.raw,
            item.kind,
            None
            if item.target is None
            else _expand_variables(item.target, script, home, directory),
            text=item.text,
        )
        for item in placed_command.simple.redirects
    )


def _nested_facts(
    script: Script,
    directories: Directories,
    home: str,
    depth: int,
    functions: frozenset[str] = frozenset(),
) -> list[CommandFacts]:
    places = sorted(directories)
    return [fact for one in places for fact in _facts_of(script, one, home, depth, functions)]


def _elsewhere(facts: CommandFacts) -> CommandFacts:
    """Return the facts of a command that runs on another machine, without accesses to files
    here."""
    inner = tuple(_elsewhere(one) for one in facts.inner)
    return replace(facts, accesses=(), redirects=(), open_values=(), inner=inner)


def _expand_variables(word: Word, script: Script, home: str, directory: str | None) -> Word:
    """Substitute the values of HOME and PWD, as far as they are known."""
    text = word.text
    if text.isascii() or (HOME_MARK not in text and PWD_MARK not in text):
        return word
    splits = word.splits
    if script.taints_variables:
        guess = text.replace(HOME_MARK, home).replace(PWD_MARK, directory or UNKNOWN)
        masked_text = text.replace(HOME_MARK, UNKNOWN).replace(PWD_MARK, UNKNOWN)
        return Word(word.raw, masked_text, True, word.scripts, guess)
    if directory is None and PWD_MARK in text:
        text, splits = text.replace(PWD_MARK, UNKNOWN), True
    text = text.replace(HOME_MARK, home).replace(PWD_MARK, directory or "")
    return Word(word.raw, text, splits, word.scripts)
