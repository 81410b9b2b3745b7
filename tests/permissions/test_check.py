"""The formats of `permissions check`, `explain` and `lint`, and what stands in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from permissions.check_cli import (
    EXIT_STATUS,
    Checker,
    LoadedSettings,
    explain,
    run_lint_jsonl,
)
from permissions.confinement import SandboxLevel
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import Engine


def _no_settings(root: Path, home: Path) -> LoadedSettings:
    return LoadedSettings()


def _check(engine: Engine, **call: object) -> Mapping[str, object]:
    return _answer(engine, call, classifier=False)


def _answer(
    engine: Engine, call: Mapping[str, object], *, classifier: bool
) -> Mapping[str, object]:
    checker = Checker(_no_settings, classifier=classifier, cwd=engine.root, home=engine.home)
    sandbox = "full" if classifier else "none"
    given = {
        "id": 7, "tool": "Bash", "rules": {}, "cwd": str(engine.root), "sandbox": sandbox, **call
    }  # fmt: skip
    if "command" in given:
        given["input"] = {"command": given.pop("command")}
    answer: Mapping[str, object] = json.loads(json.dumps(checker.check(json.dumps(given))))
    return answer


def _origin(answer: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(answer[key] for key in ("behavior", "source", "reason_type", "reason"))


def _kinds(answer: Mapping[str, object]) -> list[str]:
    warnings = answer["warnings"]
    assert isinstance(warnings, list)
    return [warning["type"] for warning in warnings]


def test_an_answer_has_exactly_the_documented_fields(engine: Engine) -> None:
    answer = _check(engine, command="ls")
    assert list(answer) == [
        "id", "behavior", "source", "reason_type", "reason", "message", "rule", "warnings",
        "confinement", "trace",
    ]  # fmt: skip
    trace = answer["trace"]
    assert isinstance(trace, list)
    assert [entry["step"] for entry in trace] == ["scope", "deny", "ask", "allow", "mode"]
    assert set(trace[0]) == {"step", "answer", "source", "rule", "part"}


ORIGINS = [
    ("nothing matches", {"command": "ls"}, ("ask", "mode", "mode", "mode_default")),
    (
        "an allow rule",
        {"command": "ls", "rules": {"cliArg": {"allow": ["Bash(ls)"]}}},
        ("allow", "cliArg", "rule", "allow_rule"),
    ),
    (
        "the first source is named",
        {
            "command": "ls",
            "rules": {"session": {"deny": ["Bash(ls)"]}, "userSettings": {"deny": ["Bash"]}},
        },
        ("deny", "userSettings", "rule", "deny_rule"),
    ),
    (
        "a deny of the last source beats an allow of the first",
        {
            "command": "ls",
            "rules": {"session": {"deny": ["Bash(ls)"]}, "policySettings": {"allow": ["Bash"]}},
        },
        ("deny", "session", "rule", "deny_rule"),
    ),
    (
        "an ask beats an allow",
        {"command": "ls", "rules": {"policySettings": {"allow": ["Bash"], "ask": ["Bash(ls *)"]}}},
        ("ask", "policySettings", "rule", "ask_rule"),
    ),
    (
        "dontAsk keeps the origin of an ask rule",
        {"command": "ls", "mode": "dontAsk", "rules": {"userSettings": {"ask": ["Bash(ls)"]}}},
        ("deny", "userSettings", "rule", "ask_rule"),
    ),
    (
        "dontAsk",
        {"command": "ls", "mode": "dontAsk"},
        ("deny", "mode", "mode", "mode_default"),
    ),
    (
        "dontAsk on a protected path",
        {"tool": "Write", "input": {"file_path": ".git/x"}, "mode": "dontAsk"},
        ("deny", "scope_check", "safety_check", "protected_path"),
    ),
    (
        "plan denies a write that a rule allows",
        {
            "tool": "Write",
            "input": {"file_path": "x"},
            "mode": "plan",
            "rules": {"userSettings": {"allow": ["Edit"]}},
        },
        ("deny", "mode", "mode", "mode_default"),
    ),
    (
        "plan asks about a named command",
        {"command": "make", "mode": "plan", "rules": {"userSettings": {"allow": ["Bash(make)"]}}},
        ("ask", "mode", "mode", "mode_default"),
    ),
    (
        "plan denies an unnamed command",
        {"command": "make", "mode": "plan"},
        ("deny", "mode", "mode", "mode_default"),
    ),
    (
        "plan asks about reading",
        {"command": "ls", "mode": "plan"},
        ("ask", "mode", "mode", "mode_default"),
    ),
    (
        "plan lets a named reading command run",
        {"command": "ls", "mode": "plan", "rules": {"userSettings": {"allow": ["Bash(ls)"]}}},
        ("allow", "userSettings", "rule", "allow_rule"),
    ),
    (
        "bypass",
        {"command": "make", "mode": "bypassPermissions", "bypass_available": True},
        ("allow", "mode", "mode", "mode_default"),
    ),
    (
        "bypass keeps an ask rule",
        {
            "command": "make",
            "mode": "bypassPermissions",
            "bypass_available": True,
            "rules": {"userSettings": {"ask": ["Bash(make)"]}},
        },
        ("ask", "userSettings", "rule", "ask_rule"),
    ),
    (
        "bypass does not lift a read outside",
        {"command": "cat /etc/hosts", "mode": "bypassPermissions", "bypass_available": True},
        ("ask", "scope_check", "safety_check", "scope_bounds_violation"),
    ),
    (
        "bypass lets a protected path through",
        {
            "tool": "Write",
            "input": {"file_path": ".git/x"},
            "mode": "bypassPermissions",
            "bypass_available": True,
        },
        ("allow", "mode", "mode", "mode_default"),
    ),
    (
        "a write outside",
        {"tool": "Write", "input": {"file_path": "/etc/x"}},
        ("ask", "scope_check", "safety_check", "scope_bounds_violation"),
    ),
    (
        "a read inside",
        {"tool": "Read", "input": {"file_path": "a"}},
        ("allow", "mode", "mode", "mode_default"),
    ),
    (
        "a read outside",
        {"tool": "Read", "input": {"file_path": "/etc/x"}},
        ("ask", "scope_check", "safety_check", "scope_bounds_violation"),
    ),
    (
        "a read outside with a rule",
        {
            "tool": "Read",
            "input": {"file_path": "/etc/x"},
            "rules": {"userSettings": {"allow": ["Read(//etc/**)"]}},
        },
        ("allow", "userSettings", "rule", "allow_rule"),
    ),
    (
        "an unknown tool",
        {"tool": "Frob", "input": {}, "rules": {"cliArg": {"allow": ["Frob"]}}},
        ("ask", "scope_check", "safety_check", "unknown_tool"),
    ),
    (
        "not parsable",
        {"command": "echo 'x", "rules": {"cliArg": {"allow": ["Bash"]}}},
        ("ask", "scope_check", "safety_check", "unparsable"),
    ),
    (
        "an MCP tool",
        {"tool": "mcp__gh__issue", "input": {}, "rules": {"cliArg": {"allow": ["mcp__gh"]}}},
        ("allow", "cliArg", "rule", "allow_rule"),
    ),
    (
        "the strictest part, first in order",
        {
            "command": "ls; make; rm x",
            "rules": {
                "policySettings": {"deny": ["Bash(rm *)"]},
                "session": {"deny": ["Bash(make)"]},
            },
        },
        ("deny", "session", "rule", "deny_rule"),
    ),
    (
        "a part that needs no permission decides nothing",
        {"command": "cd sub && make", "rules": {"session": {"allow": ["Bash(make)"]}}},
        ("allow", "session", "rule", "allow_rule"),
    ),
    (
        "a malformed deny asks about its tool",
        {
            "tool": "Read",
            "input": {"file_path": "a"},
            "rules": {"projectSettings": {"deny": ["Read(!a)"]}},
        },
        ("ask", "projectSettings", "rule", "ask_rule"),
    ),
    (
        "bypass disabled by policy",
        {
            "command": "make",
            "mode": "bypassPermissions",
            "bypass_available": True,
            "policy": {"disableBypassPermissionsMode": "disable"},
        },
        ("ask", "mode", "mode", "mode_default"),
    ),
    (
        "a blocked host",
        {
            "tool": "WebFetch",
            "input": {"url": "https://a.evil.example/x", "prompt": ""},
            "policy": {"blockedHosts": ["evil.example"]},
            "rules": {"policySettings": {"allow": ["WebFetch"]}},
        },
        ("deny", "scope_check", "safety_check", "blocked_host"),
    ),
    (
        "a blocked host in a command",
        {
            "command": "curl -s evil.example/x | head",
            "policy": {"blockedHosts": ["evil.example"]},
            "rules": {"policySettings": {"allow": ["Bash"]}},
        },
        ("deny", "scope_check", "safety_check", "blocked_host"),
    ),
    (
        "only managed rules",
        {
            "command": "make",
            "policy": {"allowManagedPermissionRulesOnly": True},
            "rules": {"userSettings": {"allow": ["Bash(make)"]}},
        },
        ("ask", "mode", "mode", "mode_default"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call", "expected"), ORIGINS, ids=lambda value: str(value)[:40])
def test_origin_of_an_answer(
    engine: Engine, name: str, call: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert _origin(_check(engine, **call)) == expected, name


WARNINGS = [
    ({"mode": "nonsense"}, ["unknown_mode"]),
    ({"mode": "bypassPermissions"}, ["bypass_unavailable"]),
    (
        {"mode": "acceptEdits", "mode_requested_by": "projectSettings"},
        ["mode_ignored"],
    ),
    ({"mode": "auto", "mode_requested_by": "subagent"}, ["mode_ignored"]),
    ({"mode": "plan", "mode_requested_by": "hook"}, []),
    ({"rules": {"userSettings": {"allow": ["Bash("]}}}, ["malformed_rule"]),
    ({"rules": {"userSettings": {"allow": [3, None]}}}, ["malformed_rule", "malformed_rule"]),
    ({"rules": {"userSettings": {"allow": ["bash"]}}}, ["unknown_tool"]),
    (
        {"trusted": False, "rules": {"localSettings": {"allow": ["Bash"]}}},
        ["untrusted_source"],
    ),
    (
        {"rules": {"userSettings": {"allow": ["Bash(ls)"], "deny": ["Bash"]}}},
        ["shadowed_rule"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), WARNINGS, ids=str)
def test_warnings(engine: Engine, call: dict[str, object], expected: list[str]) -> None:
    assert _kinds(_check(engine, command="ls", **call)) == expected


BAD_LINES = [
    "nonsense",
    "[]",
    '{"id": 1}',
    '{"id": 1, "tool": "Bash", "input": 3}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {"nobody": {}}}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {"userSettings": {"allow": "Bash"}}}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {}, "trusted": "yes"}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {}, "cwd": 3}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {}, "sandbox": "some"}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {}, "sandbox": true}',
    '{"id": 1, "tool": "Bash", "input": {}, "rules": {}, "sandbox_auto_allow": 1}',
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_reported_and_the_run_continues(engine: Engine, line: str) -> None:
    checker = Checker(_no_settings, cwd=engine.root, home=engine.home)
    good = '{"id": 2, "tool": "Bash", "input": {"command": "ls"}, "rules": {}}'
    first, second = (json.loads(answer) for answer in checker.run([line, "", good]))
    assert set(first) == {"id", "error"}
    assert second["id"] == 2
    assert checker.had_bad_line


@pytest.mark.parametrize(
    ("entry", "behavior", "kinds"),
    [
        (["Bash(ls *)"], "deny", ["malformed_rule"]),
        ({"rule": "Bash(ls *)", "match": [5]}, "deny", ["malformed_rule"]),
        ({"rule": ["Bash(ls *)"]}, "deny", ["malformed_rule"]),
        ("Bash(ls)x", "ask", ["malformed_rule"]),
        (5, "allow", ["malformed_rule"]),
    ],
    ids=str,
)
def test_a_deny_rule_of_the_wrong_shape_loosens_nothing(
    engine: Engine, entry: object, behavior: str, kinds: list[str]
) -> None:
    rules = {"userSettings": {"allow": ["Bash"], "deny": [entry]}}
    answer = _check(engine, command="ls", rules=rules)
    assert (answer["behavior"], _kinds(answer)) == (behavior, kinds)


def test_an_allow_rule_of_the_wrong_shape_allows_nothing(engine: Engine) -> None:
    entries = [["Bash"], {"rule": "Bash", "match": "ls"}, {"rule": ["Bash"]}, "Bash(ls)x"]
    answer = _check(engine, command="ls x", rules={"userSettings": {"allow": entries}})
    assert (answer["behavior"], _kinds(answer)) == ("ask", ["malformed_rule"] * 4)


def test_a_line_may_be_what_a_hook_is_given(engine: Engine) -> None:
    rules = {"userSettings": {"deny": ["Bash(git push *)"]}}
    line = {"tool_name": "Bash", "tool_input": {"command": "git push x"}, "rules": rules}
    checker = Checker(_no_settings, cwd=engine.root, home=engine.home)
    assert checker.check(json.dumps({**line, "cwd": str(engine.root)}))["behavior"] == "deny"
    make = {"tool_name": "Bash", "tool_input": {"command": "make"}, "rules": {}}
    refused = checker.check(json.dumps({**make, "permission_mode": "dontAsk"}))
    assert (refused["behavior"], refused["source"]) == ("deny", "mode")


def test_real_settings_count_without_rules(engine: Engine) -> None:
    rule = RuleText("Bash(ls)", RuleBehavior.ALLOW, RuleSource.USER, "/s.json", 3)
    lines = ['{"id": 1, "tool": "Bash", "input": {"command": "ls"}}']
    (answer,) = Checker(lambda root, home: LoadedSettings((rule,))).run(lines)
    found = json.loads(answer)
    assert found["rule"] == {
        "text": "Bash(ls)", "source": "userSettings", "file": "/s.json", "line": 3,
    }  # fmt: skip


CLASSIFIED = [
    ("ls -la", "allow"),
    ("git status && git diff | head", "allow"),
    ("cat src/a.py | wc -l", "allow"),
    ("find . -name '*.py' -type f", "allow"),
    ("sed -n 1,5p src/a.py", "allow"),
    ("cat /etc/passwd", "ask"),
    ("cat src/a.py > x", "ask"),
    ("find . -delete", "ask"),
    ("curl https://x", "ask"),
    ("npm test", "ask"),
    ("git push", "ask"),
    ("ls --unheard-of", "ask"),
    ("find . | xargs cat", "ask"),
    ("env", "ask"),
    ("LD_PRELOAD=x ls", "ask"),
]


@pytest.mark.parametrize(("command", "expected"), CLASSIFIED)
def test_the_local_classifier(engine: Engine, command: str, expected: str) -> None:
    answer = _answer(engine, {"command": command}, classifier=True)
    assert answer["behavior"] == expected
    assert _check(engine, command=command)["behavior"] == "ask"
    if expected == "allow":
        assert _origin(answer)[1:] == ("classifier", "classifier", "classifier")


def test_the_classifier_answers_no_ask_of_a_rule(engine: Engine) -> None:
    rules = {"userSettings": {"ask": ["Bash(ls *)"]}}
    answer = _answer(engine, {"command": "ls", "rules": rules}, classifier=True)
    assert answer["reason"] == "ask_rule"


@pytest.mark.parametrize(
    ("call", "status"),
    [("Bash(git status)", 0), ("Bash(make)", 3), ("Bash(rm x)", 4), ("Read(src/a.py)", 0)],
)
def test_explain(engine: Engine, call: str, status: int) -> None:
    context = engine.context(allow=["Bash(git *)"], deny=["Bash(rm *)"])
    text, decision = explain(call, context)
    assert EXIT_STATUS[decision.behavior] == status
    assert text.startswith(str(decision.behavior))


def _lint(rules: object, **more: object) -> list[dict[str, object]]:
    (line,) = run_lint_jsonl([json.dumps({"id": 1, "rules": rules, **more})])
    answer = json.loads(line)
    assert set(answer) == {"id", "warnings"}
    found: list[dict[str, object]] = answer["warnings"]
    return found


SHADOWS = [
    (["Bash(ls:*)"], ["Bash"], [], ["deny_shadow"]),
    (["Bash(ls:*)"], [], ["Bash(*)"], ["ask_shadow"]),
    (["Bash(ls *)"], ["Bash(ls *)"], [], ["deny_shadow"]),
    (["Bash(git push origin *)"], ["Bash(git push:*)"], [], ["deny_shadow"]),
    (["Bash(git *)"], ["Bash(git push *)"], [], []),
    (["Bash(lsof)"], ["Bash(ls *)"], [], []),
    (["Bash(lsof)"], ["Bash(ls*)"], [], ["deny_shadow"]),
    (["Edit(src/**)"], ["Edit(src/)"], [], ["deny_shadow"]),
    (["Edit(src/a/*.ts)"], ["Edit(src/**)"], [], ["deny_shadow"]),
    (["Edit(src/**)"], ["Edit(src/a/**)"], [], []),
    (["Write(src/x)"], ["Edit(src/**)"], [], ["deny_shadow"]),
    (["Edit(//etc/x)"], ["Edit(/etc/x)"], [], ["wrong_anchor"]),
    (["WebFetch(domain:a.x.com)"], ["WebFetch(domain:*.x.com)"], [], ["deny_shadow"]),
    (["WebFetch(domain:x.com)"], ["WebFetch(domain:*.x.com)"], [], []),
    (["mcp__gh__x"], ["mcp__gh"], [], ["deny_shadow"]),
    (["mcp__gh__x"], ["mcp__*"], [], ["deny_shadow"]),
    (["Agent(Explore)"], ["Agent"], [], ["deny_shadow"]),
    (["Bash(ls)"], ["Bash("], [], ["malformed_rule"]),
    (["Bash(ls"], ["Bash"], [], ["malformed_rule"]),
    (["Bash(npx *)"], [], [], ["runner_wildcard"]),
    (["Edit(/etc/hosts)"], [], [], ["wrong_anchor"]),
    (["Bash(a && b *)"], [], [], ["unreachable"]),
    (["Bash(a *; b)"], [], [], ["unreachable"]),
    (["Bash(a && b)", "Bash(a; b)"], [], [], []),
    (["Bash(git commit -m 'a && b')"], [], [], []),
    (['Bash(git commit -m "a; b")'], [], [], []),
    ([r"Bash(find . -exec ls {} \;)"], [], [], []),
    (["Bash(git:* push)"], [], [], ["unreachable"]),
    (["Bash(npm run test:*)"], [], [], []),
    (["Bash(watch *)"], [], [], ["unreachable"]),
    (["Bash(setsid:*)"], [], [], ["unreachable"]),
    (["Bash(watch ls)"], [], [], []),
    (["Bash(docker exec *)"], [], [], ["runner_wildcard"]),
    (["Bash(bash:*)"], [], [], ["runner_wildcard"]),
    (["Bash(sh -c *)"], [], [], ["runner_wildcard"]),
    (["Bash(bash -n x.sh)"], [], [], []),
    (["Bash(git *)", "Bash(git push *)"], [], [], ["duplicate"]),
    (["Bash(git *)", "Bash(git push)"], ["Bash"], [], ["deny_shadow", "deny_shadow"]),
    (["Bash(sudo git push)"], ["Bash(git push *)"], [], ["deny_shadow"]),
    (["Bash(/usr/bin/git -C x push)"], ["Bash(git push)"], [], ["deny_shadow"]),
    (["Bash(sudo git *)"], ["Bash(git push *)"], [], []),
    (["Bash(git push && ls)"], ["Bash(git push)"], [], ["deny_shadow"]),
    (["Bash(ls; git push | cat)"], [], ["Bash(git push)"], ["ask_shadow"]),
    (["Bash(ls)"], ["Bash(git *)", "Bash(git push *)"], [], []),
    (["Bash(timeout:*)"], [], [], ["unreachable"]),
    (["Bash(timeout:5)"], [], [], ["malformed_rule"]),
]  # fmt: skip


@pytest.mark.parametrize(("allow", "deny", "ask", "expected"), SHADOWS, ids=str)
def test_lint(allow: list[str], deny: list[str], ask: list[str], expected: list[str]) -> None:
    found = _lint({"userSettings": {"allow": allow, "deny": deny, "ask": ask}})
    assert [warning["type"] for warning in found if "_rule" not in str(warning["type"])] == [
        kind for kind in expected if "_rule" not in kind
    ]
    assert sorted(str(warning["type"]) for warning in found if warning["shadower"]) == sorted(
        kind for kind in expected if kind.endswith("shadow") or kind == "duplicate"
    )


def test_lint_names_both_rules_and_sources() -> None:
    rules = {"userSettings": {"allow": ["Bash(ls:*)"]}, "projectSettings": {"deny": ["Bash"]}}
    (found,) = _lint(rules)
    assert set(found) == {
        "type", "shadowed", "shadower", "source", "shadower_source", "message", "fix",
    }  # fmt: skip
    assert (found["shadowed"], found["source"]) == ("Bash(ls:*)", "userSettings")
    assert (found["shadower"], found["shadower_source"]) == ("Bash", "projectSettings")


@pytest.mark.parametrize(
    ("source", "expected"),
    [("userSettings", []), ("localSettings", []), ("projectSettings", ["ask_shadow"])],
)
def test_a_sandbox_lifts_personal_asks(source: str, expected: list[str]) -> None:
    rules: dict[str, dict[str, list[str]]] = {"cliArg": {"allow": ["Bash(ls *)"]}, source: {}}
    rules[source]["ask"] = ["Bash"]
    found = _lint(rules, sandbox_auto_allow=True)
    assert [warning["type"] for warning in found] == expected


def test_examples_are_checked() -> None:
    rule = {
        "rule": "Bash(git push *)",
        "match": ["git push x", "git pull"],
        "notMatch": ["git push"],
    }
    found = _lint({"userSettings": {"allow": [rule]}})
    assert [warning["type"] for warning in found] == ["failed_example", "failed_example"]


@pytest.mark.parametrize(("trusted", "behavior"), [(None, "ask"), (False, "ask"), (True, "allow")])
def test_real_rules_that_wait_for_trust_are_named(trusted: bool | None, behavior: str) -> None:
    rule = RuleText("Bash(make)", RuleBehavior.ALLOW, RuleSource.PROJECT)
    call: dict[str, object] = {"id": 1, "tool": "Bash", "input": {"command": "make"}}
    if trusted is not None:
        call["trusted"] = trusted
    (answer,) = Checker(lambda root, home: LoadedSettings(waiting=(rule,))).run([json.dumps(call)])
    found = json.loads(answer)
    assert found["behavior"] == behavior
    warned = [(warning["type"], warning["rule"]) for warning in found["warnings"]]
    assert warned == ([("untrusted_source", "Bash(make)")] if behavior == "ask" else [])


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_what_is_no_number_in_json_does_not_come_back(number: str) -> None:
    line = f'{{"id": {number}, "tool": "Read", "input": {{"file_path": "a"}}, "rules": {{}}}}'
    (answer,) = Checker(_no_settings).run([line])
    assert json.loads(answer, parse_constant=pytest.fail)["id"] is None
    assert "a JSON number" in answer or "too large a number" in answer


def test_a_byte_order_mark_before_the_first_line_is_passed_over() -> None:
    line = '\ufeff{"id": 1, "tool": "Read", "input": {"file_path": "a"}, "rules": {}}\r\n'
    (answer,) = Checker(_no_settings).run([line])
    assert json.loads(answer)["behavior"] == "allow"


@pytest.mark.parametrize(("level", "expected"), [("full", "allow"), ("none", "deny")])
def test_a_line_that_names_no_level_is_decided_by_this_machines(level: str, expected: str) -> None:
    line = {"id": 1, "tool": "Bash", "input": {"command": "make"}, "rules": {}, "mode": "plan"}
    checker = Checker(_no_settings, level=lambda: SandboxLevel(level))
    assert checker.check(json.dumps(line))["behavior"] == expected
    assert checker.check(json.dumps({**line, "sandbox": "full"}))["behavior"] == "allow"
