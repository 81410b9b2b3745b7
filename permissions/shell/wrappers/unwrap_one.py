"""Wrappers: programs such as `timeout`, `sudo` and `xargs` that run the rest of their words."""

from __future__ import annotations

import re
from shlex import quote

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.flow.nested_scripts import Texts, join_words, of_parallel
from permissions.shell.program import CommandRunner, Wrapper
from permissions.shell.syntax import PIPE_MARK, SUPPLIED, Word
from permissions.shell.wrappers.layers import Layer, in_directory, inner_layers

_ASSIGNMENT = compile_late(r"([A-Za-z_][A-Za-z0-9_]*)\+?=", re.DOTALL)


def inside(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], Texts]:
    """Return what the wrapper `name` runs with the words `rest`: layers, and texts for a shell."""
    if name in ("watch", "flock", "script", "sg", "runuser") or (
        name == "env" and _has(_arguments(wrapper, rest), _SPLIT_STRING)
    ):
        return _join_command(layer, name, wrapper, rest)
    if name == "command" and rest and re.fullmatch(r"-\w*[vV]\w*", rest[0].plain):
        # `command -v x` looks up x and runs nothing.
        return [], Texts()
    return _inner_commands(layer, name, wrapper, rest)


def _inner_commands(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], Texts]:
    """Return the inner command; several if its start is not certain."""
    arguments = _arguments(wrapper, rest)
    operands = arguments.operands[wrapper.operands :]
    if name == "env" and operands and operands[0].text == "-":
        # The same as `-i`: options may still follow.
        return _inner_commands(
            layer, name, wrapper, (Word("-i", "-i"), *_env_options(rest), *operands[1:])
        )
    variables, operands = _split_assignments(wrapper, operands)
    is_certain = not arguments.injectable or name == "xargs"
    texts = Texts(
        unknown_reason="" if is_certain else f"what {name} makes of words that are not known"
    )
    if name == "parallel":
        operands, texts = of_parallel(operands)
    if not operands:
        return [], _without_command(name, arguments, texts)
    if wrapper.supplies:
        operands = (*_mark_supplied(operands, arguments), SUPPLIED)
    inner = Layer(
        operands,
        layer.is_open_to_allow and _is_open(name, wrapper, arguments),
        (*layer.assignments, *variables),
        _new_directory(layer.directory, wrapper, arguments),
        layer.is_elsewhere or name == "ssh",
    )
    if not is_certain:
        return _shifted_layers(inner), texts
    if name == "ssh" and all(word.is_literal for word in operands):
        # The remote shell reads the words as one text.
        texts = Texts((" ".join(word.text for word in operands),))
    return [inner], texts


def _without_command(name: str, arguments: Arguments, texts: Texts) -> Texts:
    """Return what a wrapper runs if its words name no command."""
    is_shell = name == "ssh" or (name in ("sudo", "doas") and arguments.has("-s", "-i"))
    return Texts(unknown_reason=texts.unknown_reason, reader=name) if is_shell else texts


def _shifted_layers(inner: Layer) -> list[Layer]:
    """Return the command, and those that begin up to two words later.

    An option whose value expands to nothing takes the next word, and all words shift.
    """
    later = filter(None, (inner.words[1:], inner.words[2:]))
    return [inner, *(replace(inner, words=more, is_open_to_allow=False) for more in later)]


def _split_assignments(
    wrapper: Wrapper, operands: tuple[Word, ...]
) -> tuple[list[str], tuple[Word, ...]]:
    """Return the variables set before the command, and the command."""
    if operands and operands[0].text == "--" and not wrapper.is_open_to_allow:
        operands = operands[1:]
    variables: list[str] = []
    while wrapper.assignments and operands:
        match = _ASSIGNMENT.match(operands[0].text)
        if match is None:
            break
        variables.append(match[1])
        operands = operands[1:]
    return variables, operands


def _is_open(name: str, wrapper: Wrapper, options: Arguments) -> bool:
    return wrapper.is_open_to_allow or (name == "xargs" and not options.options)


def _arguments(wrapper: Wrapper, rest: tuple[Word, ...]) -> Arguments:
    """Split a wrapper's words, up to the command that it runs."""
    while True:
        arguments = split_arguments(
            rest,
            value_letters=wrapper.value_letters,
            value_options=names(wrapper.value_options),
            stops_at_operand=True,
        )
        own, others = rest[: len(rest) - len(arguments.operands)], arguments.operands
        last = own[-1].plain if own else ""
        full = next((name for name in names(wrapper.value_options) if name.startswith(last)), "")
        if len(last) < 3 or not last.startswith("--") or full in ("", last):
            return arguments
        # `env --chd ..`: an abbreviated option takes the next word, too.
        rest = (*own[:-1], Word(own[-1].raw, full), *others)


def _env_options(rest: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the options before `env -`."""
    return rest[: next(i for i, word in enumerate(rest) if word.text == "-")]


def _mark_supplied(operands: tuple[Word, ...], options: Arguments) -> tuple[Word, ...]:
    """Mark where xargs inserts a line of its input."""
    if not options.has("-I", "-i", "--replace"):
        return operands
    values = options.values("-I", "-i", "--replace")
    mark = values[0].text if values else "{}"
    return tuple(_put_in(word, mark) if mark in word.text else word for word in operands)


def _put_in(word: Word, mark: str) -> Word:
    """Return a word with what xargs inserts; at the start of the word, it may be an option."""
    return Word(word.raw, word.text.replace(mark, PIPE_MARK), word.text.startswith(mark))


def _new_directory(directory: str, wrapper: Wrapper, options: Arguments) -> str:
    """Return the directory in which a wrapper runs its command."""
    if wrapper.loses_directory or _has(options, names(wrapper.losing)):
        return UNKNOWN
    if not _has(options, names(wrapper.moving)):
        return directory
    moving = names(wrapper.moving)
    values = [one.value or _NO_WORD for one in options.options if _is_one_of(one.name, moving)]
    if not all(value.is_literal and value.text for value in values):
        return UNKNOWN
    # If repeated, the last one counts, relative to the directory of the wrapper.
    last = values[-1].text
    return f"{directory}/{last}" if directory and not last.startswith("/") else last


_NO_WORD = Word("", "")


def _has(options: Arguments, option_names: frozenset[str]) -> bool:
    return any(_is_one_of(one.name, option_names) for one in options.options)


def _is_one_of(name: str, option_names: frozenset[str]) -> bool:
    """Return whether it is one of them, or the start of a long one, as GNU programs accept it."""
    return name in option_names or (
        len(name) > 2
        and name.startswith("--")
        and any(one.startswith(name) for one in option_names)
    )


_SPLIT_STRING = frozenset({"-S", "--split-string"})


def _split_string(wrapper: Wrapper, rest: tuple[Word, ...]) -> Texts:
    """Read `env -S text words…`: the words of the text, followed by the other words."""
    for end, word in enumerate(rest, start=1):
        if re.match(r"-[A-Za-z]*S|--s", word.plain) is None:
            continue
        options = _arguments(wrapper, rest[:end])
        values = [one.value for one in options.options if _is_one_of(one.name, _SPLIT_STRING)]
        if not values:
            continue
        text = rest[end : end + 1] if values[-1] is None else (values[-1],)
        # The words after it are passed unchanged.
        later_words = [
            Word(one.raw, quote(one.text)) if one.is_literal else one
            for one in rest[end + (values[-1] is None) :]
        ]
        # The text contains options of env, too.
        texts = join_words((Word("env", "env"), *text, *later_words), "env -S")
        place = _new_directory("", wrapper, options)
        unknown_reason = texts.unknown_reason
        if any("\\" in one.text for one in text):
            # Its escapes differ from a shell's: `\\_` is a blank.
            unknown_reason = unknown_reason or "env -S with escapes of its own"
        return Texts(tuple(in_directory(one, place) for one in texts.scripts), unknown_reason)
    return Texts(unknown_reason="env -S with text that is not found")


def _join_command(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], Texts]:
    arguments = _arguments(wrapper, rest)
    if name == "env":
        return [], _split_string(wrapper, rest)
    texts = arguments.values("-c", "--command")
    operands = arguments.operands[wrapper.operands :]
    if name == "script" or (name == "runuser" and texts):
        # Without a command, script starts a shell, and its operand is the file it records in.
        operands = ()
    elif name == "sg":
        texts, operands = (*texts, *_after_group(arguments, bool(texts))), ()
    elif name == "flock" and operands and operands[0].plain == "-c":
        texts, operands = operands[1:2], ()
    shell_texts = join_words(texts, name)
    if name == "watch" and operands:
        more = join_words(operands, name)
        shell_texts = Texts(
            (*shell_texts.scripts, *more.scripts), shell_texts.unknown_reason or more.unknown_reason
        )
    return (inner_layers(layer, operands) if operands else []), shell_texts


def _after_group(arguments: Arguments, has_text: bool) -> tuple[Word, ...]:
    """Return the text after the group of `sg`; () if an option has the text."""
    operands = arguments.operands
    is_login = bool(operands) and operands[0].plain == "-"
    later_words = () if has_text else operands[1 + is_login :]
    return later_words[1:2] if later_words and later_words[0].plain == "-c" else later_words[:1]


_RUNNER_LONG = names("--package --with --from --python --env --user --workdir --volume --name")


def after_subcommand(layer: Layer, runner: CommandRunner, rest: tuple[Word, ...]) -> list[Layer]:
    """Return the command after a subcommand (`uv run`, `docker exec`)."""
    if not rest or rest[0].plain not in names(runner.subcommands):
        return []
    arguments = split_arguments(
        rest[1:],
        value_letters=runner.value_letters,
        value_options=_RUNNER_LONG,
        stops_at_operand=True,
    )
    operands = arguments.operands[runner.skip :]
    if operands and operands[0].plain == "--":
        operands = operands[1:]
    layers = inner_layers(layer, operands) if operands else []
    return (
        [replace(inner, is_elsewhere=True) for inner in layers] if runner.is_elsewhere else layers
    )
