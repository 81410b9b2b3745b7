"""Program records of compilers, build tools, and the package managers of languages and systems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.program import CommandRunner, Program, ReadOnly, Risk
from permissions.shell.programs.common_arguments import command_in, reads, settings_with_option
from permissions.shell.syntax import Word


def make(words: Sequence[Word]) -> list[Access]:
    arguments = split_arguments(
        words, value_letters="CfIjlo", value_options=names("--directory --file")
    )
    return [
        *each(AccessKind.PLACE, arguments.values("-C", "--directory")),
        *each(AccessKind.READ, arguments.values("-f", "--file", "--makefile")),
    ]


_MAKE_VALUE = compile_late(r"[A-Za-z_]\w*\s*[:+?]*=(?:[\w.,:@%+= -]|\$\(\w+\))*", re.ASCII)
"""A variable whose value names no program of the project and makes make run nothing."""
_MAKE_DECIDES = compile_late(r"\.?(?:G?N?U?MAKEFLAGS|SHELL|SHELLFLAGS|MAKEFILES)\s*[:+?!]*=")


_MAKEFILE = names("-f --file --makefile")


_LINKER = compile_late(r"-extld\b|\blinker=|\brustc-wrapper\b")


def make_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which words decide what make runs."""
    for word in words:
        text = word.plain
        is_set = "=" in text and not text.startswith("-")
        if is_set and (_MAKE_DECIDES.match(text) or not _MAKE_VALUE.fullmatch(word.text)):
            return "the words decide what make runs"
        if not is_set and "$" in text:
            return "make expands the words"
    if any(_is_given(one) for one in attached_values(words, _MAKEFILE)):
        return "make runs a makefile that is not a file of the project"
    return ""


def _is_given(makefile: Word) -> bool:
    """Return whether it comes from the input, a pipe or a device."""
    return not makefile.is_literal or makefile.text.startswith(("-", "/dev/", "/proc/"))


def named_shell(words: Sequence[Word]) -> Iterator[str]:
    """Yield the command that make uses as its shell."""
    for word in words:
        if word.text.startswith("SHELL="):
            yield from command_in(word.text.removeprefix("SHELL="))


def linker_risk(program: str, words: Sequence[Word]) -> str:
    """Return the risk if the words name a linker; "" otherwise."""
    names_one = any(_LINKER.search(word.plain) for word in words)
    return f"{program} runs the linker that it is given" if names_one else ""


PROGRAMS = (
    Program("make", accesses=make,
        risk=Risk("E", "--eval", value_letters="CfIjlo", takes_unknown=True),
        risk_check=make_risk, shows_version=True, global_valued="CfIj", builds=True,
        command_words=named_shell),
    Program("gmake", accesses=make,
        risk=Risk("E", "--eval", value_letters="CfIjlo", takes_unknown=True),
        risk_check=make_risk, builds=True, command_words=named_shell),
    Program("ninja samu ctest task gradlew mvnw sbt meson bazel just ant rake mix dart",
        builds=True),
    Program("cmake", shows_version=True, builds=True),
    Program("cargo", risk=Risk(long="--config", value_letters="CZFpj", takes_unknown=True),
        risk_check=linker_risk, global_valued="CZ", builds=True, network="add fetch install "
        "publish update", has_subcommands=True, exact_subcommands="install publish run"),
    Program("rustc", risk_check=linker_risk),
    Program("go", changes_settings=settings_with_option("~/.config/go/env", "env", "-w -u"),
        risk=Risk(long="--exec -exec --toolexec -toolexec -vettool", single_dash=True),
        risk_check=linker_risk, builds=True, network="get install", has_subcommands=True,
        exact_subcommands="generate get install run"),
    Program("gradle", builds=True, has_subcommands=True),
    Program("mvn", builds=True, has_subcommands=True),
    Program("rails", builds=True, has_subcommands=True),
    Program("bundle", runner=CommandRunner("exec"), builds=True, network="install update",
        has_subcommands=True, exact_subcommands="exec install"),
    Program("gem", builds=True, network="install push", has_subcommands=True,
        exact_subcommands="install push"),
    Program("composer", builds=True, has_subcommands=True, exact_subcommands="exec global require"),
    Program("dotnet", builds=True, has_subcommands=True, exact_subcommands="nuget run"),
    Program("flutter", builds=True, has_subcommands=True),
    Program("gcc cc g++ clang", risk=Risk(long="-B -fpass-plugin -fplugin -load --specs -specs "
        "-wrapper", single_dash=True, takes_unknown=True), shows_version=True),
    Program("c++ clang++", risk=Risk(long="-B -fpass-plugin -fplugin -load --specs -specs -wrapper",
        single_dash=True, takes_unknown=True)),
    Program("ld", risk=Risk(long="--plugin -plugin", single_dash=True, takes_unknown=True)),
    Program("javac", shows_version=True),
    Program("ctags", risk=Risk(long="--options", value_letters="f")),
    Program("pdflatex xelatex lualatex latex tex pdftex luatex",
        risk=Risk(long="--enable-write18 -enable-write18 --shell-escape -shell-escape",
        single_dash=True, takes_unknown=True)),
    Program("latexmk", risk=Risk(long="-e -latex -pdflatex -r --shell-escape -shell-escape",
        single_dash=True, takes_unknown=True)),
    Program("gofmt", accesses=reads(), read_only=ReadOnly("dls")),
    Program("shellcheck", accesses=reads("sefSWoC"), read_only=ReadOnly("", "sefSWoC", "--exclude "
        "--format --severity --shell"), checks_project=True),
    Program("apt", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install purge remove"),
    Program("apt-get", network="install update upgrade"),
    Program("brew", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install uninstall"),
    Program("rustup", has_subcommands=True, exact_subcommands="run toolchain"),
)  # fmt: skip
