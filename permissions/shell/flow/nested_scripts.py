"""Texts that a shell will run: `sh -c`, `eval`, `trap`, a here-document, what `echo` prints."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import (
    HOME_MARK,
    PIPE_MARK,
    PWD_MARK,
    Redirect,
    RedirectKind,
    Script,
    Simple,
    Word,
)


class Texts(Struct, frozen=True):
    """The texts that one command passes to a shell, as far as they are known."""

    scripts: tuple[str, ...] = ()
    unknown_reason: str = ""
    """Why a text is unknown; empty when all are known."""
    reader: str = ""
    """The program, if it reads its commands from its input."""


UNKNOWN_PIECES = str.maketrans(dict.fromkeys((UNKNOWN, PIPE_MARK, HOME_MARK, PWD_MARK), "${_}"))
"""Replaces each unknown part of a text that a shell runs with a variable."""
_INPUTS = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-u", "-g"})
_TAKES_TEXT = compile_late(r"--command|-[A-Za-z]*c[A-Za-z]*")
_OTHER_LANGUAGES = frozenset({"fish", "zsh", "csh", "tcsh"})
_ON_INPUT = compile_late(r"0?<")
_MAX_GIVEN = 32
"""Maximum number of operands of parallel that are checked one by one."""
_REPLACED = compile_late(r"\{[^{}\s]*\}")


def of_shell(name: str, rest: tuple[Word, ...]) -> Texts:
    """Read the arguments of a shell."""
    texts = _of_shell(name, rest)
    if name in _OTHER_LANGUAGES and (texts.scripts or texts.reader):
        # `and rm x`, `repeat 3 rm x`: parsed as bash, these look like other commands.
        unknown_reason = texts.unknown_reason or f"{name} reads another language"
        return Texts(texts.scripts, unknown_reason, texts.reader)
    return texts


def _of_shell(name: str, rest: tuple[Word, ...]) -> Texts:
    if name == "su":
        return _of_su(rest)
    position = 0
    while position < len(rest):
        word = rest[position]
        text = word.plain
        if _hides_options(word):
            return Texts(unknown_reason=f"options of {name} that are not known")
        if _TAKES_TEXT.fullmatch(text):
            return _shell_text(name, rest[position + 1 :])
        if text in ("-s", "-"):
            return Texts(reader=name)
        if not text.startswith(("-", "+")):
            return of_file(name, word)
        position += 2 if text in _VALUED else 1
    return Texts(reader=name)


def _of_su(rest: tuple[Word, ...]) -> Texts:
    is_login = False
    position = 0
    while position < len(rest):
        text = rest[position].plain
        if _hides_options(rest[position]):
            return Texts(unknown_reason="options of su that are not known")
        if _TAKES_TEXT.fullmatch(text):
            texts = _shell_text("su", rest[position + 1 :])
            # A login as another user starts in their home directory.
            return _at_home(texts) if is_login else texts
        is_login |= text in ("-l", "-", "--login")
        position += 2 if text == "-s" or text in _VALUED else 1
    return Texts(reader="su")


def _hides_options(word: Word) -> bool:
    return not word.is_literal and (word.plain.startswith("-") or word.splits)


def _shell_text(name: str, rest: tuple[Word, ...]) -> Texts:
    """Return the text after `-c`; more options may be in between."""
    position = next((i for i, word in enumerate(rest) if not word.plain.startswith("-")), len(rest))
    return join_words(rest[position : position + 1], f"{name} -c")


def of_file(name: str, word: Word) -> Texts:
    """Read the file that a shell is given: a script, its input, or what a command prints."""
    if word.text in _INPUTS:
        return Texts(reader=name)
    if not is_printed(word):
        return Texts()
    text = printed_by(word.scripts[0]) if len(word.scripts) == 1 else None
    if text is None:
        return Texts(unknown_reason=f"{name} runs what a command prints")
    return Texts((text,))


def join_words(words: Sequence[Word], what: str) -> Texts:
    """Join words into one text, as `eval` does."""
    if not words:
        return Texts()
    if not all(word.is_literal for word in words):
        # The known part may be enough for a deny; the unknown part prevents an allow.
        known_text = " ".join(word.plain.translate(UNKNOWN_PIECES) for word in words)
        return Texts((known_text,), f"{what} runs code that is not known in advance")
    text = " ".join(word.text for word in words)
    return Texts((text,)) if text.strip("-") else Texts()


def of_aliases(words: Sequence[Word]) -> Texts:
    """Read `alias name=text`."""
    texts: list[str] = []
    for word in words:
        _, equals, value = word.text.partition("=")
        if equals and not word.is_literal:
            return Texts(tuple(texts), "alias defines code that is not known in advance")
        if equals:
            texts.append(value)
    return Texts(tuple(texts))


def of_callbacks(words: Sequence[Word]) -> Texts:
    """Read the texts of `mapfile -C text` and `compgen -C text`; `-W` expands its words."""
    arguments = split_arguments(words, value_letters="dnOsucCWFGXPSAo")
    echo_commands = [Word(word.raw, f'echo "{word.text}"') for word in arguments.values("-W")]
    return (
        join_words(arguments.values("-C"), "-C")
        if not echo_commands
        else join_words(echo_commands, "-W")
    )


def of_parallel(operands: tuple[Word, ...]) -> tuple[tuple[Word, ...], Texts]:
    """Split the operands of GNU parallel into the words of its command and the texts it runs."""
    end = next((i for i, word in enumerate(operands) if word.text.startswith(":::")), None)
    command, inputs = operands[:end], () if end is None else operands[end:]
    if command:
        return command, _with_inputs(command, inputs)
    if inputs and inputs[0].text == ":::":
        return (), _each_input(inputs[1:])
    return (), Texts(reader="parallel")


def _with_inputs(command: Sequence[Word], inputs: Sequence[Word]) -> Texts:
    """Return the command with its operands: they come after it, or in place of `{}`."""
    pieces = [Word(one.raw, _REPLACED.sub(UNKNOWN, one.text)) for one in command]
    texts = join_words(pieces, "parallel")
    known_inputs = [word.text for word in inputs if word.is_literal and word.text[:3] != ":::"]
    ends = ["${_}", *map(quote, known_inputs[:_MAX_GIVEN])]
    return Texts(tuple(f"{text} {end}" for text in texts.scripts for end in ends))


def _each_input(inputs: Sequence[Word]) -> Texts:
    """Return the inputs, which are the commands when no other command is given."""
    input_texts = [join_words([word], "parallel") for word in inputs if word.text != ":::"]
    unknown_reason = next((one.unknown_reason for one in input_texts if one.unknown_reason), "")
    return Texts(tuple(text for one in input_texts for text in one.scripts), unknown_reason)


def input_text(redirects: Sequence[Redirect], piped_text: str | None) -> str | None:
    """Return what a command reads from its input, if the script contains it literally.

    `piped_text` comes first; the last redirection takes effect.
    """
    text = piped_text
    for redirect in redirects:
        if redirect.kind is RedirectKind.WRITE or not _ON_INPUT.match(redirect.raw):
            continue
        text = redirect.text if redirect.kind is RedirectKind.TEXT else None
    return text


def all_texts(redirects: Sequence[Redirect]) -> tuple[str, ...]:
    """Return all here-documents; () for a single one, which `input_text` finds."""
    texts = [
        one.text for one in redirects if one.kind is RedirectKind.TEXT and one.text is not None
    ]
    return tuple(texts) if len(redirects) > 1 else ()


def is_printed(word: Word) -> bool:
    """Return whether it is a file that contains what commands print."""
    return PIPE_MARK in word.text and bool(word.scripts)


def printed_by(script: Script) -> str | None:
    """Return what the command in a substitution prints, if that is evident from its text."""
    items = script.body.items
    if len(items) == 1 and isinstance(items[0], Simple):
        return printed_text(items[0])
    return None


def printed_text(command: Simple) -> str | None:
    """Return what `echo`, `printf` or `cat <<EOF` prints; None if that is not evident."""
    words, redirects = command.words, command.redirects
    if not words or not all(word.is_literal for word in words) or command.assignments:
        return None
    name, *arguments = [word.text for word in words]
    if name == "cat":
        return _document(redirects, arguments)
    if redirects or name not in ("echo", "printf"):
        return None
    return _echo_output(arguments) if name == "echo" else _printf_output(arguments)


def _document(redirects: Sequence[Redirect], arguments: Sequence[str]) -> str | None:
    is_document = [one.kind for one in redirects] == [RedirectKind.TEXT]
    return input_text(redirects, None) if is_document and arguments in ([], ["-"]) else None


def _echo_output(arguments: list[str]) -> str | None:
    text = " ".join(arguments[1:] if arguments[:1] == ["-n"] else arguments)
    return None if text.startswith("-") or "\\" in text else text


def _printf_output(arguments: Sequence[str]) -> str | None:
    form, *values = arguments or [""]
    if form in ("%s", "%s\\n"):
        return ("\n" if form != "%s" else "").join(values)
    text = form.replace("\\n", "\n")
    return None if "%" in text or "\\" in text or text.startswith("-") else text


def _at_home(texts: Texts) -> Texts:
    return Texts(tuple(f"cd; {text}" for text in texts.scripts), texts.unknown_reason, texts.reader)
