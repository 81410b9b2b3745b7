"""Grapheme clusters and their width in cells: the one measure for layout, caret and diff.

A cluster is what a user takes for one character; its width is 1 or 2 cells (streaming-and-events,
"The Output Rendering Model").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

Cluster = tuple[str, int]
"""A grapheme cluster and its width in cells, 1 or 2."""

CLUSTER_LIMIT: Final = 32
"""Code points of a cluster that are used; more only pile up marks on one character."""

# Characters of one cell that make no cluster with each other: Latin, punctuation, arrows, lines and
# blocks. Most screens have no others, and the tables for the rest take 17 ms to load.
_PLAIN: Final = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2193\u2195\u21b3\u2200-\u22ff"
    "\u2387\u23bf\u23ce\u23f5\u23f8\u2500-\u25fc\u2610\u2611\u2713\u2717\u273b\u276f\u2800-\u28ff]*"
)
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_CACHED_LENGTH: Final = 256
_CONTROLS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Direction controls are among them: from one cell they would turn round those beside it."""


class _Terminal:
    """How the terminal draws what takes several code points; there is one terminal."""

    joins_emoji = True
    """Whether emoji that a joiner, a skin tone or a selector belongs to take the cells of one."""
    joins_flags = True
    """Whether the two halves of a flag take two cells together."""


def draw_apart(*, emoji: bool = False, flags: bool = False) -> bool:
    """Measure emoji or flags code point by code point, as this terminal draws them.

    Returns whether that is a change: everything must be laid out again then.
    """
    before = _Terminal.joins_emoji, _Terminal.joins_flags
    _Terminal.joins_emoji &= not emoji
    _Terminal.joins_flags &= not flags
    is_changed = before != (_Terminal.joins_emoji, _Terminal.joins_flags)
    if is_changed:
        _cached_clusters.cache_clear()
        is_one_cluster.cache_clear()
    return is_changed


def _graphemes(text: str) -> Iterable[str]:
    """Return what the terminal draws as one, without the marks that take no cell."""
    from wcwidth import iter_graphemes  # late: see _PLAIN

    if _Terminal.joins_emoji and _Terminal.joins_flags:
        return iter_graphemes(text)
    return (part for whole in iter_graphemes(text) for part in _as_drawn(whole))


def _as_drawn(grapheme: str) -> Iterable[str]:
    is_flag = _FLAG.fullmatch(grapheme) is not None
    is_joined = _Terminal.joins_flags if is_flag else _Terminal.joins_emoji
    return (grapheme,) if is_joined else grapheme


def is_plain(text: str) -> bool:
    """Return whether every character of the text is a cluster of one cell."""
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
    """Return the clusters of the text in order; control characters and surrogates are left out.

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
    for grapheme in _graphemes(_CONTROLS.sub("", text)):
        width = min(2, wcswidth(grapheme))
        if width > 0:
            clusters.append((grapheme[:CLUSTER_LIMIT], width))
        elif clusters:
            before, before_width = clusters[-1]
            clusters[-1] = ((before + grapheme)[:CLUSTER_LIMIT], before_width)
    return clusters
