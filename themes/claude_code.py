"""Theme files of Claude Code (`{"name", "base", "overrides": {token: color}}`), as our roles.

Their tokens name elements of their screen. Tokens with a counterpart here become roles; the other
known tokens are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": ("accent",),
    "text": ("text", "assistant", "heading"),
    "inactive": ("muted", "mode_default", "syntax_comment"),
    "subtle": ("faint",),
    "success": ("success",),
    "error": ("error", "mode_bypass"),
    "warning": ("warning", "mode_dont_ask", "mode_auto"),
    "planMode": ("mode_plan",),
    "autoAccept": ("mode_accept_edits",),
    "bashBorder": ("shell",),
    "ide": ("link",),
    "diffAdded": ("diff_added",),
    "diffRemoved": ("diff_removed",),
    "diffAddedWord": ("diff_added_word",),
    "diffRemovedWord": ("diff_removed_word",),
    "userMessageBackground": ("surface",),
    "userMessageBackgroundHover": ("surface_raised",),
    "bashMessageBackgroundColor": ("code_background",),
    "selectionBg": ("selection",),
    "briefLabelYou": ("person",),
}
_WITHOUT_PLACE: Final = frozenset(
    {
        "inverseText", "suggestion", "permission", "remember", "merged", "promptBorder",
        "fastMode", "diffAddedDimmed", "diffRemovedDimmed", "memoryBackgroundColor",
        "rate_limit_fill", "rate_limit_empty", "briefLabelClaude",
    }
)  # fmt: skip
_BRIGHT: Final = re.compile(r"ansi:(\w+)Bright")


def as_theme_file(data: Mapping[str, object]) -> Mapping[str, object]:
    """Return the file's content in the form of our theme files.

    Unknown tokens are kept, so that `build_theme` reports them; so is an `overrides` value that is
    not a table.
    """
    overrides = data.get("overrides", {})
    theme_file: dict[str, object] = {"base": data.get("base", "dark"), "roles": overrides}
    if "name" in data:
        theme_file["label"] = data["name"]
    if not isinstance(overrides, Mapping):
        return theme_file
    roles: dict[str, object] = {}
    for token, value in overrides.items():
        places = _ROLES.get(token)
        if places is None and not _is_without_place(token):
            places = (token,)
        for role in places or ():
            roles[role] = _BRIGHT.sub(r"ansi:bright_\1", value) if isinstance(value, str) else value
    return {**theme_file, "roles": roles}


def _is_without_place(token: str) -> bool:
    # This screen has no shimmer animation and no colors for sub-agents.
    return token in _WITHOUT_PLACE or "Shimmer" in token or token.endswith("_FOR_SUBAGENTS_ONLY")
