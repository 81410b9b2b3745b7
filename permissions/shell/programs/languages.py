"""Program records of programming language interpreters and debuggers."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each
from permissions.shell.arguments import split_arguments
from permissions.shell.program import Code, Program, Risk
from permissions.shell.programs.common_arguments import after_option, interpreter
from permissions.shell.syntax import Word


def in_place_interpreter(words: Sequence[Word]) -> list[Access]:
    """Read `perl -pi -e …` and `ruby -i -pe …`; the script itself is not analyzed."""
    arguments = split_arguments(words, value_letters="eEIMmFCDxKr")
    if not arguments.has("-i") or not arguments.has("-e", "-E"):
        return interpreter(words)
    return each(AccessKind.WRITE, arguments.operands)


PROGRAMS = (
    Program("python python3 php lua", accesses=interpreter, code=Code.LANGUAGE, shows_version=True,
        exact_only=True),
    Program("python2", accesses=interpreter, code=Code.LANGUAGE, exact_only=True),
    Program("python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3 nodejs "
        "ts-node luajit julia groovy", code=Code.LANGUAGE),
    Program("ipython tsx osascript", code=Code.LANGUAGE, exact_only=True),
    Program("node", accesses=interpreter, code=Code.LANGUAGE, shows_version=True, exact_only=True),
    Program("deno", accesses=interpreter, code=Code.LANGUAGE, builds=True, exact_only=True),
    Program("ruby", accesses=in_place_interpreter, code=Code.LANGUAGE,
        risk=Risk("i", value_letters="eIrCFEKTWx"), shows_version=True, exact_only=True),
    Program("perl", accesses=in_place_interpreter, code=Code.LANGUAGE,
        risk=Risk("i", value_letters="eEIMmFlCDx"), shows_version=True, exact_only=True),
    Program("pwsh", exact_only=True),
    Program("Rscript", accesses=interpreter, code=Code.LANGUAGE),
    Program("expect", code=Code.OTHER,
        code_starts=r"\b(?:spawn|exec|system)[ \t]+(?:--[ \t]+)?([^;\n\]]+)", risk=Risk("c",
        value_letters="f"), exact_only=True),
    Program("tclsh", code=Code.OTHER,
        code_starts=r"\b(?:spawn|exec|system)[ \t]+(?:--[ \t]+)?([^;\n\]]+)"),
    Program("gdb", code=Code.OTHER,
        code_starts=r"(?:^|\n)[ \t]*(?:!|(?:platform )?shell\b)[ \t]*([^\n]+)",
        risk=Risk(long="--command --eval-command --ex -ex --iex -iex --init-command "
        "--init-eval-command -ix -x", single_dash=True), commands=after_option("--args -c "
        "--command")),
    Program("lldb", code=Code.OTHER,
        code_starts=r"(?:^|\n)[ \t]*(?:!|(?:platform )?shell\b)[ \t]*([^\n]+)", risk=Risk("osSOQ",
        "--one-line --one-line-before-file --source", value_letters="pnafc")),
    Program("java", risk=Risk(long="-XX:OnError -XX:OnOutOfMemoryError", single_dash=True,
        takes_unknown=True), shows_version=True),
)  # fmt: skip
