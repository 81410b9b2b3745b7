"""The record of git."""

from __future__ import annotations

from permissions.shell.program import Program
from permissions.shell.programs.git.configuration import changes_settings
from permissions.shell.programs.git.git_accesses import git
from permissions.shell.programs.git.git_commands import commands, configured_commands
from permissions.shell.programs.git.git_risk import git_risk, reads_only

PROGRAMS = (
    Program("git", accesses=git, changes_settings=changes_settings, risk_check=git_risk,
        read_only=reads_only, shows_version=True, runs_configured=True,
        command_options="-O -c --exec --open-files-in-pager --receive-pack --upload-pack",
        global_valued="cC", commands=commands, command_words=configured_commands,
        network="clone fetch ls-remote pull push remote submodule", logs_in=True,
        discards={"reset": "--hard", "clean": "", "checkout": "--", "restore": "",
        "stash": "drop clear", "branch": "-D", "rebase": ""},
        has_subcommands=True, exact_subcommands="bisect branch checkout clean config filter-branch "
        "rebase remote reset restore rm stash submodule tag update-ref worktree"),
)  # fmt: skip
