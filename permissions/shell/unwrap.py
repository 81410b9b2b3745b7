"""Looks through programs that run other programs: `timeout`, `sudo`, `env`, `xargs`, `sh -c`.

An allow rule sees through a short fixed list only; deny and ask rules see through all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from shlex import quote

from permissions.glob_text import UNKNOWN
from permissions.record import record
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.find_command import FOUND, exec_commands, is_below_roots
from permissions.shell.shell_texts import (
    Texts,
    joined,
    of_aliases,
    of_awk,
    of_callbacks,
    of_file,
    of_parallel,
    of_shell,
)
from permissions.shell.syntax import PIPE_MARK, Word
from permissions.shell.wrappers import RUNNERS, SHELLS, WRAPPERS, Wrapper

MAX_LAYERS = 12
"""Wrappers around wrappers that are looked through; deeper ones count as hidden."""

MAX_SUPPLIED = 32
"""Operands from a visible input of xargs that are looked at."""

SUPPLIED = Word("{}", PIPE_MARK, splits=False)
"""Stands for operands that come from elsewhere (`xargs`, `find -exec`)."""


@record(frozen=True, slots=True)
class Layer:
    """A command as one of the programs around it would run it; the first is the whole command."""

    words: tuple[Word, ...]
    is_open_to_allow: bool
    """May an allow rule match here?"""
    assignments: tuple[str, ...] = ()
    """Names that wrappers (`env A=1`) set on the way here."""
    folder: str = ""
    """Where it runs, as `env -C` says it: from the shell's folder, "" for that one itself."""
    is_elsewhere: bool = False
    """Runs on another machine or in a container: its paths are not paths here."""


@record(frozen=True, slots=True)
class Unwrapped:
    """All layers of one command."""

    layers: tuple[Layer, ...]
    scripts: tuple[str, ...]
    """Texts that a shell will run (`sh -c`, `eval`, `trap`)."""
    scripts_elsewhere: tuple[str, ...]
    """The same on another machine or in a container: their paths are not paths here."""
    hidden: str
    """Why something that runs is out of sight; empty when nothing is."""
    reader: Reader | None
    """The innermost shell that takes its commands from its input."""


@record(frozen=True, slots=True)
class Reader:
    """A shell that takes its commands from its input."""

    name: str
    folder: str
    is_elsewhere: bool

    def script(self, text: str) -> str:
        """Return the text as this command's own shell would have to run it."""
        return _in_folder(text, self.folder)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=", re.DOTALL)


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Return every layer of a command; its assignments are not part of `words`."""
    layers = [Layer(words, True)]
    scripts: list[str] = []
    elsewhere: list[str] = []
    hidden = ""
    reader: Reader | None = None
    # The list grows while it is read: each layer adds the commands that it would run.
    for layer in layers:
        if len(layers) > MAX_LAYERS:
            hidden = hidden or "wrapped too deeply"
            break
        if layer.words:
            found, texts = _inner(layer)
            layers.extend(found)
            is_away = layer.is_elsewhere or program_of(layer.words[0]) == "ssh"
            (elsewhere if is_away else scripts).extend(
                _in_folder(text, layer.folder) for text in texts.scripts
            )
            hidden = hidden or texts.hidden
            if texts.reader:
                reader = Reader(texts.reader, layer.folder, is_away)
    return Unwrapped(tuple(layers), tuple(scripts), tuple(elsewhere), hidden, reader)


def supplied_texts(layers: tuple[Layer, ...], given: str | None) -> Iterator[str]:
    """Yield what xargs runs, where its input is plain to see."""
    if given is None or any(mark in given for mark in "'\"\\"):
        return
    for layer in layers:
        if layer.words[-1:] != (SUPPLIED,):
            continue
        words = [word.text for word in layer.words[:-1]]
        if any(not word.is_literal and PIPE_MARK not in word.text for word in layer.words[:-1]):
            continue
        operands = given.split()[:MAX_SUPPLIED]
        if len(operands) > 1:
            yield " ".join(quote(word) for word in (*words, *operands))
        for operand in operands:
            put = [word.replace(PIPE_MARK, operand) for word in words]
            yield " ".join(quote(word) for word in (*put, operand))


def program_of(word: Word) -> str:
    """Return the base name of a program; a path is looked through."""
    return word.plain.rpartition("/")[2]


def _in_folder(text: str, folder: str) -> str:
    if not folder:
        return text
    place = '"${_}"' if UNKNOWN in folder else quote(folder)
    return f"cd {place} && {{\n{text}\n}}"


def _inner(layer: Layer) -> tuple[list[Layer], Texts]:
    """Return the next layers, and the texts that a shell runs."""
    first, rest = layer.words[0], layer.words[1:]
    if not first.is_literal:
        return [], Texts()
    name = program_of(first)
    if name in SHELLS:
        return [], of_shell(name, rest)
    given = rest[1:] if rest and rest[0].text == "--" else rest
    match name:
        case "eval":
            return [], joined(given, "eval")
        case "trap":
            return [], joined(given[:1], "trap") if len(given) > 1 else Texts()
        case "alias":
            return [], of_aliases(rest)
        case "source" | "." if given:
            return [], of_file(name, given[0])
        case "at" | "batch" if not any(word.text.startswith("-") for word in rest):
            return [], Texts(reader=name)
        case "mapfile" | "readarray" | "compgen" | "complete":
            return [], of_callbacks(rest)
        case "awk" | "gawk" | "mawk" | "nawk":
            return [], of_awk(rest)
        case "hash":
            return _after_option(layer, rest, frozenset({"-p"})), Texts()
        case "find":
            return _find(layer, rest), Texts()
        case "fd" | "fdfind":
            return _after_option(layer, rest, _set("-x -X --exec --exec-batch")), Texts()
        case "git":
            return _git(layer, rest)
    if name in RUNNERS:
        return _runner(layer, name, rest), Texts()
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return [], Texts()
    if name in ("watch", "flock", "script", "sg", "runuser") or (
        name == "env" and _has(_arguments(wrapper, rest), _SPLIT_STRING)
    ):
        return _joined(layer, name, wrapper, rest)
    if name == "command" and rest and re.fullmatch(r"-\w*[vV]\w*", rest[0].plain):
        # `command -v x` looks x up, nothing runs.
        return [], Texts()
    return _wrapped(layer, name, wrapper, rest)


def _wrapped(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], Texts]:
    """Return the command inside; more than one where it is not certain where it starts."""
    arguments = _arguments(wrapper, rest)
    options, operands = arguments, arguments.operands[wrapper.operands :]
    if name == "env" and operands and operands[0].text == "-":
        # As good as `-i`: options may still follow.
        return _wrapped(layer, name, wrapper, (Word("-i", "-i"), *_before(rest), *operands[1:]))
    names: list[str] = []
    while wrapper.assignments and operands:
        match = _ASSIGNMENT.match(operands[0].text)
        if match is None:
            break
        names.append(match[1])
        operands = operands[1:]
    is_certain = not arguments.injectable or name == "xargs"
    texts = Texts(hidden="" if is_certain else f"what {name} makes of words that are not known")
    if name == "parallel":
        operands, texts = of_parallel(operands)
    if not operands:
        starts_shell = name == "ssh" or (name in ("sudo", "doas") and options.has("-s", "-i"))
        return [], Texts(hidden=texts.hidden, reader=name) if starts_shell else texts
    is_open = layer.is_open_to_allow and (
        wrapper.is_open_to_allow or (name == "xargs" and not arguments.options)
    )
    if wrapper.supplies:
        operands = (*_supplied(operands, options), SUPPLIED)
    inner = Layer(
        operands,
        is_open,
        (*layer.assignments, *names),
        _moved(layer.folder, wrapper, options),
        layer.is_elsewhere or name == "ssh",
    )
    if name == "ssh" and is_certain and all(word.is_literal for word in operands):
        # The other side's shell reads the words as one text.
        texts = Texts((" ".join(word.text for word in operands),))
    found = [inner]
    if not is_certain:
        # An option whose value is empty takes the word behind it, and everything moves up.
        later = (operands[1:], operands[2:])
        found.extend(replace(inner, words=more, is_open_to_allow=False) for more in later if more)
    return found, texts


def _arguments(wrapper: Wrapper, rest: tuple[Word, ...]) -> Arguments:
    """Split what a wrapper is given, up to the command that it runs."""
    while True:
        found = split_arguments(
            rest, valued=wrapper.valued, valued_long=wrapper.valued_long, stops_at_operand=True
        )
        own, others = rest[: len(rest) - len(found.operands)], found.operands
        last = own[-1].plain if own else ""
        full = next((name for name in wrapper.valued_long if name.startswith(last)), "")
        if len(last) < 3 or not last.startswith("--") or full in ("", last):
            return found
        # `env --chd ..`: shortened, it takes the word behind it all the same.
        rest = (*own[:-1], Word(own[-1].raw, full), *others)


def _before(rest: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the options in front of `env -`."""
    return rest[: next(i for i, word in enumerate(rest) if word.text == "-")]


def _supplied(operands: tuple[Word, ...], options: Arguments) -> tuple[Word, ...]:
    """Mark where xargs puts a line of its input."""
    if not options.has("-I", "-i", "--replace"):
        return operands
    given = options.values("-I", "-i", "--replace")
    mark = given[0].text if given else "{}"
    return tuple(
        Word(word.raw, word.text.replace(mark, PIPE_MARK)) if mark in word.text else word
        for word in operands
    )


def _moved(folder: str, wrapper: Wrapper, options: Arguments) -> str:
    """Return where a wrapper runs its command."""
    if wrapper.loses_folder or _has(options, wrapper.losing):
        return UNKNOWN
    if not _has(options, wrapper.moving):
        return folder
    values = [one.value for one in options.options if _is_one_of(one.name, wrapper.moving)]
    if not all(value is not None and value.is_literal and value.text for value in values):
        return UNKNOWN
    # Given twice, the last one counts, from where the wrapper was started.
    last = values[-1].text if values[-1] is not None else UNKNOWN
    return f"{folder}/{last}" if folder and not last.startswith("/") else last


def _has(options: Arguments, names: frozenset[str]) -> bool:
    return any(_is_one_of(one.name, names) for one in options.options)


def _is_one_of(name: str, names: frozenset[str]) -> bool:
    """Is it one of them, or the beginning of a long one, as GNU programs accept it?"""
    return name in names or (
        len(name) > 2 and name.startswith("--") and any(one.startswith(name) for one in names)
    )


def _find(layer: Layer, rest: tuple[Word, ...]) -> list[Layer]:
    """Return the commands of `-exec` and its like."""
    found: list[Layer] = []
    for command in exec_commands(rest):
        known = FOUND if is_below_roots(rest, command) else SUPPLIED
        words = tuple(
            word if "{}" not in word.text else known if word.text == "{}" else SUPPLIED
            for word in command
        )
        found.extend(_closed(layer, words))
    return found


def _after_option(layer: Layer, rest: tuple[Word, ...], options: frozenset[str]) -> list[Layer]:
    for position, word in enumerate(rest):
        if word.text in options and position + 1 < len(rest):
            return _closed(layer, (*rest[position + 1 :], SUPPLIED))
    return []


def _closed(layer: Layer, words: tuple[Word, ...]) -> list[Layer]:
    """Return a layer and, as more than one may follow, the layers inside it."""
    return [replace(layer, words=words, is_open_to_allow=False)]


def _git(layer: Layer, rest: tuple[Word, ...]) -> tuple[list[Layer], Texts]:
    texts: list[str] = []
    for position, word in enumerate(rest):
        text = word.plain
        value = rest[position + 1] if text == "-c" and position + 1 < len(rest) else None
        follows_option = position > 0 and rest[position - 1].plain in _GIT_VALUED
        if not text.startswith("-") and not follows_option:
            break
        if value is None:
            continue
        if not value.is_literal:
            return [], Texts(hidden="git -c sets something that is not known before")
        key, _, setting = value.text.partition("=")
        if key.lower().startswith("alias."):
            if setting.startswith("!"):
                texts.append(setting[1:])
            else:
                texts.append(f"git {setting}")
    runs_texts = any(word.text in ("rebase", "difftool", "filter-branch") for word in rest)
    for position, word in enumerate(rest[:-1] if runs_texts else ()):
        # `git rebase --exec` and the filters of `git filter-branch` are texts for a shell.
        if word.text in _GIT_TEXTS and rest[position + 1].is_literal:
            texts.append(rest[position + 1].text)
    subcommand = next((i for i, w in enumerate(rest) if w.text in ("run", "foreach")), None)
    if subcommand is not None and any(
        word.text in ("bisect", "submodule") for word in rest[:subcommand]
    ):
        inner = rest[subcommand + 1 :]
        if len(inner) == 1 and inner[0].is_literal:
            return [], Texts((*texts, inner[0].text))
        if inner:
            return _closed(layer, inner), Texts(tuple(texts))
    return [], Texts(tuple(texts))


_GIT_TEXTS = _set(
    "-x --exec --extcmd --tree-filter --index-filter --msg-filter --commit-filter --env-filter "
    "--parent-filter --tag-name-filter"
)
_GIT_VALUED = _set("-c -C --git-dir --work-tree --namespace --config-env --exec-path")


def _runner(layer: Layer, name: str, rest: tuple[Word, ...]) -> list[Layer]:
    if not rest or rest[0].plain not in RUNNERS[name]:
        return []
    arguments = split_arguments(
        rest[1:],
        valued="pceuwvnhl" if name in ("docker", "podman", "kubectl") else "pc",
        valued_long=_set("--package --with --from --python --env --user --workdir --volume --name"),
        stops_at_operand=True,
    )
    operands = arguments.operands
    if name in ("docker", "podman", "kubectl", "direnv", "asdf"):
        operands = operands[1:]
    if operands and operands[0].plain == "--":
        operands = operands[1:]
    found = _closed(layer, operands) if operands else []
    if name not in ("docker", "podman", "kubectl"):
        return found
    return [replace(inner, is_elsewhere=True) for inner in found]


_SPLIT_STRING = frozenset({"-S", "--split-string"})


def _split_string(wrapper: Wrapper, rest: tuple[Word, ...]) -> Texts:
    """Read `env -S text words…`: the words of the text, and those behind it, in its place."""
    for end, word in enumerate(rest, start=1):
        if re.match(r"-[A-Za-z]*S|--s", word.plain) is None:
            continue
        options = _arguments(wrapper, rest[:end])
        values = [one.value for one in options.options if _is_one_of(one.name, _SPLIT_STRING)]
        if not values:
            continue
        text = rest[end : end + 1] if values[-1] is None else (values[-1],)
        # What stands behind it is handed on as it is.
        behind = [
            Word(one.raw, quote(one.text)) if one.is_literal else one
            for one in rest[end + (values[-1] is None) :]
        ]
        # The text holds options of env, too.
        found = joined((Word("env", "env"), *text, *behind), "env -S")
        place = _moved("", wrapper, options)
        hidden = found.hidden
        if any("\\" in one.text for one in text):
            # Its escapes are not those of a shell: `\\_` is a blank.
            hidden = hidden or "env -S with escapes of its own"
        return Texts(tuple(_in_folder(one, place) for one in found.scripts), hidden)
    return Texts(hidden="env -S with a text that is not found")


def _joined(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], Texts]:
    arguments = _arguments(wrapper, rest)
    if name == "env":
        return [], _split_string(wrapper, rest)
    texts = arguments.values("-c", "--command")
    is_login = name == "sg" and bool(arguments.operands) and arguments.operands[0].plain == "-"
    operands = arguments.operands[wrapper.operands + is_login :]
    if name in ("script", "runuser", "sg") and texts:
        operands = ()
    elif name == "script":
        # Without a command it starts a shell, and its operand is the file it records in.
        operands = ()
    if name in ("flock", "sg") and operands and operands[0].plain == "-c":
        texts, operands = operands[1:2], ()
    elif name == "sg":
        # What follows the group is one text for a shell.
        texts, operands = (*texts, *operands[:1]), ()
    found = joined(texts, name)
    if name == "watch" and operands:
        more = joined(operands, name)
        found = Texts((*found.scripts, *more.scripts), found.hidden or more.hidden)
    return (_closed(layer, operands) if operands else []), found
