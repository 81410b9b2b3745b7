"""A decision in words: every step is there in its order, and exactly one of them decided."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from msgspec.structs import replace

from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    PartVerdict,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)
from permissions.evaluate.hook_step import after_hooks, after_rewrite
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.explain.explain_decision import (
    explain_steps,
    explanation_lines,
    extra_detail,
    home_relative,
    place_relative,
    reason_text,
    with_rules,
)
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import NOTHING, Engine

COMMANDS = (
    "ls",
    "make",
    "npm test",
    "npm test && git push > x.log",
    "echo x > /tmp/out",
    "rm $DIR/x",
    "curl example.com",
    "echo 'open",
    "ls | head -3",
    "git push; curl x; cat /etc/hosts",
)
RULES = (
    RuleText("Bash(npm test)", RuleBehavior.ALLOW, RuleSource.USER, "/h/.agent/s.json", 3),
    RuleText("Bash(git push *)", RuleBehavior.ASK, RuleSource.LOCAL, "/p/.agent/l.json", 7),
    RuleText("Bash(curl *)", RuleBehavior.DENY, RuleSource.POLICY, "/etc/m.json", 1),
)
NAMES = ["Scope", "Deny rules", "Ask rules", "Allow rules", "Mode"]


def decision_on(engine: Engine, tool: str, given: object, mode: Mode) -> Decision:
    context = engine.context(texts=RULES, mode=mode, sandbox=NOTHING)
    key = "command" if tool == "Bash" else "file_path"
    decision = decide_with_classifier(PermissionRequest(tool, {key: given}), context)
    return with_rules(decision, context.rules)


@pytest.mark.parametrize(
    ("call", "mode"),
    list(
        itertools.product(
            [
                *(("Bash", command) for command in COMMANDS),
                ("Read", "/etc/hosts"),
                ("Edit", ".git/config"),
                ("Write", "src/new"),
                ("Zap", "x"),
            ],
            Mode,
        )
    ),
    ids=str,
)
def test_every_check_is_reported_and_one_decided(
    engine: Engine, call: tuple[str, str], mode: Mode
) -> None:
    decision = decision_on(engine, *call, mode)
    told = explain_steps(decision)
    parts = [part for part in told if part.first == 1]
    assert len(parts) == max(1, len(decision.parts))
    for part in parts:
        assert [step.name for step in part.steps][:5] == NAMES
    steps = [step for part in told for step in part.steps]
    deciding = [step for step in steps if step.decides]
    by_table = sum(part.source is DecisionSource.CLASSIFIER for part in decision.parts)
    assert len(deciding) == len(decision.parts) - by_table + (by_table > 0)
    assert all(step.answer in {"allow", "ask", "deny"} for step in deciding)
    assert str(decision.behavior) in {step.answer for step in deciding}
    assert (steps[-1].name == "You") is (decision.behavior is Behavior.ASK)
    assert all(step.words for step in steps)


def test_a_rule_is_named_with_its_file_and_line_in_every_step(engine: Engine) -> None:
    decision = decision_on(engine, "Bash", "npm test && git push", Mode.PLAN)
    lines = explanation_lines(decision, home_relative("/h"))
    assert "    4. Allow rules allows: Bash(npm test) (your settings, ~/.agent/s.json:3)" in lines
    assert "    3. Ask rules   asks: Bash(git push *) (local settings, /p/.agent/l.json:7)" in (
        line.replace("»", " ") for line in lines
    )


def test_a_step_that_was_not_asked_gives_the_reason(engine: Engine) -> None:
    lines = explanation_lines(decision_on(engine, "Bash", "git push", Mode.DEFAULT))
    assert lines == [
        "    1. Scope       stays inside your folders; no protected files",
        "    2. Deny rules  no match in any of the 6 sources",
        "  » 3. Ask rules   asks: Bash(git push *) (local settings, /p/.agent/l.json:7)",
        "    4. Allow rules not checked: an ask rule comes before them",
        "    5. Mode        nothing to add",
        "    6. You         are asked (with -p: denied)",
    ]
    (_, write) = explain_steps(decision_on(engine, "Bash", "echo x > /tmp/out", Mode.PLAN))
    assert write.title == "Part 2 of 2: > /tmp/out — the strictest part, so it decides"
    assert write.steps[1].words == "not checked: nothing lifts what the scope denies"


def test_the_mode_that_decides_is_named_as_users_know_it(engine: Engine) -> None:
    (told,) = explain_steps(decision_on(engine, "Bash", "make", Mode.DEFAULT))
    assert told.steps[4].words == "no rule covers this, so default mode asks"


def test_who_answered_is_reported(engine: Engine) -> None:
    pending = decision_on(engine, "Bash", "make", Mode.DEFAULT)
    answered = replace(
        pending,
        behavior=Behavior.ALLOW,
        source=DecisionSource.BRIDGE,
        reason=Reason.BRIDGE,
        trace=(
            *pending.trace,
            TraceEntry(TraceStep.HOOK, "none", "hook"),
            TraceEntry(TraceStep.CHANNEL, "none", "channel failed: ChannelFailed: no JSON"),
            TraceEntry(TraceStep.BRIDGE, "allow", "bridge"),
        ),
    )
    (told,) = explain_steps(answered)
    assert [step.name for step in told.steps if step.decides] == ["Bridge"]
    said = [(step.name, step.words, step.decides) for step in told.steps[6:]]
    assert said == [
        ("Hook", "hook: no opinion", False),
        ("Channel", "channel failed: ChannelFailed: no JSON", False),
        ("Bridge", "allows (bridge)", True),
    ]


def test_the_ground_names_the_source_in_words(engine: Engine) -> None:
    decision = decision_on(engine, "Bash", "npm test", Mode.PLAN)
    assert reason_text(decision, home_relative("/h")).startswith(
        "the allow rule Bash(npm test) applies (your settings, ~/.agent/s.json:3); plan mode asks"
    )


def test_a_file_is_shortened_below_home_alone() -> None:
    short = home_relative(str(Path("/home/a")))
    assert [short(file) for file in ("/home/a/x", "/home/ab/x", "/etc/x")] == [
        "~/x",
        "/home/ab/x",
        "/etc/x",
    ]


def test_a_part_of_many_lines_is_named_by_its_first(engine: Engine) -> None:
    command = "python - <<'X'\nprint(1)\nX\nmake " + "x" * 300
    first, second = (
        part.title for part in explain_steps(decision_on(engine, "Bash", command, Mode.DEFAULT))[:2]
    )
    assert "\n" not in first + second
    assert second.endswith("xxx …")


def test_a_hook_s_yes_that_does_not_count_is_reported(engine: Engine) -> None:
    pending = decision_on(engine, "Bash", "git push", Mode.DEFAULT)
    (told,) = explain_steps(after_hooks(pending, "allow", "fine", "my hook"))
    assert told.steps[5].words == "allows (my hook), which does not lift this"
    assert [step.name for step in told.steps if step.decides] == ["Ask rules"]


def test_what_a_hook_wants_looked_at_is_reported_where_rules_ask_anyway(engine: Engine) -> None:
    pending = after_hooks(
        decision_on(engine, "Bash", "git push", Mode.DEFAULT), "ask", "sure?", "g"
    )
    assert reason_text(pending).endswith("; g asks: sure?")
    (told,) = explain_steps(pending)
    assert told.steps[5].words == "g asks: sure?"
    assert [step.name for step in told.steps if step.decides] == ["Ask rules"]


def test_a_reason_that_names_its_hook_does_not_name_it_twice(engine: Engine) -> None:
    pending = decision_on(engine, "Bash", "git push", Mode.DEFAULT)
    assert after_hooks(pending, "deny", "Blocked by g.", "g").message == "Blocked by g."
    assert after_hooks(pending, "deny", "not here", "g").message == "g: not here"


def test_a_changed_input_is_reported(engine: Engine) -> None:
    pending = after_rewrite(decision_on(engine, "Bash", "git push", Mode.DEFAULT), "my hook")
    assert reason_text(pending).endswith("; my hook changed the input")
    (told,) = explain_steps(pending)
    assert told.steps[5].words == "my hook: changed the input"


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/ada/slugs/.agent/settings.json", ".agent/settings.json"),
        ("/home/ada/.agent/settings.json", "~/.agent/settings.json"),
        ("/home/ada/slugs2/a.json", "~/slugs2/a.json"),
        ("/etc/agent-tui/managed-settings.json", "/etc/agent-tui/managed-settings.json"),
    ],
)
def test_a_place_is_relative_to_the_directory_or_to_home(file: str, shown: str) -> None:
    assert place_relative("/home/ada/slugs", "/home/ada")(file) == shown


def test_a_project_that_is_the_home_directory_is_reported_as_home() -> None:
    assert place_relative("/home/ada", "/home/ada")("/home/ada/.agent/x") == "~/.agent/x"


def test_what_the_ground_says_is_not_repeated() -> None:
    part = PartVerdict(
        "curl -o x u", Behavior.ASK, DecisionSource.MODE, ReasonType.MODE, Reason.MODE_DEFAULT,
        "asks; -o writes", None, "through env; writes x; -o writes",
    )  # fmt: skip
    assert extra_detail(part, part.message) == "through env; writes x"
    assert extra_detail(replace(part, detail=""), part.message) == ""
