"""Arguments that run programs or write files: outside every wildcard rule.

An exact rule or a rule for all of Bash covers them. Unknown words count when they could turn out to
be such an option.
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
    known = program_named(program)
    if known.risk_check is not None and (risk := known.risk_check(program, words)):
        return risk
    if known.runs_anything:
        return f"{program} runs any program"
    if known.risky_words and any(re.match(known.risky_words, word.plain) for word in words):
        return f"the words decide what {program} runs, or where"
    if known.risk is None:
        return ""
    switches = known.read_only.letters if isinstance(known.read_only, ReadOnly) else ""
    return option_risk(program, known.risk, words, switches=switches)
