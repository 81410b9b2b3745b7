"""The narrowest useful pattern for one simple command, and what it allows beyond that command.

A word boundary after a program and its subcommand, never a wildcard behind an interpreter, or
behind what brings foreign code or throws work away.
"""

from __future__ import annotations

import shlex
from typing import Final

SUBCOMMAND_PROGRAMS: Final = frozenset(
    "apt brew bundle cargo composer dotnet flutter gem gh git go gradle helm kubectl mvn npm pip "
    "pip3 pnpm poetry rails rustup terraform uv yarn".split()
)
"""Programs whose second word says what they do."""

EXACT_ONLY: Final = frozenset(
    "ash awk bash bun bunx busybox csh dash deno direnv devbox docker doas env eval exec expect "
    "find fish flock ionice ipython ksh lua mise node nohup npx osascript perl php pipx podman "
    "pwsh python python2 python3 ruby screen script sed setsid sh ssh sudo su time timeout tmux "
    "tsx uvx watch xargs zsh".split()
)
"""Programs that run whatever their arguments say: a wildcard behind them allows everything."""

_EXACT_SUBCOMMANDS: Final = {
    program: frozenset(subcommands.split())
    for program, subcommands in {
        "apt": "install remove purge",
        "brew": "install uninstall",
        "bundle": "exec install",
        "cargo": "run install publish",
        "composer": "require global exec",
        "dotnet": "run nuget",
        "gem": "install push",
        "gh": "api alias extension repo secret auth",
        "git": "bisect branch checkout clean config filter-branch rebase remote reset restore "
        "rm stash submodule tag update-ref worktree",
        "go": "run generate get install",
        "helm": "install upgrade uninstall delete rollback",
        "kubectl": "exec delete apply cp create drain edit patch replace rollout scale",
        "npm": "exec x explore install i publish update",
        "pip": "install uninstall",
        "pip3": "install uninstall",
        "pnpm": "dlx exec add i install publish up update",
        "poetry": "run add publish",
        "rustup": "run toolchain",
        "terraform": "apply destroy",
        "uv": "run tool add pip publish",
        "yarn": "dlx exec add publish",
    }.items()
}
"""Subcommands that run programs, bring foreign code or throw work away: only as they stand."""


def pattern_for(command: str) -> str | None:
    """Return the narrowest useful pattern for one simple command, or None where none is safe."""
    if "\n" in command or "*" in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if not words:
        return None
    program = words[0]
    if "=" in program or "$" in command or "`" in command:
        return None
    if program in EXACT_ONLY or "/" in program:
        return command.strip()
    if program in SUBCOMMAND_PROGRAMS and len(words) > 1:
        sub = words[1]
        if sub.startswith("-") or sub in _EXACT_SUBCOMMANDS.get(program, frozenset()):
            return command.strip()
        if sub == "run" and len(words) > 2:
            return f"{program} run {words[2]} *"
        if program in _TWO_WORDS:
            return _after_two(program, words, command)
        return f"{program} {sub} *"
    if len(words) == 1:
        return command.strip()
    return f"{program} *" if program in _PLAIN else command.strip()


def _after_two(program: str, words: list[str], command: str) -> str:
    """Return the pattern of a program whose second and third word say together what it does."""
    is_told = len(words) > 2 and not words[2].startswith("-")
    if not is_told or words[2] in _TWO_WORDS[program]:
        return command.strip()
    return f"{program} {words[1]} {words[2]} *"


_TWO_WORDS: Final = {"gh": frozenset("close delete merge reopen run edit transfer".split())}
"""By program: third words that cannot be taken back, or run something."""
_PLAIN: Final = frozenset(
    "black eslint flake8 jest mocha mypy prettier pytest rspec rubocop ruff shellcheck tox tsc "
    "vitest".split()
)
"""Programs that check or test what is in the project, whatever their arguments."""


def beyond(pattern: str) -> str:
    """Return what a pattern allows beyond its command, in words; empty for an exact one."""
    if not pattern.endswith(" *"):
        return ""
    stem = pattern[:-2]
    caution = _CAUTIONS.get(stem)
    return f"{stem} with any arguments" + (f", {caution}" if caution else "")


_CAUTIONS: Final = {
    "git push": "--force included",
    "git commit": "--amend included",
    "git merge": "into any branch",
    "git pull": "from any remote",
}
