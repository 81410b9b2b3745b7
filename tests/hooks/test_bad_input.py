"""Whatever is configured, printed or given: nothing raises, nothing odd becomes permission."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.answers.answer import SPECIFIC, TOP_LEVEL
from hooks.answers.outcome import aggregate
from hooks.answers.response import Printed, judge_printed, parse_stdout
from hooks.cli.payload_from_json import PayloadError, payload_from_json
from hooks.config.config import HookLayer, build_config, parse_hooks
from hooks.config.spec import CommandHandler, HandlerSpec, HookSource
from hooks.events.capabilities import EFFECTS
from permissions.base.network.guarded_connect import check_url
from permissions.base.network.url_patterns import url_matches

events = st.sampled_from(list(EFFECTS))
scalars = st.none() | st.booleans() | st.integers(-5, 9999) | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)
words = scalars | st.sampled_from(["allow", "deny", "block", "ask", "approve", "accept"])
names = st.sampled_from(sorted(TOP_LEVEL | SPECIFIC))
answers = st.dictionaries(names | st.text(max_size=4), words | values, max_size=4)
codes = st.sampled_from([0, 1, 2, 126, 127, -9])


def spec(event: str) -> HandlerSpec:
    return HandlerSpec(event, None, CommandHandler("hook"), HookSource.PROJECT, 0)


@given(events, codes, st.binary(max_size=200), st.binary(max_size=50))
def test_any_output_is_judged(event: str, code: int, stdout: bytes, stderr: bytes) -> None:
    outcome = aggregate(event, [judge_printed(spec(event), Printed(code, stdout, stderr))])
    json.dumps(outcome.to_json()).encode()
    assert outcome.decision not in ("allow", "ask", "defer")


@given(events, codes, answers, st.booleans(), answers)
def test_any_json_answer_is_judged(
    event: str, code: int, top: dict[str, Any], has_specific: bool, inner: dict[str, Any]
) -> None:
    if has_specific:
        top = {**top, "hookSpecificOutput": {"hookEventName": event, **inner}}
    printed = Printed(code, json.dumps(top).encode(), b"")
    outcome = aggregate(event, [judge_printed(spec(event), printed)])
    json.dumps(outcome.to_json())
    if code == 2 and EFFECTS[event].exit_two.value in ("deny", "block", "feedback"):
        assert outcome.decision in ("deny", "block")
        assert outcome.reason
    if outcome.decision == "allow":
        assert event in ("PreToolUse", "PermissionRequest", "PreModelSwitch")


@given(st.text(max_size=60))
def test_standard_output_is_one_object_or_nothing(text: str) -> None:
    try:
        parsed = parse_stdout(text)
    except ValueError:
        return
    assert parsed is None or json.loads(text.strip().removeprefix("\ufeff")) is not None


section_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["hooks", "matcher", "type", "command", "args", "timeout", "if", "url", "headers",
                 "once", "onFailure", "prompt", "async", "allowedEnvVars"]
            ),
            inner | st.sampled_from(["command", "http", "prompt", "Bash", "(", "*"]),
        )
    ),
    max_leaves=12,
)  # fmt: skip
sections = st.dictionaries(events | st.text(max_size=5), section_values, max_size=3)


@given(sections | values)
def test_any_section_is_read(section: object) -> None:
    specs, warnings = parse_hooks(section, source=HookSource.PROJECT)
    assert all(str(warning) for warning in warnings)
    assert all(found.event in EFFECTS for found in specs)


@given(st.dictionaries(st.text(max_size=5), values, max_size=3), sections)
def test_one_bad_entry_never_takes_the_good_one_with_it(
    settings: dict[str, Any], section: dict[str, Any]
) -> None:
    good = {"hooks": [{"type": "command", "command": "good"}]}
    groups = section.get("Stop")
    section = {**section, "Stop": [*(groups if isinstance(groups, list) else []), good]}
    config = build_config([HookLayer(HookSource.USER, {**settings, "hooks": section})])
    assert "good" in [found.label for found in config.handlers["Stop"]]


@given(events, st.dictionaries(st.sampled_from(["tool_name", "tool_input", "source"]), values))
def test_any_payload_is_taken_or_refused(event: str, raw: dict[str, Any]) -> None:
    try:
        payload = payload_from_json(event, raw)
    except PayloadError:
        return
    assert payload.to_json()["hook_event_name"] == event


@given(st.text(max_size=40), st.lists(st.text(max_size=12), max_size=2))
def test_any_url_is_judged(url: str, addresses: list[str]) -> None:
    for candidate in (url, f"http://{url}/", f"http://[{url}]/"):
        verdict = check_url(candidate, lambda host: addresses)
        assert verdict.reason
        assert not verdict.is_allowed or verdict.addresses


@pytest.mark.parametrize("pattern", ["*", "https://*/*", "https://a", "a.com", "://", ""])
@given(url=st.text(max_size=30))
def test_any_url_is_compared(pattern: str, url: str) -> None:
    assert url_matches(pattern, url) in (True, False)
