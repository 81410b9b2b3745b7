"""What is known of compilers, build tools, and the package managers of languages and systems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.program import (
    CommandRunner,
    Program,
    ReadOnly,
    Rewrites,
    Risk,
)
from permissions.shell.programs.common_arguments import (
    command_in,
    outputs,
    reads,
    settings_with_option,
)
from permissions.shell.programs.python_tools import CHECKING
from permissions.shell.syntax import (
    Word,
)


def make(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="CfIjlo", valued_long=names("--directory --file"))
    return [
        *each(AccessKind.PLACE, found.values("-C", "--directory")),
        *each(AccessKind.READ, found.values("-f", "--file", "--makefile")),
    ]


_CARGO_OUTPUTS = outputs("", "--target-dir --root --out-dir --artifact-dir")


def cargo(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="CZFpj", valued_long=names("--name --vcs --edition"))
    made = found.operands[:1] and found.operands[0].text in ("new", "init", "vendor")
    return [
        *_CARGO_OUTPUTS(words),
        *each(AccessKind.WRITE, found.operands[1:2] if made else ()),
    ]


_MAKE_VALUE = re.compile(r"[A-Za-z_]\w*\s*[:+?]*=(?:[\w.,:@%+= -]|\$\(\w+\))*", re.ASCII)
"""A variable whose value names no program of the project, and in which make runs nothing."""
_MAKE_DECIDES = re.compile(r"\.?(?:G?N?U?MAKEFLAGS|SHELL|SHELLFLAGS|MAKEFILES)\s*[:+?!]*=")


_MAKEFILE = names("-f --file --makefile")


_LINKER = re.compile(r"-extld\b|\blinker=|\brustc-wrapper\b")


_CMAKE = names("touch make_directory rm remove remove_directory rename copy copy_directory cat")


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
    """Does it come from the input, a pipe or a device?"""
    return not makefile.is_literal or makefile.text.startswith(("-", "/dev/", "/proc/"))


def named_shell(words: Sequence[Word]) -> Iterator[str]:
    """Yield the command that make is to use as its shell."""
    for word in words:
        if word.text.startswith("SHELL="):
            yield from command_in(word.text.removeprefix("SHELL="))


def linker_risk(program: str, words: Sequence[Word]) -> str:
    """Return whether the words name a linker."""
    names_one = any(_LINKER.search(word.plain) for word in words)
    return f"{program} runs the linker that it is given" if names_one else ""


def command_mode(words: Sequence[Word]) -> Sequence[Word]:
    """Return what `cmake -E` changes."""
    if [word.text for word in words[:1]] != ["-E"]:
        return ()
    return words[2:] if words[1:2] and words[1].text in _CMAKE else ()


_STRIPPED = names("-o --output-file")


def stripped(words: Sequence[Word]) -> Sequence[Word]:
    """Return the files that strip changes in place."""
    if attached_values(words, _STRIPPED):
        return ()
    return [word for word in words if not word.plain.startswith("-")]


PROGRAMS = (
    Program("make", accesses=make, risk=Risk("E", "--eval", valued="CfIjlo", takes_unknown=True),
        risk_check=make_risk, shows_version=True, global_valued="CfIj", builds=True,
        command_words=named_shell),
    Program("gmake", accesses=make, risk=Risk("E", "--eval", valued="CfIjlo", takes_unknown=True),
        risk_check=make_risk, builds=True, command_words=named_shell),
    Program("ninja samu", output_directories="-C", builds=True),
    Program("cmake", accesses=outputs("", "-B --install-prefix --prefix"),
        output_files="--graphviz --trace-redirect", output_directories="--build",
        shows_version=True, builds=True, more_outputs=command_mode),
    Program("ctest task gradlew mvnw sbt", builds=True),
    Program("meson", output_directories="-C --destdir", output_operands={"setup": 0}, builds=True),
    Program("bazel", output_directories="--output_base --output_user_root", builds=True),
    Program("just", output_directories="-d --working-directory", builds=True),
    Program("cargo", accesses=cargo, output_directories="-C --manifest-path",
        risk=Risk(long="--config", valued="CZFpj", takes_unknown=True), risk_check=linker_risk,
        global_valued="CZ", builds=True, network="add fetch install publish update",
        has_subcommands=True, exact_subcommands="install publish run"),
    Program("rustc", accesses=outputs("-o", "--out-dir"), risk_check=linker_risk),
    Program("go", accesses=outputs("-blockprofile --coverprofile -coverprofile -cpuprofile "
        "-memprofile -mutexprofile --o -o -trace", "--outputdir -outputdir", clusters=False),
        output_directories="-C", changes_settings=settings_with_option("~/.config/go/env", "env",
        "-w -u"), risk=Risk(long="--exec -exec --toolexec -toolexec -vettool", single_dash=True),
        risk_check=linker_risk, builds=True, network="get install", has_subcommands=True,
        exact_subcommands="generate get install run"),
    Program("gradle", output_directories="-g --gradle-user-home -p --project-cache-dir "
        "--project-dir", builds=True, has_subcommands=True),
    Program("mvn", output_files="-l --log-file", output_directories="-f --file", builds=True,
        has_subcommands=True),
    Program("ant", output_files="-l -logfile", builds=True),
    Program("rake", output_directories="-C --path", builds=True),
    Program("rails", output_operands={"new": 0}, builds=True, has_subcommands=True),
    Program("bundle", output_directories="-C --path", runner=CommandRunner("exec"), builds=True,
        network="install update", has_subcommands=True, exact_subcommands="exec install"),
    Program("gem", accesses=outputs("", "--bindir -i --install-dir -n"), output_files="-o --output",
        builds=True, network="install push", has_subcommands=True, exact_subcommands="install "
        "push"),
    Program("composer", accesses=outputs("", "-d --working-dir"),
        output_operands={"create-project": 1}, builds=True, has_subcommands=True,
        exact_subcommands="exec global require"),
    Program("mix", output_operands={"new": 0, "phx.new": 0}, builds=True),
    Program("dotnet", output_directories="--artifacts-path -o --output --project "
        "--results-directory", builds=True, has_subcommands=True, exact_subcommands="nuget run"),
    Program("flutter", output_operands={"create": 0}, builds=True, has_subcommands=True),
    Program("dart", output_operands={"create": 0}, builds=True),
    Program("swiftc", output_files="-o -w"),
    Program("gcc cc g++ clang", accesses=outputs("-o"), output_files="-MF --output "
        "--serialize-diagnostics", output_directories="-dumpdir", reads_operands=True,
        risk=Risk(long="-B -fpass-plugin -fplugin -load --specs -specs -wrapper", single_dash=True,
        takes_unknown=True), shows_version=True),
    Program("c++ clang++", accesses=outputs("-o"), output_files="-MF --output "
        "--serialize-diagnostics", output_directories="-dumpdir", risk=Risk(long="-B -fpass-plugin "
        "-fplugin -load --specs -specs -wrapper", single_dash=True, takes_unknown=True)),
    Program("ld", accesses=outputs("-o"), output_files="-Map", risk=Risk(long="--plugin -plugin",
        single_dash=True, takes_unknown=True)),
    Program("as tcc ghc", accesses=outputs("-o")),
    Program("nvcc gfortran nasm yasm zig flex bison yacc", output_files="-o -w"),
    Program("javac", output_directories="-d -h -s", shows_version=True),
    Program("kotlinc scalac", output_directories="-d -h -s"),
    Program("protoc", accesses=outputs("-o", "--cpp_out --go_out --java_out --js_out --python_out "
        "--ruby_out")),
    Program("strip", output_files="-o --output-file -w", more_outputs=stripped),
    Program("objcopy", output_files="--dump-section --output-file", output_operands={"": -1}),
    Program("ctags", risk=Risk(long="--options", valued="f")),
    Program("pdflatex xelatex lualatex", output_directories="--outdir -outdir --output-directory "
        "-output-directory", risk=Risk(long="--enable-write18 -enable-write18 --shell-escape "
        "-shell-escape", single_dash=True, takes_unknown=True)),
    Program("latex tex pdftex luatex", risk=Risk(long="--enable-write18 -enable-write18 "
        "--shell-escape -shell-escape", single_dash=True, takes_unknown=True)),
    Program("latexmk", output_directories="--outdir -outdir --output-directory -output-directory",
        risk=Risk(long="-e -latex -pdflatex -r --shell-escape -shell-escape", single_dash=True,
        takes_unknown=True)),
    Program("gofmt", accesses=reads(), rewrites=Rewrites(needs="-w"), read_only=ReadOnly("dls")),
    Program("goimports gofumpt shfmt", rewrites=Rewrites(needs="-w")),
    Program("rustfmt", rewrites=Rewrites(stops=CHECKING)),
    Program("clang-format", rewrites=Rewrites(needs="-i --in-place")),
    Program("shellcheck", accesses=reads("sefSWoC"), read_only=ReadOnly("", "sefSWoC", "--exclude "
        "--format --severity --shell"), checks_project=True),
    Program("golangci-lint", output_files="-o --output-file"),
    Program("apt", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install purge remove"),
    Program("apt-get", network="install update upgrade"),
    Program("brew", network="install update upgrade", has_subcommands=True,
        exact_subcommands="install uninstall"),
    Program("rustup", has_subcommands=True, exact_subcommands="run toolchain"),
)  # fmt: skip
