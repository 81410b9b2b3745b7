"""Suggests a valid rule in place of one that cannot be read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from permissions.base.text.late_pattern import compile_late
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.tool_names import KNOWN_TOOLS

_SHAPE: Final = compile_late(r"\s*([^()]*?)\s*(?:\((.*))?", re.DOTALL)
_ALIKE: Final = 0.7
"""Similarity above which one name is taken for a misspelling of another."""


def suggest_fix(text: str, behavior: RuleBehavior) -> str | None:
    """Return the most similar valid rule that names a known tool, or None."""
    for candidate in _candidates(text):
        # An allow rule without a specifier allows the whole tool, so it is never suggested.
        widens = behavior is RuleBehavior.ALLOW and "(" in text and "(" not in candidate
        if candidate != text and not widens and _is_sound(candidate, behavior):
            return candidate
    return None


def _is_sound(text: str, behavior: RuleBehavior) -> bool:
    rules, warnings = RuleSet.build([RuleText(text, behavior, RuleSource.SESSION)])
    return not warnings and bool(rules.rules)


def _candidates(text: str) -> Iterator[str]:
    result = _SHAPE.fullmatch(text)
    if result is None:
        return
    name, inside = result[1], result[2]
    names = [name, *_similar_tools(name)]
    for one in names:
        if inside is None:
            yield one
            continue
        content = inside.removesuffix(")").strip()
        if not content:
            yield one
            continue
        yield f"{one}({content})"
        if one == "WebFetch":
            yield f"WebFetch(domain:{_host(content)})"
        if one == "Bash":
            yield f"Bash({content.partition(':')[2].strip()})"


def _similar_tools(name: str) -> list[str]:
    """Return known tools that the name may mean, the most similar first."""
    # Imported late: only for a rule that cannot be read.
    import difflib

    by_fold = {tool.casefold(): tool for tool in sorted(KNOWN_TOOLS)}
    alike = difflib.get_close_matches(name.casefold(), by_fold, n=2, cutoff=_ALIKE)
    server = re.fullmatch(r"_*mcp_+([^\W_]\w*?)_*", name)
    return [*(by_fold[one] for one in alike), *([f"mcp__{server[1]}"] if server else [])]


def _host(text: str) -> str:
    """Return the host in a text such as a URL, or a host with a port."""
    bare = text.removeprefix("domain:").partition("://")[2] or text.removeprefix("domain:")
    return re.split(r"[/:?#]", bare)[0]
