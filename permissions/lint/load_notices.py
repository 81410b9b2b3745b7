"""Notices for users about rules on loading: rules that cannot be read, that never apply, or that
allow more than they seem to.

One line for each of the first rules that cannot be read, since something else is in force than was
written; one line for everything that lint finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from permissions.decision import source_name
from permissions.explain.explain_decision import (
    Shorten,
    in_one_line,
)
from permissions.lint.lint import LintType, LintWarning, lint, shadowed_rules
from permissions.rule import RuleSet

_NAMED: Final = 3
_ALL_RULES: Final = 200
"""Up to this many rules all checks run; for more, only the search for rules without effect."""
_UNREAD: Final = frozenset({LintType.MALFORMED_RULE, LintType.UNKNOWN_TOOL})
_NOT_SUMMARIZED: Final = _UNREAD | {LintType.DUPLICATE}
"""Left out by `_summary`: unread rules have lines of their own, and a rule that another one covers
changes nothing."""
_DEAD: Final = frozenset({LintType.DENY_SHADOW, LintType.ASK_SHADOW, LintType.UNREACHABLE})


def rule_notes(rules: RuleSet, short: Shorten = str) -> tuple[str, ...]:
    """Return the lines, those about single rules first; () where there is nothing to report."""
    if len(rules.rules) <= _ALL_RULES:
        result = lint(rules)
    else:
        result = (*lint(RuleSet((), rules.warnings, rules.texts)), *shadowed_rules(rules))
    unread = [_notice_line(warning, short) for warning in result if warning.type in _UNREAD]
    more = len(unread) - _NAMED
    if more > 1:
        unread[_NAMED:] = [
            f"{more} more rules cannot be read: `agent-tui permissions lint` says which, and why."
        ]
    return (
        *unread,
        *_summary([warning for warning in result if warning.type not in _NOT_SUMMARIZED]),
    )


def _notice_line(warning: LintWarning, short: Shorten) -> str:
    line = f":{warning.line}" if warning.line else ""
    place = f"{short(warning.file)}{line}" if warning.file else source_name(warning.source)
    return f"Rule {in_one_line(warning.rule or '')} ({place}): {warning.notice_text}"


def _summary(warnings: list[LintWarning]) -> Iterator[str]:
    names = list(dict.fromkeys(str(warning.rule) for warning in warnings))
    if not names:
        return
    dead = {warning.rule for warning in warnings if warning.type in _DEAD}
    shown_names = ", ".join(map(in_one_line, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    many = f"{len(names)} rules need attention" if len(names) > 1 else "1 rule needs attention"
    never = f"; {len(dead)} never take effect" if len(dead) > 1 else ""
    never = "; 1 never takes effect" if len(dead) == 1 else never
    yield (
        f"{many}{never}: {shown_names}{more}. "
        "/permissions and `agent-tui permissions lint` say why, and what to write instead."
    )
