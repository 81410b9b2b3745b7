"""Working inside the sandbox: what runs without a question, what still asks, and leaving it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from permissions.confinement import Confinement, SandboxLevel
from permissions.context import SandboxState
from permissions.decision import Behavior, Decision, TraceStep
from permissions.evaluate.cascade import decide
from permissions.evaluate.hook_step import after_hooks
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.explain.explain_decision import explanation_lines
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleText
from tests.examples import examples
from tests.permissions.engine import FILES, FULL, INSIDE, NOTHING, Engine
from tests.permissions.test_invariants import COMMANDS, MODES, SANDBOXES, TEXTS

PROVEN = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
UNASKED = [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO, Mode.DONT_ASK]


def inside(
    engine: Engine,
    command: str,
    *,
    mode: Mode = Mode.DEFAULT,
    sandbox: SandboxState = INSIDE,
    allow: Iterable[str] = (),
    ask: Iterable[str] = (),
    deny: Iterable[str] = (),
    leaves: bool = False,
) -> Decision:
    context = engine.context(allow=allow, ask=ask, deny=deny, mode=mode, sandbox=sandbox)
    wish = {"dangerouslyDisableSandbox": True} if leaves else {}
    return decide(PermissionRequest("Bash", {"command": command, **wish}), context)


@pytest.mark.parametrize("mode", UNASKED)
@pytest.mark.parametrize(
    "command",
    [
        "make", "npm install", "curl https://x.example", "rm -rf src", "echo x > y", "cat $X",
        "touch $X", "echo 'unclosed", "$X y", "x=$(make); [[ $x -eq 1 ]]", "cat /etc/hosts",
        "cd .. && make", "ln -s /tmp y && touch y/z", "git push", "cd src", "true",
    ],
)  # fmt: skip
def test_commands_run_unasked_inside(engine: Engine, command: str, mode: Mode) -> None:
    found = inside(engine, command, mode=mode)
    assert (found.behavior, found.source, found.reason_type, found.reason) == (
        Behavior.ALLOW, "sandbox", "sandbox", "sandboxed",
    ), found.message  # fmt: skip
    assert found.confinement is Confinement.PROJECT
    assert found.trace[-1].step is TraceStep.SANDBOX
    assert found.trace[-1].answer == "allow"
    assert any("the command runs inside the sandbox" in one for one in explanation_lines(found))


@pytest.mark.parametrize("rule", ["Bash", "Bash(*)"])
def test_a_bare_ask_rule_is_passed_over(engine: Engine, rule: str) -> None:
    assert inside(engine, "make", ask=[rule]).reason == "sandboxed"
    assert inside(engine, "make", ask=[rule], sandbox=FULL).reason == "ask_rule"
    assert inside(engine, "git push", ask=[rule, "Bash(git push *)"]).reason == "ask_rule"
    assert inside(engine, "echo 'x", ask=[rule]).reason == "sandboxed"


def test_an_ask_that_could_not_be_read_still_asks(engine: Engine) -> None:
    assert inside(engine, "make", ask=["Bash(("]).reason == "ask_rule"
    assert inside(engine, "make", ask=["*"]).reason == "ask_rule"


def test_rules_with_content_and_protected_names_hold(engine: Engine) -> None:
    deny = ["Bash(git push *)", "Read(.env)"]
    assert inside(engine, "git push", deny=deny).behavior is Behavior.DENY
    assert inside(engine, "sudo git push", deny=deny).behavior is Behavior.DENY
    assert inside(engine, "cat .env", deny=deny).behavior is Behavior.DENY
    assert inside(engine, "make", deny=["Bash"]).behavior is Behavior.DENY
    assert inside(engine, "$X push", deny=deny).reason == "unparsable"
    assert inside(engine, "echo 'x", deny=deny).reason == "unparsable"
    assert inside(engine, "touch .git/hooks/x").reason == "protected_path"
    found = inside(engine, "touch .git/hooks/x", mode=Mode.DONT_ASK)
    assert (found.behavior, found.reason) == (Behavior.DENY, "protected_path")


def test_a_rule_that_allows_is_named_and_adds_no_right(engine: Engine) -> None:
    for rule in ("Bash(make)", "Bash(make *)", "Bash"):
        found = inside(engine, "make", allow=[rule])
        assert (found.reason, found.confinement) == ("allow_rule", Confinement.PROJECT)
    found = inside(engine, "make", mode=Mode.BYPASS)
    assert (found.source, found.confinement) == ("mode", Confinement.PROJECT)


ENABLED = SandboxState(SandboxLevel.FULL, is_enabled=True, excluded_commands=("docker *",))


def test_a_sandbox_that_is_only_enabled_confines_and_asks(engine: Engine) -> None:
    assert inside(engine, "make", sandbox=ENABLED).behavior is Behavior.ASK
    assert inside(engine, "make", sandbox=ENABLED, ask=["Bash"]).reason == "ask_rule"
    for rule in ("Bash(make)", "Bash(make *)"):
        found = inside(engine, "make", sandbox=ENABLED, allow=[rule])
        assert (found.reason, found.confinement) == ("allow_rule", Confinement.PROJECT)
    found = inside(engine, "docker ps", sandbox=ENABLED, allow=["Bash(docker ps)"])
    assert found.confinement is Confinement.NONE
    context = engine.context(sandbox=ENABLED)
    reading = decide_with_classifier(PermissionRequest("Bash", {"command": "ls"}), context)
    assert reading.confinement is Confinement.READ_ONLY


@pytest.mark.parametrize("level", [SandboxLevel.FILES, SandboxLevel.NONE])
def test_less_than_the_whole_sandbox_is_not_one_to_work_in(
    engine: Engine, level: SandboxLevel
) -> None:
    state = SandboxState(level, works_inside=True)
    assert inside(engine, "make", sandbox=state).behavior is Behavior.ASK


def test_other_tools_are_asked_about_as_before(engine: Engine) -> None:
    context = engine.context(sandbox=INSIDE)
    found = decide(PermissionRequest("Write", {"file_path": "src/a.py"}), context)
    assert found.behavior is Behavior.ASK


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.BYPASS])
@pytest.mark.parametrize("sandbox", [INSIDE, FULL, FILES, NOTHING])
def test_leaving_the_sandbox_is_for_a_user_alone(
    engine: Engine, mode: Mode, sandbox: SandboxState
) -> None:
    allow = ["Bash", "Bash(make)", "Bash(make *)"]
    found = inside(engine, "make", mode=mode, sandbox=sandbox, allow=allow, leaves=True)
    expected = Behavior.DENY if mode is Mode.DONT_ASK else Behavior.ASK
    assert (found.behavior, found.source, found.reason_type, found.reason) == (
        expected, "sandbox", "sandbox", "unsandboxed",
    )  # fmt: skip
    assert after_hooks(found, "allow", "fine", "hook").behavior is expected
    if expected is Behavior.ASK:
        asks = [entry for entry in found.trace if entry.step is TraceStep.SANDBOX]
        assert [entry.answer for entry in asks] == ["ask"]


def test_leaving_meets_denies_and_bypass(engine: Engine) -> None:
    assert inside(engine, "make", deny=["Bash(make)"], leaves=True).behavior is Behavior.DENY
    found = inside(engine, "make", mode=Mode.BYPASS, leaves=True)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, Confinement.NONE)
    assert inside(engine, "rm x", mode=Mode.PLAN, leaves=True).behavior is Behavior.DENY
    found = inside(engine, "ls", leaves=True)
    assert (found.behavior, found.reason) == (Behavior.ASK, "unsandboxed")
    shut = replace(INSIDE, allow_unsandboxed=False)
    assert inside(engine, "make", sandbox=shut, leaves=True).reason == "sandboxed"


def test_an_excluded_command_is_decided_as_outside(engine: Engine) -> None:
    state = replace(INSIDE, excluded_commands=("docker *", "make"))
    for command in ("docker ps", "sudo docker ps", "npm test && docker ps", "make"):
        found = inside(engine, command, sandbox=state)
        assert (found.behavior, found.source) == (Behavior.ASK, "mode"), command
    found = inside(engine, "docker ps", sandbox=state, allow=["Bash(docker *)"])
    assert found.confinement is Confinement.PROJECT_FILES
    for command in ("npm test", "make all", "echo 'x"):
        assert inside(engine, command, sandbox=state).reason == "sandboxed"


def test_plan_mode_runs_everything_that_it_cannot_prove_to_write(engine: Engine) -> None:
    for command in ("make", "npm test", "echo 'x", "$X y", "cat $X", "x=1; [[ $x -eq 1 ]]"):
        found = inside(engine, command, mode=Mode.PLAN, sandbox=FULL)
        assert (found.behavior, found.source, found.confinement) == (
            Behavior.ALLOW, "mode", Confinement.READ_ONLY,
        ), command  # fmt: skip
    for command in ("rm x", "echo x > y", "make && touch y", "touch $X", "echo x > /tmp/y"):
        assert inside(engine, command, mode=Mode.PLAN, sandbox=FULL).behavior is Behavior.DENY
    asks = inside(engine, "git push", mode=Mode.PLAN, sandbox=FULL, ask=["Bash(git push)"])
    assert asks.reason == "ask_rule"
    denied = inside(engine, "git push", mode=Mode.PLAN, sandbox=FULL, deny=["Bash(git push)"])
    assert denied.behavior is Behavior.DENY
    outside = inside(engine, "cat /etc/hosts", mode=Mode.PLAN, sandbox=FULL)
    assert outside.reason == "scope_bounds_violation"


@PROVEN
@given(command=COMMANDS, texts=TEXTS, mode=MODES, sandbox=SANDBOXES)
def test_a_deny_holds_at_every_level(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode, sandbox: SandboxState
) -> None:
    """What a deny rule denies where nothing is enforced, no sandbox lets through."""
    request = PermissionRequest("Bash", {"command": command})
    before = decide(request, engine.context(texts=texts, mode=mode, sandbox=NOTHING))
    after = decide_with_classifier(request, engine.context(texts=texts, mode=mode, sandbox=sandbox))
    if before.reason == "deny_rule":
        assert (after.behavior, after.reason) == (Behavior.DENY, "deny_rule")
    if before.write_dirs and mode is not Mode.PLAN:
        assert after.behavior is not Behavior.ALLOW
