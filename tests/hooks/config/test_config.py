"""Reading `hooks` sections: everything odd is reported, nothing odd spoils the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.config.config import HookLayer, build_config, parse_hooks
from hooks.config.spec import CommandHandler, HookSource
from hooks.events.capabilities import EFFECTS

ROOT = Path(__file__).parents[3]

GOOD = {"type": "command", "command": "true"}


def read(section: object) -> tuple[list[str], list[str]]:
    specs, warnings = parse_hooks(section, source=HookSource.PROJECT, file="f.json")
    return [spec.event for spec in specs], [str(warning) for warning in warnings]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        pytest.param({"PreToolUze": [{"hooks": [GOOD]}]}, "did you mean PreToolUse", id="event"),
        pytest.param({"PreToolUse": [GOOD]}, "without its group", id="flat-handler"),
        pytest.param({"PreToolUse": "x"}, "expected a list of groups", id="groups-text"),
        pytest.param({"PreToolUse": [3]}, "expected a group", id="group-number"),
        pytest.param({"PreToolUse": [{"hooks": GOOD}]}, "must be a list", id="hooks-object"),
        pytest.param({"PreToolUse": [{"hooks": ["x"]}]}, "handler object", id="handler-text"),
        pytest.param({"PreToolUse": [{"hooks": [{"type": "x"}]}]}, "unknown `type`", id="type"),
        pytest.param(
            {"PreToolUse": [{"hooks": [{"type": "command"}]}]}, "`command` is missing", id="empty"
        ),
        pytest.param(
            {"PreToolUse": [{"matcher": 3, "hooks": [GOOD]}]}, "must be text", id="matcher-number"
        ),
        pytest.param([], "expected an object of events", id="section-list"),
        pytest.param(
            {"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]},
            "never runs",
            id="type-not-served",
        ),
        pytest.param(
            {"Stop": [{"hooks": [{**GOOD, "if": "Bash(ls)"}]}]}, "tool events only", id="if-on-stop"
        ),
    ],
)
def test_an_unusable_entry_is_reported_and_the_rest_counts(section: object, said: str) -> None:
    events, warnings = read(section)
    assert events == []
    assert len(warnings) == 1
    assert said in warnings[0]
    if isinstance(section, dict):
        events, _ = read({**section, "Notification": [{"hooks": [GOOD]}]})
        assert events == ["Notification"]


@pytest.mark.parametrize(
    ("group", "handler", "said"),
    [
        ({"matcher": "Bash(git *)"}, GOOD, "is a permission rule"),
        (
            {"matcher": "Edit(*.py)|Write(*.py)"},
            GOOD,
            '"matcher": "Edit|Write" and, in one handler',
        ),
        ({"matcher": "(B+)+"}, GOOD, "could take forever: it is taken for `*`"),
        ({}, {**GOOD, "command": 'bash "${CLAUDE_PLUGIN_ROOT}"/x.sh'}, "hooks of plugins only"),
        ({"matcher": "bash"}, GOOD, "case-sensitive, use `Bash`"),
        ({"matcher": "mcp__memory"}, GOOD, "use `mcp__memory__.*`"),
        ({"matcher": "mcp__"}, GOOD, "use `mcp__.*`"),
        ({"matcher": "(["}, GOOD, "not a regular expression"),
        ({"matcher": "a{99999999999999}"}, GOOD, "not a regular expression"),
        ({"matcher": "(" * 5000 + "a" + ")" * 5000}, GOOD, "not a regular expression"),
        ({}, {**GOOD, "timeout": 10**400}, "milliseconds were probably meant"),
        ({"if": "Bash(ls)"}, GOOD, "belongs to a handler"),
        ({}, {**GOOD, "timeout": 5000}, "milliseconds were probably meant (5)"),
        ({}, {**GOOD, "if": "Bash(git *) && Bash(ls)"}, "is not a permission rule"),
        ({}, {**GOOD, "if": "Bash(git"}, "is not a permission rule"),
        ({}, {**GOOD, "timeout": "5"}, "must be a number of seconds"),
        ({}, {**GOOD, "timeout": -1}, "must be a number of seconds"),
        ({}, {**GOOD, "onFailure": "explode"}, "`onFailure` must be"),
        ({}, {**GOOD, "command": "$CLAUDE_PROJECT_DIR/a.sh"}, "is not quoted"),
        ({}, {**GOOD, "command": "python3 hooks/check.py"}, "relative to the current directory"),
        ({}, {**GOOD, "command": 'echo "$CLAUDE_TOOL_NAME"'}, "is never set"),
        ({}, {**GOOD, "command": 'x "${CLAUDE_TOOL_INPUT_FILE_PATH}"'}, "is never set"),
        ({}, {**GOOD, "command": 'x "$CLAUDE_SESSION_ID"'}, "is never set"),
    ],
)
def test_what_looks_wrong_still_counts_and_is_reported(
    group: dict[str, object], handler: dict[str, object], said: str
) -> None:
    events, warnings = read({"PreToolUse": [{**group, "hooks": [handler]}]})
    assert events == ["PreToolUse"]
    assert len(warnings) == 1
    assert said in warnings[0]


def test_a_plain_configuration_has_no_warnings() -> None:
    section = {
        "_comment": "kept",
        "PreToolUse": [
            {
                "matcher": "Edit|Write",
                "description": "format",
                "hooks": [
                    {
                        "type": "command",
                        "command": '"$CLAUDE_PROJECT_DIR"/x.sh',
                        "id": "x",
                        "_comment": "kept",
                        "rewakeMessage": "?",
                        "timeout": 60,
                    }
                ],
            }
        ],
    }
    assert read(section) == (["PreToolUse"], [])


def test_command_alone_is_read_as_a_command_handler() -> None:
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [{"command": "true"}]}]}, source=HookSource.USER, file=None
    )
    assert specs[0].handler == CommandHandler("true")


def test_the_stop_of_an_agents_front_matter_is_its_subagent_stop() -> None:
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [GOOD]}]}, source=HookSource.AGENT, owner="agent:reviewer"
    )
    assert [spec.event for spec in specs] == ["SubagentStop"]


def layer(source: str, *, trusted: bool = True, **settings: object) -> HookLayer:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": f"echo {source}"}]}]}
    return HookLayer(HookSource(source), {"hooks": hooks, **settings}, f"{source}.json", trusted)


def sources(*layers: HookLayer) -> list[str]:
    return [spec.source.value for spec in build_config(layers).all()]


def test_untrusted_layers_contribute_a_warning_and_nothing_else() -> None:
    config = build_config([layer("project", trusted=False, disableAllHooks=True), layer("user")])
    assert [spec.source.value for spec in config.all()] == ["user"]
    assert "until this folder is trusted" in str(config.warnings[0])


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([layer("user", disableAllHooks=True), layer("project")], []),
        ([layer("user", disableAllHooks=True), layer("project", disableAllHooks=False)],
         ["user", "project"]),
        ([layer("policy"), layer("local", disableAllHooks=True)], ["policy"]),
        ([layer("policy", disableAllHooks=True), layer("local")], []),
        ([layer("policy", allowManagedHooksOnly=True), layer("user"), layer("plugin")], ["policy"]),
        ([layer("policy"), layer("user", allowManagedHooksOnly=True)], ["policy", "user"]),
    ],
    ids=["off", "project-on-again", "managed-stay", "managed-off", "managed-only", "not-managed"],
)  # fmt: skip
def test_switches_follow_precedence(layers: list[HookLayer], expected: list[str]) -> None:
    assert sources(*layers) == expected


def test_a_switch_also_holds_for_handlers_that_come_later() -> None:
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [GOOD]}]}, source=HookSource.SKILL, owner="skill:deploy"
    )
    assert build_config([layer("user", disableAllHooks=True)]).with_specs(specs).all() == ()
    assert len(build_config([layer("user")]).with_specs(specs).all()) == 2


def test_the_failure_default_makes_guards_fail_closed_unless_they_say_otherwise() -> None:
    section = {
        "PreToolUse": [{"hooks": [GOOD, {**GOOD, "command": "b", "onFailure": "ignore"}]}],
        "Stop": [{"hooks": [GOOD]}],
    }
    config = build_config(
        [HookLayer(HookSource.PROJECT, {"hooks": section, "hookFailureDefault": "block"})]
    )
    assert [spec.blocks_on_failure for spec in config.all()] == [True, False, False]


def test_one_mistake_in_many_places_is_reported_once() -> None:
    handlers = [{**GOOD, "command": f"$CLAUDE_PROJECT_DIR/{name}.sh"} for name in "abc"]
    config = build_config(
        [HookLayer(HookSource.PROJECT, {"hooks": {"Stop": [{"hooks": handlers}]}})]
    )
    (warning,) = config.warnings
    assert str(warning).endswith("(and 2 more like it)")


def test_url_lists_add_up_and_an_empty_one_blocks_all() -> None:
    one = HookLayer(HookSource.USER, {"allowedHttpHookUrls": ["https://a/*"]})
    none = HookLayer(HookSource.PROJECT, {"allowedHttpHookUrls": []})
    assert build_config([]).allowed_urls is None
    assert build_config([none]).allowed_urls == ()
    assert build_config([one, none]).allowed_urls == ("https://a/*",)


def test_handlers_can_be_added_and_removed_by_owner() -> None:
    config = build_config([layer("user")])
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [GOOD]}]}, source=HookSource.SKILL, owner="skill:deploy"
    )
    added = config.with_specs(specs)
    assert [spec.position for spec in added.all()] == [0, 1]
    assert added.without_owner("skill:deploy").all() == config.all()


@pytest.mark.parametrize(
    ("source", "switch", "said"),
    [
        (HookSource.USER, "disableAllHooks", "All hooks except managed ones are turned off"),
        (HookSource.POLICY, "disableAllHooks", "Managed settings turn off all hooks"),
        (HookSource.POLICY, "allowManagedHooksOnly", "allow no hooks but their own"),
        (HookSource.USER, "allowManagedHooksOnly", ""),
    ],
)
def test_what_is_switched_off_is_reported(source: HookSource, switch: str, said: str) -> None:
    config = build_config([HookLayer(source, {switch: True})])
    assert said in config.switched_off
    assert bool(said) is bool(config.switched_off)


def test_every_event_is_fired_by_something() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "agent").rglob("*.py"))
    unbuilt = {name for name in EFFECTS if not re.search(rf"\b{name}\b", sources)}
    assert unbuilt == set()
