"""Recover what can be read of a settings file with a syntax error: a comment or a missing comma
must not disable the rules after it.

Only for restrictions: the caller drops what widens access. Next: `agent.settings.file`.
"""

from __future__ import annotations

import json
import re
from typing import Final

from agent.settings.json_positions import JsonNode, ParsedJson, parse, parse_at
from permissions.base.text.late_pattern import compile_late

_COMMENT: Final = compile_late(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*', re.DOTALL)
_PLAIN_COMMENT: Final = compile_late(
    r'"(?:[^"\\\n]|\\[^\n])*(?:"|$)|(?:^|(?<=[,{}\[\]:"]))[ \t]*(?://[^\n]*|#[^\n]*'
    r"|/\*.*?(?:\*/|\Z))",
    re.DOTALL | re.MULTILINE,
)
"""Only where a comment is possible: after a missing quote `Read(src/**)` resembles one."""
_LAST_COMMA: Final = compile_late(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_RULES: Final = compile_late(r'"(deny|ask)"\s*:\s*(?=\[)')
_PIECE: Final = compile_late(r'(?:[^"\\\n]|\\[^\n])+')
"""Text between quotes, of which any may be missing."""
_AROUND: Final = " \t,['"
_LIKE_A_RULE: Final = compile_late(r"[A-Za-z_][\w-]*(?:\(.*\))?")


def recover(text: str, strict: ParsedJson) -> ParsedJson:
    """Return as much as possible of a text that `strict` could not parse to its end.

    Comments and trailing commas are skipped; after any other mistake, lists of deny and ask rules
    are found, and in them everything that resembles a rule. The error remains the first one, and
    line numbers are those of the text.
    """
    if strict.error is None:
        return strict
    text = text.removeprefix("\ufeff")
    lenient = parse(_LAST_COMMA.sub(_blank, _COMMENT.sub(_blank, text)))
    root = lenient.root or strict.root
    if lenient.error is not None:
        root = _with_rules(root, _PLAIN_COMMENT.sub(_blank, text))
    return ParsedJson(root, strict.error, lenient.notes)


def _blank(match: re.Match[str]) -> str:
    """Replace a comment or comma with spaces; keep line ends and strings."""
    return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])


def _with_rules(root: JsonNode | None, text: str) -> JsonNode | None:
    """Return the object with every list of deny and ask rules in the text, wherever it is."""
    if root is not None and not isinstance(root.value, dict):
        return root
    found_rules: dict[str, list[JsonNode]] = {}
    line, counted_to = 1, 0
    for match in _RULES.finditer(text):
        line += text.count("\n", counted_to, counted_to := match.end())
        found_rules.setdefault(match[1], []).extend(_rules_at(text, match.end(), line))
    if not found_rules:
        return root
    lists = {key: _list(rules) for key, rules in found_rules.items()}
    root = root or JsonNode({}, 1)
    previous = root.members.get("permissions", JsonNode({}, 1))
    # The lists include what was read of them before the mistake.
    permissions = _object(previous.line, {**previous.members, **lists})
    return _object(root.line, {**root.members, "permissions": permissions})


def _rules_at(text: str, start: int, line: int) -> list[JsonNode]:
    """Return the list that begins at `start`; if it is broken, everything that resembles a rule.

    After the first missing quote it is unknown which quotes open and which close, so the text
    between any two is used.
    """
    rule_list = parse_at(text, start, line)
    whole = rule_list.root.items if rule_list.root is not None else ()
    if rule_list.error is None:
        return list(whole)
    rules = [_strip(item) for item in whole]
    known_texts = {rule.value for rule in rules if isinstance(rule.value, str)}
    last, counted_to = "", start
    for match in _PIECE.finditer(text, start):
        piece = match[0].strip(_AROUND)
        if piece.startswith(":") and rules and rules[-1].value == last:
            rules.pop()  # it was a key, not a rule
        if piece.startswith(("]", ":", "}")):
            break
        line += text.count("\n", counted_to, counted_to := match.start())
        parts = _parts(piece)
        last = parts[-1]
        rules += [
            JsonNode(part, line)
            for part in parts
            if part not in known_texts and _LIKE_A_RULE.fullmatch(part)
        ]
    return rules


def _parts(piece: str) -> list[str]:
    """Return the texts in one piece: without quotes it may contain several."""
    parts = [piece] if _LIKE_A_RULE.fullmatch(piece) else piece.split(",")
    return [_unescape(part.strip(_AROUND)) for part in parts]


def _strip(item: JsonNode) -> JsonNode:
    return JsonNode(item.value.strip(_AROUND), item.line) if isinstance(item.value, str) else item


def _list(items: list[JsonNode]) -> JsonNode:
    line = items[0].line if items else 1
    return JsonNode([item.value for item in items], line, items=tuple(items))


def _unescape(inner: str) -> str:
    """Return a string's content; unchanged if it has invalid escapes, as in `C:\\Users`."""
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        return inner


def _object(line: int, members: dict[str, JsonNode]) -> JsonNode:
    return JsonNode({key: member.value for key, member in members.items()}, line, members)
