"""The commands that git starts: aliases, filters, `run` subcommands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from permissions.shell.access import names
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.program import Commands
from permissions.shell.syntax import Word

_COMMAND_TEXTS = names(
    "-x --exec --extcmd --tree-filter --index-filter --msg-filter --commit-filter --env-filter "
    "--parent-filter --tag-name-filter"
)
_VALUED = names("-c -C --git-dir --work-tree --namespace --config-env --exec-path")


def commands(words: tuple[Word, ...]) -> Commands:
    """Return the commands that git's aliases, filters and `run` subcommands start."""
    texts = _aliases(words)
    if texts is None:
        return [], Texts(unknown_reason="git -c sets something that is not known before")
    runs_texts = any(word.text in ("rebase", "difftool", "filter-branch") for word in words)
    for option, value in pairwise(words if runs_texts else ()):
        # `git rebase --exec` and the filters of `git filter-branch` are texts for a shell.
        if option.text in _COMMAND_TEXTS and value.is_literal:
            texts.append(value.text)
    inner = _after_run(words)
    if len(inner) == 1 and inner[0].is_literal:
        return [], Texts((*texts, inner[0].text))
    return [inner] if inner else [], Texts(tuple(texts))


def _after_run(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command of `bisect run` and `submodule foreach`."""
    position = next((i for i, w in enumerate(words) if w.text in ("run", "foreach")), 0)
    runs = any(word.text in ("bisect", "submodule") for word in words[:position])
    return words[position + 1 :] if runs else ()


def _aliases(words: Sequence[Word]) -> list[str] | None:
    """Return the commands that `-c alias.x=…` defines; None for an unknown setting."""
    texts: list[str] = []
    for position, word in enumerate(words):
        follows_option = position > 0 and words[position - 1].plain in _VALUED
        if not word.plain.startswith("-") and not follows_option:
            break
        for value in words[position + 1 : position + 2] if word.plain == "-c" else ():
            if not value.is_literal:
                return None
            key, _, setting = value.text.partition("=")
            if key.lower().startswith("alias."):
                texts.append(setting[1:] if setting.startswith("!") else f"git {setting}")
    return texts


def configured_commands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the aliases and helpers that `git config` sets, if they are commands."""
    if any(word.text == "config" for word in words):
        yield from (word.text[1:] for word in words if word.text.startswith("!"))
