"""Deny and ask rules on a command that cannot be parsed: a parser limit must not weaken a deny.

The text is cut at everything that could separate commands, whether quoted or not, and each piece is
compared with the rules. That matches too much rather than too little; the answer is never allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from permissions.base.text.late_pattern import compile_late
from permissions.rules.grammar import RuleBehavior
from permissions.rules.rule_set import Rule, RuleSet
from permissions.shell.command_pattern import BashPattern

_BREAKS = compile_late(r"[\n\r\x00;&|()`{}<>]+")
_QUOTES = str.maketrans("", "", "\"'\\")
_LEADING = compile_late(
    r"(?:(?:then|do|else|elif|if|while|until|!|\$|[A-Za-z_]\w*\+?=\S*"
    r"|(?:sudo|doas|env|nohup|nice|command|builtin|exec|setsid|xargs|time)(?: -\S+)*)(?: |$))*"
)


def first_raw_match(rules: RuleSet, behavior: RuleBehavior, command: str) -> Rule | None:
    """Return the first Bash rule of `behavior` that matches a piece of the text. Linear in both."""
    index = rules.index(behavior)
    if not index.has_command_rules:
        return None
    # Every text below is a part of one of these.
    whole = " ".join(command.split())
    plain = whole.translate(_QUOTES)
    still_open = [
        placed_rule for placed_rule in index.bash_open if _may_fit(placed_rule[1], whole, plain)
    ]
    best: tuple[int, Rule] | None = None
    for text in _possible_commands(command):
        word, space, arguments = text.partition(" ")
        program = word.rpartition("/")[2]
        readings = (text, f"{program}{space}{arguments}")
        for place, rule in (*index.bash_by_head.get(program, ()), *still_open):
            if (best is None or place < best[0]) and _fits_one(rule, readings):
                best = (place, rule)
    return None if best is None else best[1]


def _may_fit(rule: Rule, whole: str, plain: str) -> bool:
    pattern = rule.specifier
    return isinstance(pattern, BashPattern) and (pattern.needle in whole or pattern.needle in plain)


def _possible_commands(command: str) -> Iterator[str]:
    """Yield what may be a simple command in a text that cannot be parsed."""
    for piece in {command, *_BREAKS.split(command)}:
        spaced_text = " ".join(piece.split())
        for text in dict.fromkeys((spaced_text, _without_prefix(spaced_text))):
            if text.partition(" ")[0].rpartition("/")[2]:
                yield text


def _fits_one(rule: Rule, readings: Sequence[str]) -> bool:
    pattern = rule.specifier
    return isinstance(pattern, BashPattern) and any(map(pattern.matches_spaced, readings))


def raw_redirections(command: str) -> list[tuple[str, str]]:
    """Return the files after `<` and `>`, each with the tool whose rules apply."""
    results = [
        ("Read" if match[1] == "<" else "Edit", match[2].translate(_QUOTES))
        for match in islice(_REDIRECTION.finditer(command), _MAX_REDIRECTIONS)
    ]
    return [(tool, path) for tool, path in results if path.isprintable() and path]


_REDIRECTION = compile_late(r"(?<![<>])([<>])[>|]?(?![<>&(])[ \t]*([^\s<>|&;()`]{1,400})")
_MAX_REDIRECTIONS = 50


def _without_prefix(spaced_text: str) -> str:
    """Return the piece without quotes, and without keywords and assignments before the program."""
    plain = spaced_text.translate(_QUOTES)
    prefix = _LEADING.match(plain)
    return plain if prefix is None else plain[prefix.end() :]
