"""Grapheme clusters and their width in cells: used by layout, caret and diff alike.

A cluster is what users perceive as one character; its width is 1 or 2 cells (streaming-and-events,
"The Output Rendering Model").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal

Cluster = tuple[str, int]
"""A grapheme cluster and its width in cells, 1 or 2."""

CLUSTER_LIMIT: Final = 32
"""Maximum number of code points of a cluster; more would only stack marks on one character."""

# Characters of one cell that form no clusters together: Latin, punctuation, arrows, lines and
# blocks. Most screens have no others, and the tables for the rest take 17 ms to load.
_PLAIN: Final = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2195\u21b3\u2200-\u22ff"
    "\u2387\u23bf\u23ce\u23f5\u23f8\u2500-\u25fc\u2610\u2611\u2713\u2717\u273b\u276f\u2800-\u28ff]*"
)
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_SELECTOR: Final = "\ufe0f"
"""Variation selector 16: requests the emoji form of a character that also has a text form."""
_BEFORE_TONE: Final = re.compile("(?<!^)(?=[\U0001f3fb-\U0001f3ff])")
_CACHED_LENGTH: Final = 256
_CONTROLS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Including bidirectional controls, which would reorder the cells beside them."""


class _Terminal:
    """How the terminal draws clusters of several code points; there is only one terminal."""

    split_kinds: frozenset[str] = frozenset()
    """What it draws code point by code point. `family`: all emoji of several code points;
    `tone`: skin tones (tmux 3.3, which joins families and ignores the selector); `flag`: the two
    halves of flags."""


def measure_by_code_point(what: Literal["family", "tone", "flag"]) -> bool:
    """Measure a kind of emoji code point by code point, as this terminal draws it.

    Returns whether that is a change, after which everything must be laid out again.
    """
    if what in _Terminal.split_kinds:
        return False
    _Terminal.split_kinds |= {what}
    _cached_clusters.cache_clear()
    is_one_cluster.cache_clear()
    return True


def _graphemes(text: str) -> Iterable[str]:
    """Return the parts of the text that the terminal draws as one character each."""
    from wcwidth import iter_graphemes  # late: see _PLAIN

    if not _Terminal.split_kinds:
        return iter_graphemes(text)
    return (part for whole in iter_graphemes(text) for part in _as_drawn(whole))


def _as_drawn(grapheme: str) -> Iterable[str]:
    kind = "flag" if _FLAG.fullmatch(grapheme) else "family"
    if kind in _Terminal.split_kinds:
        return grapheme
    return _BEFORE_TONE.split(grapheme) if "tone" in _Terminal.split_kinds else (grapheme,)


def is_plain(text: str) -> bool:
    """Return whether every character of the text is known to be a cluster of one cell."""
    return (text.isascii() and text.isprintable()) or _PLAIN.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def is_one_cluster(text: str) -> bool:
    """Return whether the text is a single grapheme cluster."""
    if is_plain(text):
        return len(text) == 1
    return len(_split(text)) == 1


def without_controls(text: str) -> str:
    """Return the text without control characters and surrogates, as `clusters` shows it."""
    return text if is_plain(text) else _CONTROLS.sub("", text)


def clusters(text: str) -> Sequence[Cluster]:
    """Return the clusters of the text in order; control characters and surrogates are omitted.

    Zero-width clusters are attached to the one before; at the start of the text they are dropped.
    """
    if is_plain(text):
        return [(character, 1) for character in text]
    return _cached_clusters(text) if len(text) <= _CACHED_LENGTH else _split(text)


def text_width(text: str) -> int:
    """Return the width of the text in cells: the sum over its clusters."""
    if is_plain(text):
        return len(text)
    return sum(width for _grapheme, width in clusters(text))


@lru_cache(maxsize=8192)
def _cached_clusters(text: str) -> Sequence[Cluster]:
    return tuple(_split(text))


def _split(text: str) -> list[Cluster]:
    from wcwidth import wcswidth  # late: see _PLAIN

    clusters: list[Cluster] = []
    splits_tones = "tone" in _Terminal.split_kinds
    for grapheme in _graphemes(_CONTROLS.sub("", text)):
        drawn = grapheme.replace(_SELECTOR, "") if splits_tones else grapheme
        width = min(2, wcswidth(drawn))
        if width > 0:
            clusters.append((grapheme[:CLUSTER_LIMIT], width))
        elif clusters:
            last_grapheme, before_width = clusters[-1]
            clusters[-1] = ((last_grapheme + grapheme)[:CLUSTER_LIMIT], before_width)
    return clusters
