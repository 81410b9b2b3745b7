"""Name patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.search.glob_match import GlobMatcher


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/a.py", "a.py", True),
        ("src/**", "src/x/y", True),
        ("src/**", "src", False),
        ("a**b", "aXXb", True),
        ("a**b/c", "aX/b/c", False),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("[a-c]x", "bx", True),
        ("x[/]y/z", "x/y/z", False),
        ("*.{ts,tsx}", "a/b.tsx", True),
        ("{src,lib}/**/*.{a,b}", "lib/q/x.b", True),
        ("{a,{b,c}}.x", "c.x", True),
        ("a{b", "a{b", True),
        ("[", "[", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("a b 🙂*", "a b 🙂.txt", True),
        ("a\nb", "a\nb", True),
        (".*", ".hidden", True),
        ("*", "x/.hidden", True),
        ("*a*b*c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        ("*ab*ab", "ab", False),
        ("*ab*ab", "abab", True),
        ("a*?b", "ab", False),
        ("a*?b", "axb", True),
        ("**/**/a", "x/y/z/a", True),
        ("a/**/**/b", "a/b", True),
        ("{a,b}{c,d}", "bd", True),
        ("{a,b/c}.x", "b/c.x", True),
        (r"\{a,b}", "{a,b}", True),
        ("[z-a]x", "[z-a]x", True),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert GlobMatcher(pattern).matches(path) is expected


def test_no_pattern_takes_long() -> None:
    name = "a" * 250
    assert not GlobMatcher("*a" * 40 + "*b").matches(name)
    assert not GlobMatcher("**/*a/" * 20 + "b").matches("/".join([name[:10]] * 20))
    assert GlobMatcher("{a,b}" * 30).matches("{a,b}" * 30)


@given(st.text(alphabet="ab*?[]{},!\\/-^", max_size=12), st.text(alphabet="ab/[{", max_size=8))
def test_any_text_is_a_pattern(pattern: str, path: str) -> None:
    GlobMatcher(pattern).matches(path)


@given(st.text(alphabet="ab./é 🙂", min_size=1, max_size=12).filter(lambda t: t.strip("/") == t))
def test_text_without_magic_matches_itself(text: str) -> None:
    assert GlobMatcher(text).matches(text)
