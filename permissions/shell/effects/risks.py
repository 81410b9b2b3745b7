"""Arguments that run programs or write files, which no wildcard rule covers.

An exact rule or a rule for all of Bash covers them. Unknown words count if they could be such an
option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.program import ReadOnly
from permissions.shell.programs.common_arguments import option_risk
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word


def risk_of(program: str, words: Sequence[Word]) -> str:
    """Return, for users, why a wildcard rule does not cover these arguments; "" when it may."""
    program_record = program_named(program)
    if program_record.risk_check is not None and (
        risk := program_record.risk_check(program, words)
    ):
        return risk
    if program_record.runs_anything:
        return f"{program} runs any program"
    if program_record.risky_words and any(
        re.match(program_record.risky_words, word.plain) for word in words
    ):
        return f"the words decide what {program} runs, or where"
    if program_record.risk is None:
        return ""
    switches = (
        program_record.read_only.letters if isinstance(program_record.read_only, ReadOnly) else ""
    )
    return option_risk(program, program_record.risk, words, switches=switches)
