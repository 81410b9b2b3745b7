"""Finds invisible characters that are part of an emoji sequence, as Unicode defines them.

An emoji may consist of several characters, some of them invisible, which change how the others are
drawn. Anywhere else the same characters could hide something.
"""

from __future__ import annotations

from typing import Final

from permissions.base.text.late_pattern import compile_late

_PICTURE: Final = (
    "\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001f9ff\U0001fa70-\U0001faff"
)
"""Emoji, including skin tones."""
_BOTH: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e"
    "\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a"
    "\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f"
    "\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be"
    "\u26c4\u26c5\u26c8\u26cf\u26d1\u26d3\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd"
    "\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744"
    "\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f004\U0001f170\U0001f171\U0001f17e"
    "\U0001f17f\U0001f21a\U0001f22f\U0001f321\U0001f324-\U0001f32c\U0001f336\U0001f37d"
    "\U0001f396\U0001f397\U0001f399-\U0001f39b\U0001f39e\U0001f39f\U0001f3cb-\U0001f3ce"
    "\U0001f3d4-\U0001f3df\U0001f3f3\U0001f3f5\U0001f3f7\U0001f43f\U0001f441\U0001f4fd"
    "\U0001f549\U0001f54a\U0001f56f\U0001f570\U0001f573-\U0001f579\U0001f587"
    "\U0001f58a-\U0001f58d\U0001f590\U0001f5a5\U0001f5a8\U0001f5b1\U0001f5b2\U0001f5bc"
    "\U0001f5c2-\U0001f5c4\U0001f5d1-\U0001f5d3\U0001f5dc-\U0001f5de\U0001f5e1\U0001f5e3"
    "\U0001f5e8\U0001f5ef\U0001f5f3\U0001f5fa\U0001f6cb\U0001f6cd-\U0001f6cf"
    "\U0001f6e0-\U0001f6e5\U0001f6e9\U0001f6f0\U0001f6f3"
)
"""Characters that are drawn as text or, with U+FE0F after them, as an emoji."""
_SIGNS: Final = "♀♂⚕⚖⚧☠✈❄❤⬛➡⬅↔↕"
"""Characters that may continue a joined emoji, besides pictures."""
_TAGS: Final = str.maketrans({chr(c): chr(0xE0000 + c) for c in range(ord("a"), ord("z") + 1)})
_FLAGS: Final = "|".join(name.translate(_TAGS) for name in ("gbeng", "gbsct", "gbwls"))
"""England, Scotland, Wales: flags that are written as tag characters after a black flag."""
_PARTS: Final = compile_late(
    f"(?<=[{_BOTH}])\ufe0f"
    "|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    f"|(?<=[{_PICTURE}])\u200d(?=[{_PICTURE}{_SIGNS}])"
    f"|(?<=[{_BOTH}]\ufe0f)\u200d(?=[{_PICTURE}{_SIGNS}])"
    f"|(?<=\U0001f3f4)(?:{_FLAGS})\U000e007f"
)


def unseen_parts(text: str) -> frozenset[int]:
    """Return the indexes of invisible characters that belong to an emoji."""
    return frozenset(place for match in _PARTS.finditer(text) for place in range(*match.span()))
