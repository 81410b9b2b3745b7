"""Looks through programs that run other programs: `timeout`, `sudo`, `env`, `xargs`, `sh -c`.

An allow rule sees through a short fixed list only; deny and ask rules see through all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from permissions.glob_text import UNKNOWN
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import HOME_MARK, PIPE_MARK, PWD_MARK, Word
from permissions.shell.wrappers import RUNNERS, SHELLS, WRAPPERS, Wrapper

MAX_LAYERS = 12
"""Wrappers around wrappers that are looked through; deeper ones count as hidden."""

SUPPLIED = Word("{}", PIPE_MARK, splits=False)
"""Stands for operands that come from elsewhere (`xargs`, `find -exec`)."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A command as one of the programs around it would run it; the first is the whole command."""

    words: tuple[Word, ...]
    is_open_to_allow: bool
    """May an allow rule match here?"""
    assignments: tuple[str, ...] = ()
    """Names that wrappers (`env A=1`) set on the way here."""
    moves: bool = False
    """Runs in another folder than the shell's (`env -C`)."""
    is_elsewhere: bool = False
    """Runs on another machine or in a container: its paths are not paths here."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """All layers of one command."""

    layers: tuple[Layer, ...]
    scripts: tuple[str, ...]
    """Texts that a shell will run (`sh -c`, `eval`, `trap`)."""
    scripts_elsewhere: tuple[str, ...]
    """The same on another machine or in a container: their paths are not paths here."""
    hidden: str
    """Why something that runs is out of sight; empty when nothing is."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


READS_INPUT = "reads commands from its input"
"""What is hidden when a shell is given neither a text nor a file."""

_UNKNOWN_PIECES = str.maketrans(dict.fromkeys((UNKNOWN, PIPE_MARK, HOME_MARK, PWD_MARK), "${_}"))
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=", re.DOTALL)


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Return every layer of a command; its assignments are not part of `words`."""
    layers = [Layer(words, True)]
    scripts: list[str] = []
    elsewhere: list[str] = []
    hidden = ""
    # The list grows while it is read: each layer adds the commands that it would run.
    for layer in layers:
        if len(layers) > MAX_LAYERS:
            hidden = hidden or "wrapped too deeply"
            break
        if layer.words:
            found, texts, reason = _inner(layer)
            layers.extend(found)
            is_away = layer.is_elsewhere or program_of(layer.words[0]) == "ssh"
            (elsewhere if is_away else scripts).extend(texts)
            if not (layer.is_elsewhere and reason.endswith(READS_INPUT)):
                hidden = hidden or reason
    return Unwrapped(tuple(layers), tuple(scripts), tuple(elsewhere), hidden)


def program_of(word: Word) -> str:
    """Return the base name of a program; a path is looked through."""
    return word.plain.rpartition("/")[2]


def _inner(layer: Layer) -> tuple[list[Layer], list[str], str]:
    """Return the next layers, texts that a shell runs, and why something is hidden."""
    first, rest = layer.words[0], layer.words[1:]
    if not first.is_literal:
        return [], [], ""
    name = program_of(first)
    if name in SHELLS:
        return _shell(name, rest)
    given = rest[1:] if rest and rest[0].text == "--" else rest
    if name == "eval":
        return [], *_text(given, "eval")
    if name == "trap":
        return [], *(_text(given[:1], "trap") if len(given) > 1 else ([], ""))
    if name == "alias":
        return [], *_aliases(rest)
    if name == "find":
        return _find(layer, rest), [], ""
    if name in ("fd", "fdfind"):
        return _after_option(layer, rest, _set("-x -X --exec --exec-batch")), [], ""
    if name == "git":
        return _git(layer, rest)
    if name in RUNNERS:
        return _runner(layer, name, rest), [], ""
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return [], [], ""
    if name in ("watch", "flock", "script", "sg", "runuser") or (
        name == "env" and _has_split_string(rest)
    ):
        return _joined(layer, name, wrapper, rest)
    if name == "command" and rest and re.fullmatch(r"-\w*[vV]\w*", rest[0].plain):
        # `command -v x` looks x up, nothing runs.
        return [], [], ""
    found, is_certain = _wrapped(layer, name, wrapper, rest)
    if not is_certain:
        return found, [], f"what {name} makes of words that are not known"
    if name == "ssh" and found and all(word.is_literal for word in found[0].words):
        # The other side's shell reads the words as one text.
        return found, [" ".join(word.text for word in found[0].words)], ""
    return found, [], ""


def _wrapped(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], bool]:
    """Return the command inside, and whether it surely starts there."""
    arguments = split_arguments(
        rest, valued=wrapper.valued, valued_long=wrapper.valued_long, stops_at_operand=True
    )
    operands = arguments.operands[wrapper.operands :]
    names: list[str] = []
    while wrapper.assignments and operands:
        match = _ASSIGNMENT.match(operands[0].text)
        if match is None:
            break
        names.append(match[1])
        operands = operands[1:]
    is_certain = not arguments.injectable or name == "xargs"
    if not operands:
        return [], is_certain
    is_open = layer.is_open_to_allow and (
        wrapper.is_open_to_allow or (name == "xargs" and not arguments.options)
    )
    if wrapper.supplies:
        operands = (*operands, SUPPLIED)
    inner = Layer(
        operands,
        is_open,
        (*layer.assignments, *names),
        layer.moves or any(arguments.has(option) for option in wrapper.moving),
        layer.is_elsewhere or name == "ssh",
    )
    return [inner], is_certain


def _shell(name: str, rest: tuple[Word, ...]) -> tuple[list[Layer], list[str], str]:
    position = 0
    while position < len(rest):
        word = rest[position]
        text = word.plain
        if not word.is_literal and text.startswith("-"):
            return [], [], f"options of {name} that are not known"
        if text in ("--command", "-c") or re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", text):
            script = rest[position + 1 : position + 2]
            while script and script[0].plain.startswith("-"):
                position += 1
                script = rest[position + 1 : position + 2]
            return [], *_text(script, f"{name} -c")
        if text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-l", "-u", "-g", "-s"):
            if text == "-s" and name != "su":
                return [], [], f"{name} {READS_INPUT}"
            position += 1 if text == "-l" else 2
            continue
        if text.startswith(("-", "+")) and text != "-":
            position += 1
            continue
        if text == "-" and name != "su":
            return [], [], f"{name} {READS_INPUT}"
        if name == "su":
            position += 1
            continue
        return [], [], ""
    return [], [], f"{name} {READS_INPUT}"


def _text(words: Sequence[Word], what: str) -> tuple[list[str], str]:
    if not words:
        return [], ""
    if not all(word.is_literal for word in words):
        # What is known of it may be enough for a deny; the rest keeps it from being allowed.
        known = " ".join(word.plain.translate(_UNKNOWN_PIECES) for word in words)
        return [known], f"{what} runs a text that is not known before"
    text = " ".join(word.text for word in words)
    return ([text], "") if text.strip("-") else ([], "")


def _aliases(words: Sequence[Word]) -> tuple[list[str], str]:
    texts: list[str] = []
    for word in words:
        _, equals, value = word.text.partition("=")
        if equals and not word.is_literal:
            return texts, "alias defines a text that is not known before"
        if equals:
            texts.append(value)
    return texts, ""


def _find(layer: Layer, rest: tuple[Word, ...]) -> list[Layer]:
    """Return the commands of `-exec` and its like."""
    found: list[Layer] = []
    position = 0
    while position < len(rest):
        if rest[position].text not in ("-exec", "-execdir", "-ok", "-okdir"):
            position += 1
            continue
        end = position + 1
        while end < len(rest) and rest[end].text not in (";", "+"):
            end += 1
        command = tuple(
            SUPPLIED if "{}" in word.text else word for word in rest[position + 1 : end]
        )
        if command:
            found.extend(_closed(layer, command))
        position = end + 1
    return found


def _after_option(layer: Layer, rest: tuple[Word, ...], options: frozenset[str]) -> list[Layer]:
    for position, word in enumerate(rest):
        if word.text in options and position + 1 < len(rest):
            return _closed(layer, (*rest[position + 1 :], SUPPLIED))
    return []


def _closed(layer: Layer, words: tuple[Word, ...]) -> list[Layer]:
    """Return a layer and, as more than one may follow, the layers inside it."""
    first = Layer(words, False, layer.assignments, layer.moves, layer.is_elsewhere)
    return [first]


def _git(layer: Layer, rest: tuple[Word, ...]) -> tuple[list[Layer], list[str], str]:
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
            return [], [], "git -c sets something that is not known before"
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
            return [], [*texts, inner[0].text], ""
        if inner:
            return _closed(layer, inner), texts, ""
    return [], texts, ""


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


def _has_split_string(rest: Sequence[Word]) -> bool:
    return any(re.match(r"-[A-Za-z]*S|--split-string", word.plain) is not None for word in rest)


def _joined(
    layer: Layer, name: str, wrapper: Wrapper, rest: tuple[Word, ...]
) -> tuple[list[Layer], list[str], str]:
    arguments = split_arguments(
        rest, valued=wrapper.valued, valued_long=wrapper.valued_long, stops_at_operand=True
    )
    texts = arguments.values("-S", "--split-string", "-c", "--command")
    if name == "env":
        return [], *_text((*texts, *arguments.operands), "env -S")
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
    found, reason = _text(texts, name)
    if name == "watch" and operands:
        more, why = _text(operands, name)
        return _closed(layer, operands), [*found, *more], reason or why
    return (_closed(layer, operands) if operands else []), found, reason
