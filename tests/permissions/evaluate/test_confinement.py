"""Which allow gets which confinement, over modes, levels, sources and answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from permissions.confinement import Confinement, SandboxLevel, can_hold, joint_confinement, widest
from permissions.context import SandboxState
from permissions.decision import (
    STRICTNESS,
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
)
from permissions.evaluate.cascade import evaluate_parts
from permissions.evaluate.confirmed_decision import apply_answer
from permissions.evaluate.hook_step import after_hooks
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import user_decision
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.examples import examples
from tests.permissions.engine import FILES, FULL, INSIDE, NOTHING, Engine
from tests.permissions.test_invariants import COMMANDS, MODES, SANDBOXES, TEXTS

PROVEN = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
READ_ONLY, PROJECT = Confinement.READ_ONLY, Confinement.PROJECT
PROJECT_FILES, NONE = Confinement.PROJECT_FILES, Confinement.NONE
ASKS = None


def decided(
    engine: Engine,
    command: str,
    *,
    mode: Mode = Mode.DEFAULT,
    sandbox: SandboxState = FULL,
    texts: list[RuleText] | None = None,
    more: Mapping[str, object] | None = None,
) -> Decision:
    context = engine.context(texts=texts or [], mode=mode, sandbox=sandbox)
    return decide_with_classifier(
        PermissionRequest("Bash", {"command": command, **(more or {})}), context
    )


def allow(text: str, source: RuleSource = RuleSource.USER) -> list[RuleText]:
    return [RuleText(text, RuleBehavior.ALLOW, source)]


TABLE: list[tuple[str, list[RuleText], Mode, Confinement | None, Confinement | None]] = [
    ("ls src", [], Mode.DEFAULT, READ_ONLY, READ_ONLY),
    ("find . -name x", [], Mode.DEFAULT, READ_ONLY, ASKS),
    ("x=1; [ \"$x\" = 1 ] && ls", [], Mode.DEFAULT, READ_ONLY, ASKS),
    ("cd src", [], Mode.DEFAULT, READ_ONLY, READ_ONLY),
    ("x=1", [], Mode.DEFAULT, READ_ONLY, ASKS),
    ("make", [], Mode.PLAN, READ_ONLY, Confinement.READ_ONLY),
    ("mkdir sub/new", [], Mode.ACCEPT_EDITS, PROJECT, ASKS),
    ("echo x > src/b", [], Mode.ACCEPT_EDITS, PROJECT, ASKS),
    ("make", [], Mode.BYPASS, NONE, NONE),
    ("ls src", [], Mode.BYPASS, NONE, NONE),
    ("make all", allow("Bash(make *)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("make all", allow("Bash"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("make all", allow("Bash(*)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("make", allow("Bash(make)"), Mode.DEFAULT, NONE, NONE),
    ("make", allow("Bash(make)"), Mode.DONT_ASK, NONE, NONE),
    ("make", allow("Bash(make)", RuleSource.SESSION), Mode.DEFAULT, NONE, NONE),
    ("make", allow("Bash(make)", RuleSource.LOCAL), Mode.DEFAULT, NONE, NONE),
    ("make", allow("Bash(make)", RuleSource.CLI), Mode.DEFAULT, NONE, NONE),
    ("make", allow("Bash(make)", RuleSource.PROJECT), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("make", allow("Bash(make)", RuleSource.POLICY), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("timeout 5 make", allow("Bash(make)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("CI=1 make", allow("Bash(make)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("ls *.py", allow("Bash(ls *.py)"), Mode.DEFAULT, NONE, NONE),
    ("ls a.py", allow("Bash(ls *.py)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("ls > b", allow("Edit(./b)"), Mode.DEFAULT, PROJECT_FILES, ASKS),
    ("make && ls src", allow("Bash(make)"), Mode.DEFAULT, NONE, NONE),
    ("make | tail -5", allow("Bash(make)"), Mode.DEFAULT, NONE, NONE),
    ("make && find . -name x", allow("Bash(make)"), Mode.DEFAULT, ASKS, ASKS),
    ("make; ls src", allow("Bash(make)"), Mode.DEFAULT, NONE, ASKS),
    ("make && cd src", allow("Bash(make *)"), Mode.DEFAULT, PROJECT_FILES, PROJECT_FILES),
    ("x=$(make); ls", allow("Bash(make *)"), Mode.DEFAULT, ASKS, ASKS),
    (": 'a[$(id)]'; [[ _ -eq 1 ]]", allow("Bash(make)"), Mode.DEFAULT, ASKS, ASKS),
    ("make; : 'a[$(id)]'; [[ _ -eq 1 ]]", allow("Bash(make)"), Mode.DEFAULT, ASKS, ASKS),
    ("x=1; ls", allow("Bash(ls *)"), Mode.DEFAULT, READ_ONLY, ASKS),
]  # fmt: skip


@pytest.mark.parametrize(("command", "texts", "mode", "full", "less"), TABLE)
def test_an_allow_names_what_makes_its_reason_true(
    engine: Engine,
    command: str,
    texts: list[RuleText],
    mode: Mode,
    full: Confinement | None,
    less: Confinement | None,
) -> None:
    found = decided(engine, command, texts=texts, mode=mode)
    assert (found.behavior is Behavior.ALLOW, found.confinement) == (full is not None, full)
    if mode is Mode.PLAN:
        return
    for sandbox in (FILES, NOTHING):
        found = decided(engine, command, texts=texts, mode=mode, sandbox=sandbox)
        assert (found.behavior is Behavior.ALLOW, found.confinement) == (less is not None, less)
        if less is not None:
            # At `files` denied files are not hidden, so not all of it holds there either.
            is_held = less is not PROJECT_FILES
            assert all(entry.is_enforceable is not False for entry in found.trace) is is_held


BESIDE = [
    ("make && ls src > b", Mode.DEFAULT, PROJECT_FILES),
    ("npm t; make", Mode.DEFAULT, PROJECT_FILES),
    ("make | npm t", Mode.DEFAULT, PROJECT_FILES),
    ("for i in 1 2; do make; npm t; done", Mode.DEFAULT, PROJECT_FILES),
    ("make && mkdir n", Mode.ACCEPT_EDITS, PROJECT_FILES),
    ("npm t; make", Mode.DONT_ASK, PROJECT_FILES),
    ("npm t; make", Mode.BYPASS, NONE),
    ("npm t; make", Mode.PLAN, READ_ONLY),
    ("make && ls src", Mode.DEFAULT, NONE),
]


@pytest.mark.parametrize(("command", "mode", "confinement"), BESIDE)
def test_a_word_for_one_part_is_none_for_the_others(
    engine: Engine, command: str, mode: Mode, confinement: Confinement
) -> None:
    rules = [*allow("Bash(make)"), *allow("Bash(npm *)"), *allow("Edit(./b)")]
    found = decided(engine, command, texts=rules, mode=mode)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, confinement)


FOREIGN = [
    ("git status", READ_ONLY),
    ("cd sub && git status", READ_ONLY),
    ("git -C sub log -3", READ_ONLY),
    ("cd sub && git status && ls", READ_ONLY),
    ("git add .", NONE),
    ("cd sub && git add .", PROJECT_FILES),
    ("cd sub; git add .; git status", PROJECT_FILES),
    ("make", NONE),
    ("cd sub && make", PROJECT_FILES),
    ("cd sub && ./run.sh", PROJECT_FILES),
    ("./run.sh", NONE),
]


@pytest.mark.parametrize(("command", "confinement"), FOREIGN)
def test_a_rule_lets_nothing_run_unconfined_in_another_directory(
    engine: Engine, command: str, confinement: Confinement
) -> None:
    rules = [
        RuleText(f"Bash({text})", RuleBehavior.ALLOW, RuleSource.USER)
        for text in (
            "git status",
            "git log *",
            "git add .",
            "git -C sub log -3",
            "make",
            "ls",
            "./run.sh",
        )
    ]
    found = decided(engine, command, texts=rules)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, confinement)


@pytest.mark.parametrize("command", ["git add .", "make"])
def test_a_users_word_is_none_for_a_directory_that_is_not_trusted(
    engine: Engine, command: str
) -> None:
    context = engine.context(allow=(f"Bash({command})",), trusted=False)
    found = decide_with_classifier(PermissionRequest("Bash", {"command": command}), context)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, PROJECT_FILES)


LOOPS = [
    ("for i in 1 2; do make; done", True),
    ("for FILE in 1 2; do make; done", True),
    ("for PATH in ./x; do make; done", False),
    ("for HOME in ./x; do make; done", False),
    ("for BASH_ENV; do make; done", False),
    ("for JAVA_HOME in ./x; do make; done", False),
    ("select PATH in ./x; do make; done", False),
]


@pytest.mark.parametrize(("command", "is_allowed"), LOOPS)
@pytest.mark.parametrize("rule", ["Bash(make)", "Bash(make *)"])
def test_a_loop_sets_no_variable_unasked_that_decides_what_runs(
    engine: Engine, command: str, rule: str, is_allowed: bool
) -> None:
    for sandbox in (FULL, FILES, NOTHING):
        found = decided(engine, command, texts=allow(rule), sandbox=sandbox)
        assert (found.behavior is Behavior.ALLOW) is is_allowed


def _parts_confined(found: Decision) -> list[Confinement]:
    return [one.confinement for one in found.parts if one.confinement is not None]


@PROVEN
@given(command=COMMANDS, other=COMMANDS, texts=TEXTS, mode=MODES, sandbox=SANDBOXES)
def test_a_confinement_is_that_of_the_reason_and_nothing_else_has_one(
    engine: Engine,
    command: str,
    other: str,
    texts: list[RuleText],
    mode: Mode,
    sandbox: SandboxState,
) -> None:
    found = decided(engine, f"{command} && {other}", texts=texts, mode=mode, sandbox=sandbox)
    assert (found.confinement is not None) is (found.behavior is Behavior.ALLOW)
    if found.confinement is None:
        return
    join = widest if mode is Mode.BYPASS else joint_confinement
    assert found.confinement is join(_parts_confined(found))
    assert len(_parts_confined(found)) == len(found.parts)
    if mode is Mode.PLAN and sandbox.level is SandboxLevel.FULL:
        assert found.confinement is READ_ONLY
        return
    if sandbox.works_inside:
        assert found.confinement is (READ_ONLY if mode is Mode.PLAN else PROJECT)
        return
    for part in found.parts:
        by_user = part.rule is not None and part.rule.source in {
            "localSettings", "userSettings", "cliArg", "session",
        }  # fmt: skip
        if part.confinement is NONE:
            exact = part.rule is not None and "*" not in part.rule.text and "(" in part.rule.text
            assert mode is Mode.BYPASS or (by_user and exact)
        elif part.confinement is PROJECT_FILES:
            assert part.reason is Reason.ALLOW_RULE
        elif part.confinement is PROJECT:
            assert mode is Mode.ACCEPT_EDITS
            assert can_hold(sandbox.level, PROJECT)
        else:
            assert (
                part.source in (DecisionSource.MODE, DecisionSource.CLASSIFIER)
                or found.source is DecisionSource.CLASSIFIER
                # What a repository names runs no less confined for a rule.
                or any("git" in one.text for one in found.parts)
            )


@PROVEN
@given(command=COMMANDS, texts=TEXTS, mode=MODES)
def test_a_lower_level_never_makes_an_answer_looser(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode
) -> None:
    answers = [
        decided(engine, command, texts=texts, mode=mode, sandbox=sandbox)
        for sandbox in (FULL, FILES, NOTHING)
    ]
    strict = [STRICTNESS[one.behavior] for one in answers]
    if mode is not Mode.PLAN or answers[0].behavior is not Behavior.ASK:
        # In plan mode a deny rule or an ask rule answers the same; what may be one asks at `full`.
        # A lower level may be the stricter one: what connects asks at `files` alone.
        assert strict[0] == min(strict)


ANSWERS = [
    (user_decision(Behavior.ALLOW), NONE),
    (
        Decision(Behavior.ALLOW, DecisionSource.BRIDGE, ReasonType.BRIDGE, Reason.BRIDGE, ""),
        NONE,
    ),
    (
        Decision(Behavior.ALLOW, DecisionSource.HOOK, ReasonType.HOOK, Reason.HOOK, ""),
        PROJECT_FILES,
    ),
]


@pytest.mark.parametrize(("answer", "alone"), ANSWERS)
def test_an_answer_gets_the_confinement_of_whoever_gave_it(
    engine: Engine, answer: Decision, alone: Confinement
) -> None:
    def of(command: str, mode: Mode, sandbox: SandboxState, rules: tuple[str, ...] = ()) -> object:
        context = engine.context(allow=rules, mode=mode, sandbox=sandbox)
        request = PermissionRequest("Bash", {"command": command})
        return apply_answer(answer, evaluate_parts(request, context)).confinement

    assert of("make", Mode.DEFAULT, FULL) is alone
    assert of("make && deploy", Mode.DEFAULT, FULL, ("Bash(deploy)",)) is alone
    assert of("make", Mode.DEFAULT, INSIDE) is PROJECT
    assert of("git push", Mode.PLAN, FULL) is READ_ONLY


BEYOND = [
    ("npm install", "npm needs the network"),
    ("curl http://x.example/y", "curl needs the network"),
    ("make && sudo -u me git push", "git needs the network"),
    ("timeout 5 git fetch", "git needs the network"),
    ("bash -c 'git commit -m a'", "git writes the repository"),
    ("git add .", "git writes the repository"),
]
ALL = [RuleText("Bash", RuleBehavior.ALLOW, RuleSource.USER)]


@pytest.mark.parametrize(("command", "why"), BEYOND)
def test_what_the_level_files_would_refuse_asks_to_run_outside(
    engine: Engine, command: str, why: str
) -> None:
    rules = [*ALL, *allow("Bash(git *)"), *allow("Bash(curl *)"), *allow("Bash(sudo *)")]
    found = decided(engine, command, texts=rules, sandbox=FILES)
    assert (found.behavior, found.source, found.reason) == (
        Behavior.ASK,
        DecisionSource.SANDBOX,
        Reason.UNSANDBOXED,
    ), found.message
    assert why in found.message
    assert found.trace[-1].answer == "ask"
    assert decided(engine, command, texts=rules, sandbox=FILES, mode=Mode.DONT_ASK).behavior is (
        Behavior.DENY
    )
    assert decided(engine, command, texts=rules, sandbox=NOTHING).behavior is Behavior.ALLOW
    in_bypass = decided(engine, command, texts=rules, sandbox=FILES, mode=Mode.BYPASS)
    assert (in_bypass.behavior, in_bypass.confinement) == (Behavior.ALLOW, NONE)


@pytest.mark.parametrize("command", ["npm test", "make", "git status -v", "git log -3", "npm -v"])
def test_what_it_does_not_refuse_is_allowed_there(engine: Engine, command: str) -> None:
    found = decided(engine, command, texts=ALL, sandbox=FILES)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, PROJECT_FILES), found.message


def test_a_users_word_for_the_text_or_a_setting_lifts_that(engine: Engine) -> None:
    exact = decided(engine, "git push", texts=allow("Bash(git push)"), sandbox=FILES)
    assert (exact.behavior, exact.confinement) == (Behavior.ALLOW, NONE)
    writing = replace(FILES, git_writes=True)
    assert decided(engine, "git add .", texts=ALL, sandbox=writing).confinement is PROJECT_FILES
    assert decided(engine, "git push", texts=ALL, sandbox=writing).behavior is Behavior.ASK


def test_every_command_is_read_only_where_the_user_wants_it(engine: Engine) -> None:
    state = SandboxState(SandboxLevel.FULL, is_read_only=True)
    for text in ("Bash(make)", "Bash(make *)"):
        found = decided(engine, "make", texts=allow(text), sandbox=state)
        assert found.confinement is READ_ONLY
    found = decided(engine, "make", mode=Mode.BYPASS, sandbox=state)
    assert found.confinement is READ_ONLY
    low = SandboxState(SandboxLevel.FILES, is_read_only=True)
    assert decided(engine, "make", texts=allow("Bash(make)"), sandbox=low).behavior is Behavior.ASK


SMALL = [
    "ls", "ls -la src", "cat src/a.py | head -5", "cd src && ls", "git status", "git log --oneline",
    "wc -l src/a.py 2>&1 | tail -1", "ls 2>/dev/null", "[ -f src/a.py ] && cat src/a.py",
    "grep -rn TODO src", "true", "pwd",
]  # fmt: skip
NOT_SMALL = [
    "ls; pwd", "ls || pwd", "ls &", "(ls)", "! ls", "ls *.py", "echo $X", "echo \"$HOME\"",
    "cat $(ls)", "find . -name x", "sort src/a.py", "rg x", "git diff", "git -C src status",
    "git status --ignored", "ls | xargs cat", "[[ x -eq 1 ]]", "[ -v x ]", "test -n \"$X\"",
    "x=1", "x=1 ls", "echo $((1+1))", "for i in 1 2; do ls; done", "if true; then ls; fi",
    "cat < src/a.py", "cat <<< x", "timeout 5 ls", "/bin/ls", "sed -n p src/a.py", "awk 1 src/a.py",
    "sort --compress-program=x src/a.py", "ls\npwd", "{ ls; }", "cat <(ls)", "f() { ls; }; f",
]  # fmt: skip


@pytest.mark.parametrize("sandbox", [FILES, NOTHING])
@pytest.mark.parametrize("command", SMALL)
def test_plain_reading_is_not_asked_about_anywhere(
    engine: Engine, command: str, sandbox: SandboxState
) -> None:
    found = decided(engine, command, sandbox=sandbox)
    assert (found.behavior, found.confinement) == (Behavior.ALLOW, READ_ONLY), found.message


@pytest.mark.parametrize("sandbox", [FILES, NOTHING])
@pytest.mark.parametrize("command", NOT_SMALL)
def test_what_is_less_plain_asks_where_nothing_enforces_reading(
    engine: Engine, command: str, sandbox: SandboxState
) -> None:
    assert decided(engine, command, sandbox=sandbox).behavior is Behavior.ASK


def test_a_hook_that_allows_where_nothing_holds_it_is_reported(engine: Engine) -> None:
    for sandbox, is_held in ((FULL, True), (FILES, False), (NOTHING, False)):
        context = engine.context(sandbox=sandbox)
        found = evaluate_parts(PermissionRequest("Bash", {"command": "make"}), context)
        allowed = apply_answer(after_hooks(found.decision, "allow", "fine", "hook"), found)
        assert allowed.confinement is PROJECT_FILES
        assert all(entry.is_enforceable is not False for entry in allowed.trace) is is_held


def test_a_hook_that_asks_takes_the_confinement_with_the_allow(engine: Engine) -> None:
    context = engine.context(allow=["Bash(make)"])
    found = evaluate_parts(PermissionRequest("Bash", {"command": "make"}), context)
    asked = apply_answer(after_hooks(found.decision, "ask", "sure?", "hook"), found)
    assert (asked.behavior, asked.confinement) == (Behavior.ASK, None)
