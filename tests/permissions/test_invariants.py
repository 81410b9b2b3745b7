"""What holds for every command and every set of rules, not only for the examples."""

from __future__ import annotations

import msgspec.structs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissions.context import SandboxState
from permissions.decision import (
    STRICTNESS,
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
)
from permissions.evaluate.cascade import decide
from permissions.evaluate.hook_step import after_hooks
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.contender_authority import CLASSIFIER, HOOK, MODEL_CLASSIFIER, may_lift
from permissions.rule import RuleSet, RuleSource, RuleText
from permissions.rules.grammar import MalformedRule, RuleBehavior, parse_rule
from permissions.shell.parse.parse import parse
from permissions.shell.syntax import Script, Unparsable
from tests.examples import examples
from tests.permissions.engine import FILES, FULL, INSIDE, NOTHING, Engine

QUICK = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

COMMANDS = st.sampled_from(
    [
        "ls", "ls -la src", "cat src/a.py", "cat .env", "cat /etc/passwd", "git status", "git push",
        "git log --output=x", "npm test", "npm run build", "rm x", "rm -rf src", "rm /etc/x",
        "echo hi", "echo $X", "echo \"$HOME\"", "touch .git/x", "touch $X", "sed -i s/a/b/ x",
        "sed -n p src/a.py", "find . -name x", "find . -exec rm {} +", "sudo rm x", "cd sub",
        "cd /", "true", "FOO=1 ls", "CI=1 npm test", "timeout 5 npm test", "bash -c 'rm x'",
        "$X y", "cp src/a.py b", "mv a ../b", "python3 x.py", "curl https://x", "eval $X", "A=1",
    ]
)  # fmt: skip
RULES = st.sampled_from(
    [
        "Bash", "Bash(*)", "Bash(ls *)", "Bash(ls)", "Bash(cat *)", "Bash(git *)", "Bash(rm *)",
        "Bash(git push *)", "Bash(npm run *)", "Bash(npm test)", "Bash(echo *)", "Bash(touch *)",
        "Bash(sed *)", "Bash(* x)", "Bash(find *)", "Bash(sudo *)", "Bash(cp *)", "Bash(bash *)",
        "Edit", "Edit(src/**)", "Edit(*)", "Read(.env)", "Read(src/**)", "Read", "Read(//etc/**)",
        "Edit(.git/**)", "Bash(true)", "*", "Bash(", "Bash()", "Read(!x)", "Nonsense(x)",
    ]
)  # fmt: skip
MODES = st.sampled_from(list(Mode))
SOURCES = st.sampled_from(list(RuleSource))
BEHAVIORS = st.sampled_from(list(RuleBehavior))
TEXTS = st.lists(st.builds(RuleText, RULES, BEHAVIORS, SOURCES), max_size=6)
SANDBOXES = st.sampled_from([FULL, FILES, NOTHING, INSIDE])


def _answer(
    engine: Engine,
    command: str,
    texts: list[RuleText],
    mode: Mode,
    sandbox: SandboxState = FULL,
    *,
    classifier: bool = False,
) -> Decision:
    context = engine.context(texts=texts, mode=mode, sandbox=sandbox)
    decide_call = decide_with_classifier if classifier else decide
    return decide_call(PermissionRequest("Bash", {"command": command}), context)


@QUICK
@given(
    command=COMMANDS,
    texts=TEXTS,
    mode=MODES,
    extra=RULES,
    behavior=st.sampled_from([RuleBehavior.DENY, RuleBehavior.ASK]),
    source=SOURCES,
    sandbox=SANDBOXES,
    classifier=st.booleans(),
)
def test_adding_a_deny_or_ask_rule_never_loosens(
    engine: Engine,
    command: str,
    texts: list[RuleText],
    mode: Mode,
    extra: str,
    behavior: RuleBehavior,
    source: RuleSource,
    sandbox: SandboxState,
    classifier: bool,
) -> None:
    before = _answer(engine, command, texts, mode, sandbox, classifier=classifier)
    more = [*texts, RuleText(extra, behavior, source)]
    after = _answer(engine, command, more, mode, sandbox, classifier=classifier)
    is_named = any(entry.step == "ask" and entry.answer == "ask" for entry in after.trace)
    by_plan = before.source == "mode" or before.reason == "unparsable"
    if mode is Mode.PLAN and by_plan and is_named:
        # Plan mode is documented to deny commands that no rule names, and to ask about named ones.
        return
    assert STRICTNESS[after.behavior] >= STRICTNESS[before.behavior]


@QUICK
@given(
    command=COMMANDS,
    other=COMMANDS,
    texts=TEXTS,
    mode=MODES,
    sandbox=SANDBOXES,
    classifier=st.booleans(),
)
def test_removing_an_allow_rule_never_loosens(
    engine: Engine,
    command: str,
    other: str,
    texts: list[RuleText],
    mode: Mode,
    sandbox: SandboxState,
    classifier: bool,
) -> None:
    command = f"{command} && {other}"
    before = _answer(engine, command, texts, mode, sandbox, classifier=classifier)
    kept = [text for text in texts if text.behavior is not RuleBehavior.ALLOW]
    after = _answer(engine, command, kept, mode, sandbox, classifier=classifier)
    assert STRICTNESS[after.behavior] >= STRICTNESS[before.behavior]


ADDITIONS = [
    "{}; {other}", "{} && {other}", "{} || {other}", "{} | {other}", "{} & {other}", "{}\n{other}",
    "{other}; {}", "{other} && {}", "{other} | {}", "{} $({other})", "{} `{other}`",
    "{} \"$({other})\"", "{} <({other})", "{} > out.txt", "{} >> /etc/x", "{} 2> $X", "{} < .env",
    "{} > .git/x", "({})", "{{ {}; }}", "! {}", "{} &", "if {}; then {other}; fi",
    "for i in 1 2; do {}; done", "f() {{ {}; }}; {other}", "{} <<< $({other})",
    "{} <<EOF\n$({other})\nEOF", "{} > /dev/null", "{} 2>&1", "cd sub && {}",
]  # fmt: skip


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.BYPASS])
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(command=COMMANDS, other=COMMANDS, texts=TEXTS, addition=st.sampled_from(ADDITIONS))
def test_adding_an_operator_substitution_or_redirect_never_loosens(
    engine: Engine, mode: Mode, command: str, other: str, texts: list[RuleText], addition: str
) -> None:
    moves = addition.startswith("cd sub") or other.startswith("cd ")
    if moves and ("/" in command or "." in command):
        return  # another folder is another file
    before = _answer(engine, command, texts, mode)
    longer = addition.format(command, other=other)
    after = _answer(engine, longer, texts, mode)
    assert STRICTNESS[after.behavior] >= STRICTNESS[before.behavior], longer


OUTSIDE = st.sampled_from(
    [
        "rm /etc/x", "echo x > /etc/x", "touch ../x", "cp src/a.py /tmp/x", "mv src/a.py ~/x",
        "tee /etc/x", "cd / && touch x", "echo x > outlink/x", "sudo touch /etc/x",
        "bash -c 'touch /etc/x'", "dd of=/etc/x", "mkdir -p ~/x", "ln -s src/a.py /etc/x",
        "sed -i s/a/b/ /etc/x", "tar xf a -C /", "curl x -o /etc/x", "echo x >/tmp/x",
    ]
)  # fmt: skip


@QUICK
@given(command=OUTSIDE, texts=TEXTS, mode=MODES, trailing=COMMANDS, sandbox=SANDBOXES)
def test_nothing_but_a_user_allows_a_write_outside_scope(
    engine: Engine,
    command: str,
    texts: list[RuleText],
    mode: Mode,
    trailing: str,
    sandbox: SandboxState,
) -> None:
    allowed = [
        RuleText(text, RuleBehavior.ALLOW, RuleSource.POLICY)
        for text in ("Bash", "Edit", "Read", f"Bash({command})")
    ]
    context = engine.context(texts=[*allowed, *texts], mode=mode, sandbox=sandbox)
    for text in (command, f"{command}; {trailing}", f"{trailing} | ({command})"):
        request = PermissionRequest("Bash", {"command": text})
        found = decide(request, context)
        assert decide_with_classifier(request, context) == found
        if mode in (Mode.PLAN, Mode.DONT_ASK) or found.behavior is Behavior.DENY:
            assert found.behavior is Behavior.DENY
            continue
        assert (found.behavior, found.reason) == (Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION)
        assert found.write_dirs
        assert after_hooks(found, "allow", "fine", "hook").behavior is Behavior.ASK
        yes = Decision(Behavior.ALLOW, DecisionSource.HOOK, ReasonType.HOOK, Reason.HOOK, "fine")
        for name in (HOOK, CLASSIFIER, MODEL_CLASSIFIER):
            assert not may_lift(name, yes, found)


@QUICK
@given(command=COMMANDS, texts=TEXTS, mode=MODES)
def test_the_decision_is_pure(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode
) -> None:
    context = engine.context(texts=texts, mode=mode)
    request = PermissionRequest("Bash", {"command": command})
    first = decide(request, context)
    fresh = msgspec.structs.replace(context, rules=RuleSet.build(texts)[0])
    assert decide(request, context) == first
    assert decide(request, fresh) == first


@QUICK
@given(command=COMMANDS, texts=TEXTS, mode=MODES, deny=RULES)
def test_a_deny_of_any_source_beats_every_allow(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode, deny: str
) -> None:
    denied = RuleText(deny, RuleBehavior.DENY, RuleSource.SESSION)
    alone = _answer(engine, command, [denied], mode)
    together = _answer(engine, command, [*texts, denied], mode)
    if alone.reason == "deny_rule":
        assert together.behavior is Behavior.DENY


@QUICK
@given(text=st.text(max_size=60), behavior=BEHAVIORS)
def test_every_text_is_a_rule_or_malformed(text: str, behavior: RuleBehavior) -> None:
    parsed = parse_rule(text, behavior)
    if isinstance(parsed, MalformedRule):
        assert parsed.message


SHELL = st.lists(
    st.sampled_from(
        [
            *"abz01 \t\n;&|<>(){}[]$`'\"\\*?~#!=,-./@%^+:",
            *["$(", "${", "$((", "<<", "EOF", "if ", "do ", "case ", "esac", "then"],
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=examples(400), deadline=None)
@given(command=SHELL)
def test_every_text_is_read_or_refused(command: str) -> None:
    assert isinstance(parse(command), Script | Unparsable)


@settings(
    max_examples=examples(250),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(left=SHELL, right=SHELL)
def test_a_command_that_is_not_allowed_stays_so_in_any_surroundings(
    engine: Engine, left: str, right: str
) -> None:
    """`touch x` on a line of its own runs whatever stands around it, unless it is quoted."""
    rules = ["Bash(git *)", "Bash(a *)", "Bash(ls *)"]
    command = f"{left}\ntouch x\n{right}"
    if any(mark in left for mark in "'\"#\\<`") or "case" in left or "((" in left or "[[" in left:
        return
    decision = engine.bash(command, allow=rules)
    assert decision.behavior is not Behavior.ALLOW
