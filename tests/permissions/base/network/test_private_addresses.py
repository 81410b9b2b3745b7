"""WebFetch of an address on the inside of a network: no rule and no mode lifts the deny."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, DecisionSource, Reason
from permissions.mode import Mode
from tests.permissions.engine import Engine

INSIDE = [
    "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "https://192.168.1.1:8443/x",
    "http://172.16.3.4/", "http://0.0.0.0/", "http://100.64.0.1/", "http://[fe80::1]/",
    "http://[fd00::1]/", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/",
    "http://[2002:0a00:0001::]/", "http://0x0a000001/", "http://10.1/", "http://012.0.0.1/",
    "http://010.0.0.1/", "http://167772161/", "http://0x7f.1/", "http://2130706433/",
    "http://user@10.0.0.1/", "http://10.0.0.1./",
]  # fmt: skip


@pytest.mark.parametrize("url", INSIDE)
def test_an_inner_address_is_a_blocked_host(engine: Engine, url: str) -> None:
    for mode in (Mode.DEFAULT, Mode.BYPASS):
        found = engine.call("WebFetch", {"url": url}, allow=["WebFetch"], mode=mode)
        assert found.behavior is Behavior.DENY, url
        assert found.source is DecisionSource.SCOPE_CHECK
        assert found.reason is Reason.BLOCKED_HOST


OUTSIDE = [
    "https://example.com/", "http://93.184.216.34/", "http://[2606:4700::1111]/",
    "http://localhost:3000/", "http://127.0.0.1:8000/", "http://[::1]/", "http://10.example.com/",
    "http://internal.corp/",
]  # fmt: skip


@pytest.mark.parametrize("url", OUTSIDE)
def test_names_public_addresses_and_plain_loopback_are_a_matter_of_rules(
    engine: Engine, url: str
) -> None:
    assert engine.call("WebFetch", {"url": url}, allow=["WebFetch"]).behavior is Behavior.ALLOW
    assert engine.call("WebFetch", {"url": url}).behavior is Behavior.ASK


@pytest.mark.parametrize(
    "host", ["0x-1", "0x-1.1.1.1", "0x+a", "0x 1", f"{'0' * 5_000}1.0.0.1", f"1.{'0' * 5_000}.0.9"]
)
def test_what_is_nearly_an_address_is_judged_like_a_name(engine: Engine, host: str) -> None:
    found = engine.call("WebFetch", {"url": f"http://{host}/"})
    assert found.behavior is Behavior.ASK


def test_zeros_in_front_hide_no_inner_address(engine: Engine) -> None:
    url = f"http://{'0' * 5_000}12.0.0.1/"
    assert engine.call("WebFetch", {"url": url}).reason is Reason.BLOCKED_HOST
