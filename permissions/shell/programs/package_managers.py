"""What is known of the package managers of systems."""

from __future__ import annotations

from permissions.shell.programs.program import (
    Program,
)

PROGRAMS = (
    Program("apt", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install purge remove"),
    Program("apt-get", network="install update upgrade"),
    Program("brew", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install uninstall"),
    Program("rustup", has_subcommands=True, exact_subcommands="run toolchain"),
)  # fmt: skip
