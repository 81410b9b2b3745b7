"""Which hosts a rule's pattern is for."""

from __future__ import annotations

import pytest

from permissions.matching.match_domain import matches_host
from permissions.rules.grammar import DomainPattern


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("a.org", ["a.org"], ["b.a.org", "a.org.b", "xa.org", "a-org", ""]),
        ("*.a.org", ["b.a.org", "c.b.a.org"], ["a.org", ".a.org", "b..a.org", "ba.org"]),
        ("*a.org", ["a.org", "ba.org"], ["b.a.org"]),
        ("a*.org", ["a.org", "ab.org"], ["a.b.org", "org"]),
        ("*", ["localhost"], ["a.org"]),
        ("*.*", ["a.org", "b.a.org"], ["org"]),
        ("a.*.b", ["a..b", "a.x.b"], ["a.b", "a.x.y.b"]),
        ("[::1]", ["::1"], ["::2"]),
    ],
)
def test_a_star_stays_in_its_label(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert all(matches_host(DomainPattern(pattern), host) for host in fitting)
    assert not any(matches_host(DomainPattern(pattern), host) for host in others)


def test_no_pattern_takes_long() -> None:
    assert not matches_host(DomainPattern("*a" * 60 + "b"), "a" * 250)
    assert not matches_host(DomainPattern("*a." * 60 + "b"), ".".join(["a" * 60] * 60))
