"""What a settings file with a syntax error still says: a comment or a missing comma must not take
the rules behind it out of force.

Only for what restricts: the caller leaves out what widens access. Next: `agent.settings.file`.
"""

from __future__ import annotations

import re
from typing import Final

from agent.settings.positions import Node, Parsed, joined, parse, parse_at

_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_RULES: Final = re.compile(r'"(deny|ask)"\s*:\s*(?=\[)')


def salvage(text: str, parsed: Parsed) -> Parsed:
    """Return a text that could not be read to its end with all of it that can be.

    Comments and commas before a closing bracket are read over; behind any other mistake the lists
    of deny and ask rules are. The error stays the first one, and lines are those of the text.
    """
    if parsed.error is None:
        return parsed
    plain = _LAST_COMMA.sub(_blank, _COMMENT.sub(_blank, text.removeprefix("\ufeff")))
    again = parse(plain)
    root = again.root or parsed.root
    if again.error is not None:
        root = _with_rules(root, plain)
    return Parsed(root, parsed.error, again.notes)


def _blank(found: re.Match[str]) -> str:
    """Return spaces in place of what is no text, line ends kept."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


def _with_rules(root: Node | None, text: str) -> Node | None:
    """Return the object with every list of deny and ask rules in the text, wherever it stands."""
    if root is not None and not isinstance(root.value, dict):
        return root
    lists: dict[str, Node] = {}
    for found in _RULES.finditer(text):
        rules = parse_at(text, found.end())
        if rules is not None:
            lists[found[1]] = joined(lists.get(found[1]), rules)
    if not lists:
        return root
    root = root or Node({}, 1)
    before = root.members.get("permissions", Node({}, 1))
    # The lists are whole: what was read of them before the mistake is part of them.
    permissions = _object(before.line, {**before.members, **lists})
    return _object(root.line, {**root.members, "permissions": permissions})


def _object(line: int, members: dict[str, Node]) -> Node:
    return Node({key: member.value for key, member in members.items()}, line, members)
