"""Command patterns of Bash rules: `git push *`, `npm run test:*`, `ls -la`.

A pattern is read into words as a shell would, so that quoting in a rule and quoting in a command
need not agree; `*` stands for any characters and spans words; a final ` *` (or `:*`) is a word
boundary: it also fits the command without further words.
"""

from __future__ import annotations

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN, StarPattern

WORD_END = "\x1f"
"""Separates the words of a command in the text that patterns are matched against.

Commands and rules with control characters are refused earlier, so it cannot occur in a word.
"""

_STAR = "\x00"
_OPERATORS = frozenset("|;&<>$`\n")
_AROUND_OPERATOR = compile_late(r" ?([|;&<>(){}]+) ?")


class BashPattern(Struct, frozen=True):
    """One command pattern, ready to match."""

    text: str
    """As written."""
    head: str | None
    """The program name when it is literal; None when the first word has a wildcard."""
    full: StarPattern
    """Against words joined by `WORD_END`."""
    bare: StarPattern | None
    """The pattern without its final ` *`; None without a word boundary."""
    spaced_pattern: StarPattern
    """Like `full`, against words joined by spaces (deny and ask only)."""
    spaced_bare: StarPattern | None
    wholes: tuple[StarPattern, ...]
    """Against a whole command (deny and ask only): one with and one without its final ` *`; none
    where the pattern has no operator of the shell."""
    needle: str
    """Contained in every text that matches, so that most rules can be excluded quickly."""

    @property
    def is_exact(self) -> bool:
        """Whether the pattern has no wildcard."""
        return self.full.is_exact

    def matches(self, joined_text: str) -> bool:
        """Return whether the words joined by `WORD_END` match."""
        return self.full.matches(joined_text) or (
            self.bare is not None and self.bare.matches(joined_text)
        )

    def matches_spaced(self, spaced_text: str) -> bool:
        """Return whether the text, words joined by single spaces, matches."""
        return self.spaced_pattern.matches(spaced_text) or (
            self.spaced_bare is not None and self.spaced_bare.matches(spaced_text)
        )

    def matches_whole(self, whole: str) -> bool:
        """Return whether a command with operators matches, in the form of `whole_text`."""
        return any(pattern.matches(whole) for pattern in self.wholes)

    def may_match(self, joined_text: str) -> bool:
        """Return whether the words could match for some value of their unknown parts."""
        # A word of which nothing is known may also vanish (`git push $EMPTY`), its separator too.
        open_ended = joined_text.replace(WORD_END + UNKNOWN, UNKNOWN)
        return self.full.may_match(open_ended) or (
            self.bare is not None and self.bare.may_match(open_ended)
        )

    def subsumes(self, other: BashPattern) -> bool:
        """Return whether every command that matches `other` matches this pattern."""
        covers_full = self.full.subsumes(other.full) or (
            self.bare is not None and self.bare.subsumes(other.full)
        )
        if not covers_full:
            return False
        if other.bare is None:
            return True
        return self.full.subsumes(other.bare) or (
            self.bare is not None and self.bare.subsumes(other.bare)
        )


def whole_text(command: str) -> str:
    """Return a command with single spaces, and with none around operators of the shell."""
    return _AROUND_OPERATOR.sub(r"\1", " ".join(command.split()))


def has_operator(text: str) -> bool:
    """Return whether a rule or a command has operators of the shell."""
    return not _OPERATORS.isdisjoint(text)


def bash_pattern(text: str) -> BashPattern:
    """Read the specifier of a Bash rule. Every text is a pattern; nothing is raised."""
    pattern = text[:-2] + " *" if text.endswith(":*") else text
    words = _words(pattern)
    has_boundary = len(words) > 1 and words[-1] == _STAR
    head = words[0] if words and _STAR not in words[0] else None
    spaced_text = " ".join(words)
    wholes = [spaced_text] if has_operator(text) else []
    bare = spaced_bare = None
    if has_boundary:
        bare = _star_pattern(WORD_END.join(words[:-1]))
        spaced_bare = _star_pattern(" ".join(words[:-1]))
        if wholes:
            wholes.append(" ".join(words[:-1]))
    return BashPattern(
        text=text,
        head=head,
        full=_star_pattern(WORD_END.join(words)),
        bare=bare,
        spaced_pattern=_star_pattern(spaced_text),
        spaced_bare=spaced_bare,
        wholes=tuple(_star_pattern(whole_text(each)) for each in wholes),
        needle=max((piece for word in words for piece in word.split(_STAR)), key=len, default=""),
    )


def _star_pattern(text: str) -> StarPattern:
    while _STAR + _STAR in text:
        text = text.replace(_STAR + _STAR, _STAR)
    return StarPattern(tuple(text.split(_STAR)))


def _words(pattern: str) -> list[str]:
    """Split into words, quotes removed and wildcards replaced by `_STAR`."""
    words: list[str] = []
    current: list[str] = []
    in_word = False
    quote = ""
    # An apostrophe without a partner is text, as in `echo don't *`.
    quotes = {mark for mark in "\"'" if pattern.count(mark) % 2 == 0}
    characters = iter(pattern)
    for character in characters:
        if character in " \t" and not quote:
            if in_word:
                words.append("".join(current))
            current, in_word = [], False
            continue
        in_word = True
        if character == "\\" and quote != "'":
            current.append(next(characters, "\\"))
        elif character == quote:
            quote = ""
        elif character in quotes and not quote:
            quote = character
        else:
            current.append(_STAR if character == "*" else character)
    if in_word:
        words.append("".join(current))
    return words
