"""Settings of the user or the machine that programs change without naming the file.

`git config --global` writes `~/.gitconfig` as surely as a redirection to it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from permissions.shell.access import Access, AccessKind, names
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import HOME_MARK, Word


def settings_accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return the settings file that a command changes; [] for one that changes none."""
    reader = _READERS.get(program)
    path = "" if reader is None else reader(words)
    if not path:
        return []
    text = f"{HOME_MARK}{path[1:]}" if path.startswith("~") else path
    return [Access(AccessKind.WRITE, Word(path, text))]


_GIT_WRITES = names(
    "set unset rename-section remove-section edit --unset --unset-all --add --replace-all "
    "--rename-section --remove-section -e --edit"
)
_GIT_READS = names("get list --get --get-all --get-regexp --get-urlmatch --list -l")


def _git(words: Sequence[Word]) -> str:
    found = split_arguments(words, valued="Cc", stops_at_operand=True)
    rest = found.operands[1:]
    if not found.operands or found.operands[0].text != "config":
        return ""
    texts = {word.text for word in rest}
    # A key alone is asked for; with a value it is set.
    operands = [word for word in rest if not word.plain.startswith("-")]
    if texts & _GIT_READS or not (texts & _GIT_WRITES or len(operands) > 1):
        return ""
    if any(_is_short(text, "--global") for text in texts):
        return "~/.gitconfig"
    return "/etc/gitconfig" if any(_is_short(text, "--system") for text in texts) else ""


def _is_short(text: str, option: str) -> bool:
    """Is it an option of git, maybe shortened?"""
    return len(text) > 3 and option.startswith(text)


def _npm(words: Sequence[Word]) -> str:
    texts = [word.text for word in words]
    operands = [text for text in texts if not text.startswith("-")]
    verb = operands[1:2] if operands[:1] in (["config"], ["c"]) else operands[:1]
    sets = verb[:1] == ["set"] or (verb != operands[:1] and not _NPM_VERBS.isdisjoint(verb))
    is_project = "--location=project" in texts or "project" in operands
    return "~/.npmrc" if sets and not is_project else ""


_NPM_VERBS = names("delete rm edit fix")


def _after(path: str, *verbs: str, unless: str = "") -> Callable[[Sequence[Word]], str]:
    """Return a reader of programs whose first operands are one of `verbs`."""
    wanted = [verb.split() for verb in verbs]
    excused = names(unless)

    def read(words: Sequence[Word]) -> str:
        operands = [word.text for word in words if not word.plain.startswith("-")]
        is_meant = any(operands[: len(verb)] == verb for verb in wanted)
        return path if is_meant and excused.isdisjoint(word.text for word in words) else ""

    return read


def _with_option(path: str, verb: str, options: str) -> Callable[[Sequence[Word]], str]:
    """Return a reader of programs that one of `options` behind `verb` makes write."""
    wanted = names(options)

    def read(words: Sequence[Word]) -> str:
        texts = [word.text for word in words]
        return path if texts[:1] == [verb] and not wanted.isdisjoint(texts) else ""

    return read


def _crontab(words: Sequence[Word]) -> str:
    return "" if any(word.text == "-l" for word in words) else "/var/spool/cron/crontabs"


_PIP = _after("~/.config/pip/pip.conf", "config set", "config unset", "config edit")
_CONDA = _with_option("~/.condarc", "config", "--add --set --append --prepend --remove-key")
_READERS: dict[str, Callable[[Sequence[Word]], str]] = {
    "git": _git,
    "npm": _npm,
    "pnpm": _npm,
    "pip": _PIP,
    "pip3": _PIP,
    "conda": _CONDA,
    "mamba": _CONDA,
    "go": _with_option("~/.config/go/env", "env", "-w -u"),
    "gh": _after("~/.config/gh/config.yml", "config set", "alias set", "alias import"),
    "aws": _after("~/.aws/config", "configure set"),
    "gcloud": _after("~/.config/gcloud/properties", "config set", "config unset"),
    "yarn": _after(".yarnrc.yml", "config set", "config unset"),
    "crontab": _crontab,
    "pre-commit": _after(".git/hooks/pre-commit", "install", "uninstall"),
}
