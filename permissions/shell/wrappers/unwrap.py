"""Unwraps programs that run other programs: `timeout`, `sudo`, `env`, `xargs`, `sh -c`. Allow rules
match inside a short fixed list only; deny and ask rules match inside all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec import Struct

from permissions.shell.access import names
from permissions.shell.flow.nested_scripts import Texts, of_shell
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import PIPE_MARK, SUPPLIED, Simple, Word
from permissions.shell.wrappers.layers import Layer, in_directory, inner_layers
from permissions.shell.wrappers.unwrap_one import after_subcommand, inside

MAX_LAYERS = 12
"""Maximum number of layers; with more, the rest counts as hidden."""

MAX_SUPPLIED = 32
"""Maximum number of operands that are checked from a known input of xargs."""


class Unwrapped(Struct, frozen=True):
    """All layers of one command."""

    layers: tuple[Layer, ...]
    scripts: tuple[str, ...]
    """Texts that a shell will run (`sh -c`, `eval`, `trap`)."""
    scripts_elsewhere: tuple[str, ...]
    """Texts that run on another machine or in a container: their paths are not local paths."""
    unknown_reason: str
    """Why something that runs is unknown; empty if all is known."""
    reader: Reader | None
    """The innermost shell that reads its commands from its input."""


class Reader(Struct, frozen=True):
    """A shell that reads its commands from its input."""

    name: str
    directory: str
    is_elsewhere: bool

    def script(self, text: str) -> str:
        """Return the text as the script's own shell would run it."""
        return in_directory(text, self.directory)


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Return every layer of a command; its assignments are not part of `words`."""
    layers = [Layer(words, True)]
    scripts: list[str] = []
    elsewhere: list[str] = []
    unknown_reason = ""
    reader: Reader | None = None
    # The list grows during the iteration: each layer adds the commands that it would run.
    for layer in layers:
        if len(layers) > MAX_LAYERS:
            unknown_reason = unknown_reason or "wrapped too deeply"
            break
        if layer.words:
            new_layers, texts = _inner(layer)
            layers.extend(new_layers)
            is_away = layer.is_elsewhere or layer.program == "ssh"
            (elsewhere if is_away else scripts).extend(
                in_directory(text, layer.directory) for text in texts.scripts
            )
            unknown_reason = unknown_reason or texts.unknown_reason
            if texts.reader:
                reader = Reader(texts.reader, layer.directory, is_away)
    return Unwrapped(tuple(layers), tuple(scripts), tuple(elsewhere), unknown_reason, reader)


def supplied_texts(layers: tuple[Layer, ...], stdin: str | None) -> Iterator[str]:
    """Yield what xargs runs, if its input is known."""
    if stdin is None or not _QUOTING.isdisjoint(stdin):
        return
    operands = stdin.split()[:MAX_SUPPLIED]
    for command in _supplied_commands(layers):
        words = [word.text for word in command]
        if len(operands) > 1:
            yield " ".join(quote(word) for word in (*words, *operands))
        for operand in operands:
            put = [word.replace(PIPE_MARK, operand) for word in words]
            yield " ".join(quote(word) for word in (*put, operand))


def found_texts(layers: tuple[Layer, ...], search: Simple | None) -> Iterator[str]:
    """Yield what xargs runs after `find` (the same as its `-exec`), or after `echo *`."""
    if search is None:
        return
    for words in _supplied_commands(layers):
        if not words or not words[0].is_literal:
            continue
        if search.words[0].text != "find":
            yield from _echo_commands(words, search)
            continue
        tests = [word.plain for word in search.words if word.plain not in _PRINTING]
        command = [word.text.replace(PIPE_MARK, "{}") for word in words]
        yield " ".join(map(quote, (*tests, "-exec", *command, "{}", "+")))


_PRINTING = names("-print -print0")
_QUOTING = frozenset("'\"\\")


def _echo_commands(words: Sequence[Word], search: Simple) -> Iterator[str]:
    """Yield the command with the patterns of `echo` as operands."""
    # The shell expands the words here to the same names.
    patterns = " ".join(word.raw for word in search.words[1:] if "%" not in word.raw)
    pieces = [patterns if one.text == PIPE_MARK else quote(one.text) for one in words]
    if not any(PIPE_MARK in piece for piece in pieces):
        yield " ".join((*pieces, patterns))


def _supplied_commands(layers: tuple[Layer, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands with known words that get operands from elsewhere."""
    for layer in layers:
        words = layer.words[:-1]
        if layer.words[-1:] == (SUPPLIED,) and all(
            word.is_literal or PIPE_MARK in word.text for word in words
        ):
            yield words


def _inner(layer: Layer) -> tuple[list[Layer], Texts]:
    """Return the next layers, and the texts that a shell runs."""
    first, rest = layer.words[0], layer.words[1:]
    if not first.is_literal:
        return [], Texts()
    name = layer.program
    program_record = program_named(name)
    if program_record.is_shell:
        return [], of_shell(name, rest)
    if program_record.commands is not None:
        commands, texts = program_record.commands(rest)
        return [inner for words in commands for inner in inner_layers(layer, words)], texts
    if program_record.runner is not None:
        return after_subcommand(layer, program_record.runner, rest), Texts()
    if program_record.wrapper is not None:
        return inside(layer, name, program_record.wrapper, rest)
    return [], Texts()
