"""What is known of the tools of Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import attached_values, names
from permissions.shell.program import (
    CommandRunner,
    Program,
    Rewrites,
    Risk,
    Wrapper,
)
from permissions.shell.programs.common_arguments import (
    outputs,
    settings_after,
    settings_with_option,
)
from permissions.shell.syntax import (
    Word,
)

CHECKING = "--check --diff -l --list -c"
"""Options with which formatters only look."""
_UNPACK_OPTIONS = names("-e --extract")


def report_paths(words: Sequence[Word]) -> Sequence[Word]:
    """Return where pytest puts reports and its cache: `--cov-report=html:dir`, `-o cache_dir=x`."""
    given = attached_values(words, names("--cov-report -o --override-ini"))
    return [Word(word.raw, re.split("[:=]", word.text, maxsplit=1)[-1]) for word in given]


def unpacked_by_module(words: Sequence[Word]) -> Sequence[Word]:
    """Return where `python -m zipfile -e` and its like unpack."""
    return words[2:3] if words[:1] and words[0].plain in _UNPACK_OPTIONS else ()


def rewritten(words: Sequence[Word]) -> Sequence[Word]:
    """Return the files that ruff rewrites."""
    fixes = bool(words) and (words[0].text == "format" or any(w.text == "--fix" for w in words))
    options = {word.plain.partition("=")[0] for word in words if word.plain.startswith("-")}
    if not fixes or options & names(CHECKING):
        return ()
    return [word for word in words if not word.plain.startswith("-")][1:]


PROGRAMS = (
    Program("pip pip3", accesses=outputs("--log --report", "-d --dest --prefix --root --src -t "
        "--target -w --wheel-dir"), output_files="--report", output_directories="--cache-dir",
        changes_settings=settings_after("~/.config/pip/pip.conf", "config set", "config unset",
        "config edit"), risk=Risk(long="--editor --python", valued="rctie", takes_unknown=True),
        shows_version=True, builds=True, network="download install", has_subcommands=True,
        exact_subcommands="install uninstall"),
    Program("pipenv", runner=CommandRunner("run"), builds=True),
    Program("poetry", output_files="-o --output", output_directories="-C --directory -p --project",
        output_operands={"new": 0}, runner=CommandRunner("run"), builds=True, has_subcommands=True,
        exact_subcommands="add publish run"),
    Program("pdm hatch", output_directories="-C --directory -p --project",
        runner=CommandRunner("run"), builds=True),
    Program("uv", output_files="--out-dir --output-file", output_directories="--directory --prefix "
        "--project --target", output_operands={"venv": 0, "init": 0}, runner=CommandRunner("run"),
        builds=True, network="add pip sync tool", has_subcommands=True, exact_subcommands="add pip "
        "publish run tool"),
    Program("uvx", wrapper=Wrapper("p", "--from --python --with"), exact_only=True),
    Program("pipx", wrapper=Wrapper(), runner=CommandRunner("run"), exact_only=True),
    Program("tox", output_directories="--work-dir --workdir", builds=True, checks_project=True),
    Program("nox", builds=True),
    Program("pytest", accesses=outputs("--html --junit-xml --junitxml --log-file --report-log",
        "--basetemp"), builds=True, more_outputs=report_paths, risk=Risk(long="--pastebin",
        takes_unknown=True), checks_project=True),
    Program("py.test", accesses=outputs("--html --junit-xml --junitxml --log-file --report-log",
        "--basetemp"), more_outputs=report_paths),
    Program("ruff", accesses=outputs("--output-file", "--cache-dir"), output_files="-o "
        "--output-file", builds=True, more_outputs=rewritten, checks_project=True),
    Program("black", rewrites=Rewrites(stops=CHECKING), builds=True, checks_project=True),
    Program("isort", rewrites=Rewrites(stops=CHECKING)),
    Program("mypy", accesses=outputs("--junit-xml", "--cache-dir --html-report --txt-report "
        "--xml-report"), risk=Risk(long="--python-executable", valued="cmp", takes_unknown=True),
        checks_project=True),
    Program("flake8", accesses=outputs("--output-file", "--cache-dir"), checks_project=True),
    Program("pylint", accesses=outputs("--output-file", "--cache-dir"), output_files="--output"),
    Program("autopep8 yapf", rewrites=Rewrites(needs="-i --in-place")),
    Program("virtualenv", accesses=outputs("", "--app-data"), output_operands={"": 0}),
    Program("venv", output_operands={"": 0}),
    Program("conda mamba", output_directories="-p --prefix", read_options="-f --file",
        changes_settings=settings_with_option("~/.condarc", "config", "--add --set --append "
        "--prepend --remove-key"), runner=CommandRunner("run", valued="pcn")),
    Program("micromamba", runner=CommandRunner("run", valued="pcn")),
    Program("pixi rye", runner=CommandRunner("run")),
    Program("jupyter", output_directories="--output-dir"),
    Program("gunicorn", output_files="--access-logfile --error-logfile --log-file --pid --pidfile"),
    Program("sphinx-build", output_operands={"": 1}),
    Program("mkdocs", output_directories="-d --destination --site-dir"),
    Program("django-admin", output_operands={"startproject": 1, "startapp": 1}),
    Program("cookiecutter", output_directories="-o --output-dir"),
    Program("pre-commit", changes_settings=settings_after(".git/hooks/pre-commit", "install",
        "uninstall"), builds=True),
    Program("dotenv", read_options="-e -f", wrapper=Wrapper("ef")),
)  # fmt: skip
