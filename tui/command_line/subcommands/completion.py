"""`agent-tui completion`: scripts that complete options and subcommands in a shell.

They are generated from the command line's definition, so they contain every option; completing
does not run the program. Next: `tui.command_line.command_line` (the options),
`tui.command_line.shell_completion` (the script of each shell).
"""

from __future__ import annotations

from typing import Final

import click

from tui.command_line.shell_completion import SCRIPTS, Flag, Node, Takes

_HOW: Final = """\b
To install, in a folder that your shell searches:
  agent-tui completion bash >
    ~/.local/share/bash-completion/completions/agent-tui
  agent-tui completion zsh > ~/.zfunc/_agent-tui
    with  fpath=(~/.zfunc $fpath)  before compinit in ~/.zshrc
  agent-tui completion fish > ~/.config/fish/completions/agent-tui.fish
"""


@click.command("completion", short_help="Print the completion script for a shell.", epilog=_HOW)
@click.argument("shell", type=click.Choice(sorted(SCRIPTS)))
def command(shell: str) -> None:
    """Print the script that completes agent-tui's options and subcommands."""
    click.echo(SCRIPTS[shell](command_tree()), nl=False)


def command_tree() -> Node:
    """Return the tree of all commands and their options."""
    # No other command imports all subcommands.
    from tui.command_line.command_line import run
    from tui.command_line.subcommands import commands

    group = commands()
    context = click.Context(group, info_name="agent-tui", **group.context_settings)
    children = tuple(_children(group, context))
    return _node("agent-tui", run, click.Context(run, **run.context_settings), children)


def _children(command: click.Command, context: click.Context) -> list[Node]:
    if not isinstance(command, click.Group):
        return []
    nodes: list[Node] = []
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        if child is not None and not child.hidden:
            inner = click.Context(child, parent=context, info_name=name)
            nodes.append(_node(name, child, inner, tuple(_children(child, inner))))
    return nodes


def _node(
    name: str, command: click.Command, context: click.Context, children: tuple[Node, ...]
) -> Node:
    flags: list[Flag] = []
    arguments: list[click.Parameter] = []
    for parameter in command.get_params(context):
        if not isinstance(parameter, click.Option):
            arguments.append(parameter)
        elif not parameter.hidden:
            flags.append(_flag(parameter))
    words = _offers(arguments[0], context) if arguments else ()
    next_words: dict[str, tuple[str, ...]] = {}
    if words and len(arguments) > 1:
        for word in words:
            context.params[arguments[0].name or ""] = word
            next_words[word] = _offers(arguments[1], context)
    text = command.get_short_help_str(100)
    return Node(name, text, tuple(flags), children, words, next_words)


def _offers(argument: click.Parameter, context: click.Context) -> tuple[str, ...]:
    """Return the possible values of an argument, if they can be listed."""
    offers = argument.shell_complete(context, "")
    return tuple(str(offer.value) for offer in offers if offer.type == "plain")


def _flag(option: click.Option) -> Flag:
    # Only the first line of an option's help describes its purpose.
    text = (option.help or "").split("\n")[0].strip()
    names = (*option.opts, *option.secondary_opts)
    if option.is_flag or option.count:
        return Flag(names, text)
    kind = option.type
    if isinstance(kind, click.Choice):
        return Flag(names, text, Takes.WORD, tuple(str(choice) for choice in kind.choices))
    if isinstance(kind, click.Path):
        return Flag(names, text, Takes.FILE if kind.file_okay else Takes.DIRECTORY)
    if (option.metavar or "").startswith("FILE"):
        return Flag(names, text, Takes.FILE)
    # An optional value, as of `--resume`, is not completed.
    return Flag(names, text, Takes.NOTHING if option.flag_value == "" else Takes.TEXT)
