"""What is known of `jq` and `yq`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import (
    Arguments,
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    reads,
)
from permissions.shell.programs.program import (
    Program,
    ReadOnly,
    Risk,
)
from permissions.shell.syntax import (
    Word,
)


def json_query(words: Sequence[Word]) -> list[Access]:
    """Return what jq reads."""
    kept: list[Word] = []
    found: list[Access] = []
    position = 0
    while position < len(words):
        text = words[position].plain
        if text in ("--arg", "--argjson"):
            position += 3
        elif text in ("--slurpfile", "--rawfile"):
            found.extend(each(AccessKind.READ, words[position + 2 : position + 3]))
            position += 3
        elif text in ("--args", "--jsonargs"):
            break
        else:
            kept.append(words[position])
            position += 1
    arguments = split_arguments(kept, valued="fL", valued_long=names("--from-file --indent"))
    files = arguments.values("-f", "--from-file")
    operands = arguments.operands if files else arguments.operands[1:]
    return [*found, *each(AccessKind.READ, files), *each(AccessKind.READ, operands)]


def yaml_query(words: Sequence[Word]) -> list[Access]:
    """Return what yq reads or changes."""
    found = split_arguments(words, valued="oIps")
    kind = AccessKind.WRITE if found.has("-i", "--inplace", "--in-place") else AccessKind.READ
    operands = found.operands
    if operands and operands[0].text in ("eval", "eval-all", "e", "ea"):
        operands = operands[1:]
    return each(kind, operands[1:])


_JQ_READS = re.compile(r"\b(?:import|include|modulemeta)\b|\$ENV\b|(?<![.\w\"$])env\b")


_YQ_READS = re.compile(r"\bload(?:_\w+)?\s*\(|^-s|^--split-exp|^--from-file")


def plain_jq(words: Sequence[Word], arguments: Arguments) -> bool:
    """Is it no jq program that could read other files?"""
    del arguments
    return all(_JQ_READS.search(word.plain) is None for word in words)


def yq_risk(program: str, words: Sequence[Word]) -> str:
    """Return whether an expression reaches other files."""
    del program
    reaches = any(_YQ_READS.search(word.plain) for word in words)
    return "the yq expression reads or writes other files" if reaches else ""


PROGRAMS = (
    Program("jq", accesses=json_query, read_only=ReadOnly("ceMrnsSajCR", "", "--arg --argjson "
        "--compact-output --exit-status --indent --join-output --null-input --raw-input "
        "--raw-output --rawfile --slurp --slurpfile --sort-keys --tab", check=plain_jq),
        tells_version=True),
    Program("yq", accesses=yaml_query, read_options="--from-file", risk=Risk("i", "--in-place "
        "--inplace", valued="oIps"), risk_check=yq_risk),
    Program("json.tool", accesses=reads(), output_operands={"": 1}),
)  # fmt: skip
