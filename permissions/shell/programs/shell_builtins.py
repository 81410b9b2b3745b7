"""Program records of shells and their builtins; `flow.nested_scripts` reads what shells run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, names
from permissions.shell.arguments import split_arguments
from permissions.shell.flow.nested_scripts import (
    Texts,
    join_words,
    of_aliases,
    of_callbacks,
    of_file,
)
from permissions.shell.parse.assignments import setting_risk
from permissions.shell.program import Commands, Program, ReadOnly, Risk, Wrapper
from permissions.shell.programs.common_arguments import after_option, interpreter, reads
from permissions.shell.syntax import Word


def change_directory(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words).operands
    if not operands or operands[0].text == "-":
        return []
    return [Access(AccessKind.CHANGE_DIR, operands[0])]


GIT_PLACES = names("GIT_DIR GIT_WORK_TREE GIT_OBJECT_DIRECTORY GIT_INDEX_FILE")
"""Variables that make git work in other directories."""


def environment(words: Sequence[Word]) -> list[Access]:
    """Return the directories in variables that set where git works."""
    results: list[Access] = []
    for word in words:
        name, equals, _ = word.plain.partition("=")
        if equals and name in GIT_PLACES:
            results.append(Access(AccessKind.PLACE, Word(word.raw, word.text[len(name) + 1 :])))
    return results


_SETS_VARIABLE = compile_late(r"-v|%[-+ #0-9.*]*n")
"""`printf -v x` and `printf %n x`."""


def always(_words: Sequence[Word]) -> bool:
    """Return True: it only reads, whatever its words."""
    return True


def prints(words: Sequence[Word]) -> bool:
    """Return whether printf sets no variable."""
    first = words[:1]
    return not first or (first[0].is_literal and not _SETS_VARIABLE.search(first[0].plain))


def test_reads(words: Sequence[Word]) -> bool:
    """Return whether the test evaluates no unknown subscript."""
    return not any("[" in word.plain and word.is_unknown for word in words)


def looks_up(words: Sequence[Word]) -> bool:
    """Return whether `command` only looks up a program."""
    return bool(words) and words[0].plain in ("-v", "-V")


def eval_texts(words: tuple[Word, ...]) -> Commands:
    """Return the text that eval runs."""
    return [], join_words(_after_dashes(words), "eval")


def trap_texts(words: tuple[Word, ...]) -> Commands:
    """Return the text that a trap runs."""
    operands = _after_dashes(words)
    return [], join_words(operands[:1], "trap") if len(operands) > 1 else Texts()


def alias_texts(words: tuple[Word, ...]) -> Commands:
    """Return the texts that aliases expand to."""
    return [], of_aliases(words)


def source_texts(program: str, words: tuple[Word, ...]) -> Commands:
    """Return the text of a sourced file, if it is known."""
    operands = _after_dashes(words)
    return [], of_file(program, operands[0]) if operands else Texts()


def at_commands(program: str, words: tuple[Word, ...]) -> Commands:
    """Return the texts that `at` runs: it reads commands from its input."""
    is_started = not any(word.text.startswith("-") for word in words)
    return [], Texts(reader=program) if is_started else Texts()


def called_back(words: tuple[Word, ...]) -> Commands:
    """Return the texts that completion and mapfile run."""
    return [], of_callbacks(words)


def _after_dashes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return words[1:] if words and words[0].text == "--" else words


PROGRAMS = (
    Program("cd", accesses=change_directory, read_only=ReadOnly("LP")),
    Program("pushd", accesses=change_directory),
    Program("echo : true false", read_only=always),
    Program("printf", risk_check=setting_risk, read_only=prints),
    Program("type", read_only=ReadOnly("afptP")),
    Program("test [ [[", read_only=test_reads),
    Program("command", read_only=looks_up, wrapper=Wrapper(is_open_to_allow=True)),
    Program("builtin noglob", wrapper=Wrapper(is_open_to_allow=True)),
    Program("export declare typeset", accesses=environment, risk_check=setting_risk),
    Program("local readonly read getopts", risk_check=setting_risk),
    Program("mapfile readarray", risk=Risk("C", value_letters="dnOsuc"), risk_check=setting_risk,
        commands=called_back),
    Program("compgen complete", risk=Risk("CFW", value_letters="oAGXPS"), commands=called_back),
    Program("hash", risk=Risk("p"), commands=after_option("-p")),
    Program("eval", commands=eval_texts, exact_only=True),
    Program("trap", commands=trap_texts),
    Program("alias", commands=alias_texts),
    Program("source", accesses=reads(), commands=partial(source_texts, "source")),
    Program(".", accesses=reads(), commands=partial(source_texts, ".")),
    Program("exec", wrapper=Wrapper("a"), exact_only=True),
    Program("coproc", wrapper=Wrapper(assignments=True)),
    Program("time",
        wrapper=Wrapper("fo", "--format --output", is_open_to_allow=True, assignments=True),
        exact_only=True),
    Program("nocorrect", wrapper=Wrapper()),
    Program("at", commands=partial(at_commands, "at")),
    Program("batch", commands=partial(at_commands, "batch")),
    Program("bash", accesses=interpreter, shows_version=True, is_shell=True, exact_only=True),
    Program("sh zsh dash ksh", accesses=interpreter, is_shell=True, exact_only=True),
    Program("mksh rbash tcsh", is_shell=True),
    Program("ash fish csh", is_shell=True, exact_only=True),
    Program("su", is_shell=True, is_root=True, exact_only=True),
)  # fmt: skip
