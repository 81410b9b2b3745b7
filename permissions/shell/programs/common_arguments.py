"""Argument parsing that many programs share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, is_listed, split_arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.program import Accesses, Commands, Risk
from permissions.shell.syntax import SUPPLIED, Word

STANDARD_OUTPUT = ("-", "/dev/null", "/dev/stdout")

_READ_LONG = names(
    "--files0-from --from-file --to-file --exclude-from --reference --files-from --magic-file "
    "--format-file --lesskey-file"
)
"""Long options whose value is read."""
_COUNT = compile_late(r"[-+][0-9]")
_AWAITS_COUNT = compile_late(r"-[A-Za-z]*[ncs]")


def reads(value_letters: str = "", files: str = "", *, counts: bool = False) -> Accesses:
    """Return a reader of programs all of whose operands are files that they read.

    A letter that is wrongly listed as one with a value would hide the file after it. So each
    program has its own list, without letters on which GNU and BSD differ.

    Args:
        value_letters: Letters of options that take the next word, which is not a file.
        files: Letters whose value is read.
        counts: Numbers may be options, as in `head -5`.
    """
    file_options = tuple(f"-{letter}" for letter in files)

    def accesses(words: Sequence[Word]) -> list[Access]:
        if counts:
            # `head -5c file`: the number is the value. In `tail -n +5 file` it is one.
            words = [
                word
                for previous, word in zip(("", *(one.plain for one in words)), words, strict=False)
                if _AWAITS_COUNT.fullmatch(previous) or not _COUNT.match(word.plain)
            ]
        arguments = split_arguments(
            words, value_letters=value_letters + files, value_options=_READ_LONG
        )
        option_files = arguments.values(*_READ_LONG, *file_options)
        return [
            *each(AccessKind.READ, [*arguments.operands, *option_files]),
            *listed_files(arguments),
        ]

    return accesses


def listed_files(arguments: Arguments, short: str = "") -> list[Access]:
    """Return the reads of files whose names a program takes from a file."""
    is_list = arguments.has("--files0-from", "--files-from", *names(short))
    return [Access(AccessKind.READ, SUPPLIED)] if is_list else []


_WRITER_LONG = names("--reference --mode --size --date --time")


def writes(value_letters: str = "", skip: int = 0, *, modes: str = "") -> Accesses:
    """Return a reader of programs that change their operands.

    Args:
        value_letters: Letters of options that take a value.
        skip: Number of first operands that are not files, such as a mode.
        modes: Pattern for modes that look like options: `chmod -x file`.
    """
    mode = compile_late(modes or "(?!)")

    def accesses(words: Sequence[Word]) -> list[Access]:
        arguments = split_arguments(words, value_letters=value_letters, value_options=_WRITER_LONG)
        has_mode = any(mode.fullmatch(word.plain) for word in words)
        skip_count = 0 if has_mode or arguments.has("--reference") else skip
        return [
            *each(AccessKind.READ, arguments.values("--reference")),
            *each(AccessKind.WRITE, arguments.operands[skip_count:]),
        ]

    return accesses


_INTERPRETER_SWITCHES = names("-u -B -E -s -S -I -x -v -l --")


def interpreter(words: Sequence[Word]) -> list[Access]:
    """Return the script that an interpreter runs."""
    for word in words:
        text = word.plain
        if text in _INTERPRETER_SWITCHES:
            continue
        is_script = not text.startswith(("-", "+")) and word.is_literal
        return [Access(AccessKind.READ, word)] if is_script else []
    return []


def compressor(words: Sequence[Word]) -> list[Access]:
    """Return what gzip and similar programs read or replace."""
    arguments = split_arguments(words, value_letters="SbT")
    if arguments.has("-c", "--stdout", "-t", "--test", "-l", "--list"):
        return each(AccessKind.READ, arguments.operands)
    return each(AccessKind.WRITE, arguments.operands)


def input_output(operands: Sequence[Word]) -> list[Access]:
    """Return the accesses of a program that reads its first operand and writes its second."""
    if any(word.has_glob or word.splits for word in operands):
        # They may become more words: any of them may be the second.
        return [*each(AccessKind.READ, operands), *each(AccessKind.WRITE, operands)]
    return [*each(AccessKind.READ, operands[:1]), *each(AccessKind.WRITE, operands[1:2])]


def local_copy(arguments: Arguments) -> list[Access]:
    """Return the local files among the operands of scp and similar programs."""
    operands = arguments.operands

    def is_local(word: Word) -> bool:
        return ":" not in word.text.partition("/")[0]

    sources = AccessKind.REMOVE if arguments.has("--remove-source-files") else AccessKind.READ
    return [
        *each(sources, [word for word in operands[:-1] if is_local(word)]),
        *each(AccessKind.WRITE, [word for word in operands[-1:] if is_local(word)]),
    ]


def option_risk(
    program: str,
    risk: Risk,
    words: Sequence[Word],
    arguments: Arguments | None = None,
    *,
    switches: str = "",
) -> str:
    """Return which risky option is or may be among the words; "" if none.

    Args:
        arguments: The parsed words, if the program needs its own parser.
        switches: Letters of options that certainly take no value.
    """
    arguments = arguments or _split(risk, words, switches)
    if arguments.injectable and not risk.takes_unknown:
        return f"a word that is not known could be an option of {program}"
    to_output, long = names(risk.to_output), names(risk.long)
    for option in arguments.options:
        value = option.value.text if option.value is not None else ""
        if option.name in to_output and value in STANDARD_OUTPUT:
            continue
        if is_listed(option.name, risk.short, long, exact=risk.single_dash):
            return f"{program} {option.name} runs a program or writes a file"
    return ""


def _split(risk: Risk, words: Sequence[Word], switches: str) -> Arguments:
    return split_arguments(
        words,
        value_letters=risk.value_letters + ("" if risk.single_dash else risk.short),
        value_options=names(risk.value_options),
        switches="".join(letter for letter in switches if letter not in risk.short),
        single_dash=risk.single_dash,
    )


def one_operand(_words: Sequence[Word], arguments: Arguments) -> bool:
    """Return whether there is no second operand, which would be written."""
    return len(arguments.operands) < 2


def no_option_file(_words: Sequence[Word], arguments: Arguments) -> bool:
    """Return whether no operand is a file with options."""
    return not any(word.plain.startswith("@") for word in arguments.operands)


def after_option(options: str) -> Callable[[tuple[Word, ...]], Commands]:
    """Return a reader of the command after the first of these options (`fd -x`, `hash -p`)."""
    option_names = names(options)

    def commands(words: tuple[Word, ...]) -> Commands:
        for position, word in enumerate(words):
            if word.text in option_names and position + 1 < len(words):
                return [(*words[position + 1 :], SUPPLIED)], Texts()
        return [], Texts()

    return commands


_SETTING = compile_late(
    r"(?:exec=|(?:Proxy|Local|KnownHosts)Command[= ]|core\.\w+=|pager\.\w+=|\b\w+\.cmd=|"
    r"diff\.external=|sequence\.editor=|gpg\.program=|credential\.helper=|!|:\s*!|\\!)\s*",
    re.IGNORECASE,
)


def command_in(text: str) -> Iterator[str]:
    """Yield the command in the value of an option; a single word is a program, such as `less`."""
    command = _SETTING.sub("", text, count=1)
    if _MORE_THAN_A_NAME.search(command.strip()):
        yield command


_MORE_THAN_A_NAME = compile_late(r"[\s;&|<>$`(){}]")


def settings_after(path: str, *verbs: str) -> Callable[[Sequence[Word]], str]:
    """Return a reader of programs that write settings when their first operands are `verbs`."""
    verb_words = [verb.split() for verb in verbs]

    def changed_settings(words: Sequence[Word]) -> str:
        operands = [word.text for word in words if not word.plain.startswith("-")]
        return path if any(operands[: len(verb)] == verb for verb in verb_words) else ""

    return changed_settings


def settings_with_option(path: str, verb: str, options: str) -> Callable[[Sequence[Word]], str]:
    """Return a reader of programs that write settings if one of `options` follows `verb`."""
    option_names = names(options)

    def changed_settings(words: Sequence[Word]) -> str:
        texts = [word.text for word in words]
        return path if texts[:1] == [verb] and not option_names.isdisjoint(texts) else ""

    return changed_settings
