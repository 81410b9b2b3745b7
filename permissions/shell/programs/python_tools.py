"""Program records of Python tools."""

from __future__ import annotations

from permissions.shell.program import CommandRunner, Program, Risk, Wrapper
from permissions.shell.programs.common_arguments import settings_after, settings_with_option

PROGRAMS = (
    Program("pip pip3", changes_settings=settings_after("~/.config/pip/pip.conf", "config set",
        "config unset", "config edit"), risk=Risk(long="--editor --python", value_letters="rctie",
        takes_unknown=True), shows_version=True, builds=True, network="download install",
        has_subcommands=True, exact_subcommands="install uninstall"),
    Program("pipenv", runner=CommandRunner("run"), builds=True),
    Program("poetry", runner=CommandRunner("run"), builds=True, has_subcommands=True,
        exact_subcommands="add publish run"),
    Program("pdm hatch", runner=CommandRunner("run"), builds=True),
    Program("uv", runner=CommandRunner("run"), builds=True, network="add pip sync tool",
        has_subcommands=True, exact_subcommands="add pip publish run tool"),
    Program("uvx", wrapper=Wrapper("p", "--from --python --with"), exact_only=True),
    Program("pipx", wrapper=Wrapper(), runner=CommandRunner("run"), exact_only=True),
    Program("nox", builds=True),
    Program("pytest", builds=True, risk=Risk(long="--pastebin", takes_unknown=True),
        checks_project=True),
    Program("tox ruff black", builds=True, checks_project=True),
    Program("mypy", risk=Risk(long="--python-executable", value_letters="cmp", takes_unknown=True),
        checks_project=True),
    Program("flake8", checks_project=True),
    Program("conda mamba", changes_settings=settings_with_option("~/.condarc", "config", "--add "
        "--set --append --prepend --remove-key"), runner=CommandRunner("run", value_letters="pcn")),
    Program("micromamba", runner=CommandRunner("run", value_letters="pcn")),
    Program("pixi rye", runner=CommandRunner("run")),
    Program("pre-commit", changes_settings=settings_after(".git/hooks/pre-commit", "install",
        "uninstall"), builds=True),
    Program("dotenv", wrapper=Wrapper("ef")),
)  # fmt: skip
