"""Programs that run a command among their arguments, each in a way of its own.

`find -exec`, `fd -x`, `git bisect run`, `docker run`: no allow rule matches what they run.
"""

from __future__ import annotations

from msgspec.structs import replace

from permissions.shell.access import names
from permissions.shell.arguments import split_arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.programs.find_command import FOUND, exec_commands, is_below_roots
from permissions.shell.syntax import Word
from permissions.shell.wrappers.layers import SUPPLIED, Layer, closed
from permissions.shell.wrappers.wrapper_table import RUNNERS


def find(layer: Layer, rest: tuple[Word, ...]) -> list[Layer]:
    """Return the commands of `-exec` and its like."""
    found: list[Layer] = []
    for command in exec_commands(rest):
        known = FOUND if is_below_roots(rest, command) else SUPPLIED
        words = tuple(
            word if "{}" not in word.text else known if word.text == "{}" else SUPPLIED
            for word in command
        )
        found.extend(closed(layer, words))
    return found


def after_option(layer: Layer, rest: tuple[Word, ...], options: frozenset[str]) -> list[Layer]:
    """Return the command behind the first of these options (`fd -x`, `hash -p`)."""
    for position, word in enumerate(rest):
        if word.text in options and position + 1 < len(rest):
            return closed(layer, (*rest[position + 1 :], SUPPLIED))
    return []


def git(layer: Layer, rest: tuple[Word, ...]) -> tuple[list[Layer], Texts]:
    """Return what git's aliases, filters and `run` subcommands start."""
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
            return closed(layer, inner), Texts(tuple(texts))
    return [], Texts(tuple(texts))


_GIT_TEXTS = names(
    "-x --exec --extcmd --tree-filter --index-filter --msg-filter --commit-filter --env-filter "
    "--parent-filter --tag-name-filter"
)
_GIT_VALUED = names("-c -C --git-dir --work-tree --namespace --config-env --exec-path")


def runner(layer: Layer, name: str, rest: tuple[Word, ...]) -> list[Layer]:
    """Return the command behind a subcommand of one of `RUNNERS` (`uv run`, `docker exec`)."""
    if not rest or rest[0].plain not in RUNNERS[name]:
        return []
    arguments = split_arguments(
        rest[1:],
        valued="pceuwvnhl" if name in _CONTAINERS else "pcn" if name in _ENVIRONMENTS else "pc",
        valued_long=names(
            "--package --with --from --python --env --user --workdir --volume --name"
        ),
        stops_at_operand=True,
    )
    operands = arguments.operands
    if name in _CONTAINERS or name in _NAMES_FIRST:
        operands = operands[1:]
    if operands and operands[0].plain == "--":
        operands = operands[1:]
    found = closed(layer, operands) if operands else []
    if name not in _CONTAINERS:
        return found
    return [replace(inner, is_elsewhere=True) for inner in found]


_CONTAINERS = names("docker podman kubectl docker-compose")
_ENVIRONMENTS = names("conda mamba micromamba")
_NAMES_FIRST = names("direnv asdf aws-vault chamber")
"""Runners that are told where to run before they are told what."""
