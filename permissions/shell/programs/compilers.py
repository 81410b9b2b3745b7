"""What is known of compilers, and of formatters and checkers of code."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import attached_values, names
from permissions.shell.programs.common_arguments import (
    outputs,
    reads,
)
from permissions.shell.programs.program import (
    Program,
    ReadOnly,
    Rewrites,
    Risk,
)
from permissions.shell.programs.python_tools import CHECKING
from permissions.shell.syntax import (
    Word,
)

_STRIPPED = names("-o --output-file")


def stripped(words: Sequence[Word]) -> Sequence[Word]:
    """Return the files that strip changes in place."""
    if attached_values(words, _STRIPPED):
        return ()
    return [word for word in words if not word.plain.startswith("-")]


PROGRAMS = (
    Program("gcc cc g++ clang", accesses=outputs("-o"), output_files="-MF --output "
        "--serialize-diagnostics", output_directories="-dumpdir", reads_operands=True,
        risk=Risk(long="-B -fpass-plugin -fplugin -load --specs -specs -wrapper", single_dash=True,
        takes_unknown=True), tells_version=True),
    Program("c++ clang++", accesses=outputs("-o"), output_files="-MF --output "
        "--serialize-diagnostics", output_directories="-dumpdir", risk=Risk(long="-B -fpass-plugin "
        "-fplugin -load --specs -specs -wrapper", single_dash=True, takes_unknown=True)),
    Program("ld", accesses=outputs("-o"), output_files="-Map", risk=Risk(long="--plugin -plugin",
        single_dash=True, takes_unknown=True)),
    Program("as tcc ghc", accesses=outputs("-o")),
    Program("nvcc gfortran nasm yasm zig flex bison yacc", output_files="-o -w"),
    Program("javac", output_directories="-d -h -s", tells_version=True),
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
)  # fmt: skip
