"""Completion scripts for bash, zsh and fish, from a tree of commands. Pure.

Each script is static: the shell completes without starting the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct


class Takes(StrEnum):
    """The kind of value that an option takes."""

    NOTHING = "nothing"
    TEXT = "text"
    WORD = "word"
    """One of the option's listed words."""
    FILE = "file"
    DIRECTORY = "folder"


class Flag(Struct, frozen=True):
    """An option with all its names."""

    names: tuple[str, ...]
    help: str
    takes: Takes = Takes.NOTHING
    words: tuple[str, ...] = ()


class Node(Struct, frozen=True):
    """A command with its subcommands."""

    name: str
    help: str
    flags: tuple[Flag, ...] = ()
    children: tuple[Node, ...] = ()
    words: tuple[str, ...] = ()
    """Possible arguments; empty if any are."""
    next_words: Mapping[str, tuple[str, ...]] = {}
    """Possible second arguments by the first argument; empty without a second argument."""

    def second_arguments(self) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Yield possible second arguments with their first arguments."""
        for next_words in dict.fromkeys(self.next_words.values()):
            yield next_words, [one for one, two in self.next_words.items() if two == next_words]

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Yield this command and all below it, each with its path (empty for this one)."""
        yield path, self
        for child in self.children:
            yield from child.walk((*path, child.name))


def bash_script(root: Node) -> str:
    """Return the script for bash 3.2 and newer; file names are left to readline."""
    steps: list[str] = []
    values: list[str] = []
    offers: list[str] = []
    for path, node in root.walk():
        command_path = " ".join(path)
        if path:
            steps.append(f'      "{" ".join(path[:-1])}:{path[-1]}") path="{command_path}" ;;')
        for flag in node.flags:
            if flag.takes is Takes.NOTHING:
                continue
            patterns = "|".join(f'"{command_path}:{name}"' for name in flag.names)
            values.append(f'    {patterns}) words="{" ".join(flag.words)}"; is_value=1 ;;')
        for word, next_words in node.next_words.items():
            values.append(
                f'    "{command_path}:{word}") words="{" ".join(next_words)}"; is_value=1 ;;'
            )
        names = " ".join(name for flag in node.flags for name in flag.names)
        words = " ".join((*(child.name for child in node.children), *node.words))
        offers.append(f'    "{command_path}") flags="{names}"; words="{words}" ;;')
    return "\n".join(
        [
            "# bash completion for agent-tui",
            "_agent_tui() {",
            '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local path="" words="" flags="" is_value="" i',
            "  COMPREPLY=()",
            "  for ((i = 1; i < COMP_CWORD; i++)); do",
            '    case "$path:${COMP_WORDS[i]}" in',
            *steps,
            "    esac",
            "  done",
            '  case "$path:$prev" in',
            *values,
            "  esac",
            '  if [[ -z "$is_value" ]]; then',
            '    case "$path" in',
            *offers,
            "    esac",
            '    if [[ "$cur" == -* ]]; then words="$flags"; fi',
            "  fi",
            '  if [[ -n "$words" ]]; then',
            '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "  fi",
            "}",
            "complete -o default -F _agent_tui agent-tui",
            "",
        ]
    )


def zsh_script(root: Node) -> str:
    """Return the script for zsh; installed as `_agent-tui` in a directory of `$fpath`."""
    functions = [line for path, node in root.walk() for line in _zsh_function(path, node)]
    return "\n".join(
        [
            "#compdef agent-tui",
            *functions,
            # If compinit loads the script, it is a function body; if sourced, it registers itself.
            'if [ "$funcstack[1]" = "_agent-tui" ]; then _agent_tui "$@"',
            "else compdef _agent_tui agent-tui; fi",
            "",
        ]
    )


def _zsh_function(path: tuple[str, ...], node: Node) -> Iterator[str]:
    name = "_".join(("_agent_tui", *path))
    yield f"{name}() {{"
    yield "  local curcontext=$curcontext state line"
    yield "  typeset -A opt_args"
    yield "  _arguments -C -S \\"
    for flag in node.flags:
        for spelling in flag.names:
            yield f"    {_zsh_flag(flag, spelling)} \\"
    if not node.children:
        if node.next_words:
            yield from _zsh_second_argument(node)
        else:
            rest = f"*:argument:({' '.join(node.words)})" if node.words else "*::argument:_files"
            yield f"    {_single_quote(rest)}"
        yield "}"
        return
    yield "    '1: :->first' '*:: :->rest'"
    yield "  case $state in"
    descriptions = " ".join(
        _single_quote(f"{child.name}:{child.help.replace(':', ' ')}") for child in node.children
    )
    yield f"    first) local -a found=({descriptions}); _describe command found ;;"
    yield "    rest) case $line[1] in"
    for child in node.children:
        yield f"      {child.name}) {name}_{child.name} ;;"
    yield "      *) _files ;;"
    yield "    esac ;;"
    yield "  esac"
    yield "}"


def _zsh_second_argument(node: Node) -> Iterator[str]:
    first = f"1:argument:({' '.join(node.words)})"
    yield f"    {_single_quote(first)} '2: :->second'"
    yield '  [[ $state == second ]] && case "$line[1]" in'
    for next_words, first_words in node.second_arguments():
        if next_words:
            yield f"    {'|'.join(first_words)}) compadd {' '.join(next_words)} ;;"
    yield "  esac"


def _zsh_flag(flag: Flag, spelling: str) -> str:
    # The asterisk allows repetition; brackets and colons in the help must be escaped.
    text = flag.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    text = text.replace(":", "\\:")
    value = {
        Takes.NOTHING: "",
        Takes.TEXT: ":value: ",
        Takes.WORD: f":value:({' '.join(flag.words)})",
        Takes.FILE: ":file:_files",
        Takes.DIRECTORY: ":folder:_files -/",
    }[flag.takes]
    return _single_quote(f"*{spelling}[{text}]{value}")


def fish_script(root: Node) -> str:
    """Return the script for fish 3 and newer."""
    lines = ["# fish completion for agent-tui"]
    for path, node in root.walk():
        condition = _fish_condition(root, path)
        for child in node.children:
            lines.append(
                f"complete -c agent-tui -n {condition} -f -a {child.name} -d {_fish(child.help)}"
            )
        if node.words:
            first = _fish_first_argument(condition, node)
            lines.append(f"complete -c agent-tui -n {first} -f -a {_fish(' '.join(node.words))}")
        for word, next_words in node.next_words.items():
            if next_words:
                second = condition[:-1] + f"; and __fish_prev_arg_in {word}'"
                lines.append(
                    f"complete -c agent-tui -n {second} -f -a {_fish(' '.join(next_words))}"
                )
        for flag in node.flags:
            lines.append(f"complete -c agent-tui -n {condition}{_fish_flag(flag)}")
    return "\n".join([*lines, ""])


def _fish_condition(root: Node, path: tuple[str, ...]) -> str:
    """Return a condition that the command line ends at this command, not at a subcommand."""
    node = root
    conditions: list[str] = []
    for word in path:
        conditions.append(f"__fish_seen_subcommand_from {word}")
        node = next(child for child in node.children if child.name == word)
    if node.children:
        child_names = " ".join(child.name for child in node.children)
        conditions.append(f"not __fish_seen_subcommand_from {child_names}")
    return _fish("; and ".join(conditions) or "true")


def _fish_first_argument(condition: str, node: Node) -> str:
    """Return the condition for completing the first argument."""
    if not node.next_words:
        return condition
    return condition[:-1] + f"; and not __fish_prev_arg_in {' '.join(node.words)}'"


def _fish_flag(flag: Flag) -> str:
    text = ""
    for name in flag.names:
        text += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    match flag.takes:
        case Takes.WORD:
            text += f" -x -a {_fish(' '.join(flag.words))}"
        case Takes.FILE:
            text += " -r -F"
        case Takes.DIRECTORY:
            text += " -x -a '(__fish_complete_directories)'"
        case Takes.TEXT:
            text += " -x"
        case Takes.NOTHING:
            pass
    return f"{text} -d {_fish(flag.help)}"


def _single_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Final[Mapping[str, Callable[[Node], str]]] = {
    "bash": bash_script,
    "fish": fish_script,
    "zsh": zsh_script,
}
