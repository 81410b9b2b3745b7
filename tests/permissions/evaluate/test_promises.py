"""The invariants of the engine that speak of nesting, wrappers, paths, plan mode and modes.

Those about adding and removing rules and operators are in `test_invariants`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec.structs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissions.decision import STRICTNESS, Behavior, Decision
from permissions.evaluate.cascade import decide
from permissions.matching.effective_rules import requested_mode
from permissions.mode import RAISED_MODES, Mode
from permissions.paths.protected_paths import ALL_NAMES
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.examples import examples
from tests.permissions.engine import Engine
from tests.permissions.test_invariants import COMMANDS, RULES, TEXTS

PROVEN = settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
MODES = st.sampled_from(list(Mode))


def bash(engine: Engine, command: str, **context: object) -> Decision:
    made = engine.context(**context)  # type: ignore[arg-type]
    return decide(PermissionRequest("Bash", {"command": command}), made)


def composed(templates: list[str]) -> Callable[[str], st.SearchStrategy[str]]:
    """Return what puts a command into templates, up to three deep."""

    def build(inner: str) -> st.SearchStrategy[str]:
        def fold(chosen: list[str]) -> str:
            text = inner
            for template in chosen:
                text = template.replace("@", text)
            return text

        return st.lists(st.sampled_from(templates), max_size=3).map(fold)

    return build


NESTS = [
    "@; ls", "ls && @", "ls | @", "(@)", "{ @; }", "! @", "@ &", "echo $(@)", "echo \"$(@)\"",
    "if true; then @; fi", "while @; do ls; done", "for i in 1 2; do @; done", "cat <(@)",
    "case x in x) @;; esac", "f() { @; }; f", "echo ${X:-$(@)}", "X=$(@) ls",
    "cat <<EOF\n$(@)\nEOF",
    "! { @; }", "time { @; }", "if ! { @; }; then ls; fi", "{ { @; }; }", "[[ -n $(@) ]]",
    "ls > $(@)", "coproc @", "echo $(( $(@) + 1 ))", "cat <<< $(@)",
]  # fmt: skip


@PROVEN
@given(data=st.data())
def test_a_denied_command_is_found_wherever_it_is_nested(
    engine: Engine, data: st.DataObject
) -> None:
    command = data.draw(composed(NESTS)("rm -rf src"))
    decision = bash(engine, command, allow=["Bash"], deny=["Bash(rm *)"], mode=Mode.BYPASS)
    assert decision.behavior is not Behavior.ALLOW, command
    # Some combinations are no commands; what is not understood is asked about at least.
    assert decision.behavior is Behavior.DENY or decision.reason == "unparsable", command


@PROVEN
@given(data=st.data())
def test_a_nested_command_needs_its_own_permission(engine: Engine, data: st.DataObject) -> None:
    rules = ["Bash(ls *)", "Bash(echo *)", "Bash(cat *)", "Edit"]
    command = data.draw(composed(NESTS)("npm publish"))
    assert bash(engine, command, allow=rules).behavior is not Behavior.ALLOW, command


WRAPS = [
    "timeout 5 @", "time @", "nice -n 5 @", "nohup @", "stdbuf -o0 @", "command @", "builtin @",
    "sudo @", "sudo -u root @", "doas @", "env @", "env -i A=1 @", "A=1 @", "PATH=. @", "exec @",
    "setsid @", "ionice -c2 @", "flock f @", "strace @", "xargs @", "busybox @", "watch @",
    "bash -c '@'", "eval @", "npx @", "uv run @", "ssh h @", "unbuffer @", "script -c '@' f",
]  # fmt: skip
OPEN = {"timeout 5 @", "time @", "nice -n 5 @", "nohup @", "stdbuf -o0 @", "command @", "builtin @"}


@PROVEN
@given(
    wraps=st.lists(st.sampled_from(WRAPS), min_size=1, max_size=2),
    spelling=st.sampled_from(["rm x", "/bin/rm x", "r\"\"m x", "\\rm x", "rm  -f   x"]),
)  # fmt: skip
def test_a_deny_sees_through_wrappers_and_spellings(
    engine: Engine, wraps: list[str], spelling: str
) -> None:
    command = spelling
    for wrap in wraps:
        if "'" in command and "'" in wrap:
            return  # quoting of quotes is another matter
        if command.startswith(("A=", "PATH=")) and not wrap.startswith(("bash", "eval", "script")):
            return  # behind another program it is that program's word
        command = wrap.replace("@", command)
    assert bash(engine, command, deny=["Bash(rm *)"]).behavior is Behavior.DENY, command


@PROVEN
@given(wraps=st.lists(st.sampled_from(WRAPS), min_size=1, max_size=2))
def test_an_allow_sees_through_the_documented_wrappers_alone(
    engine: Engine, wraps: list[str]
) -> None:
    command = "npm publish"
    for wrap in wraps:
        if "'" in command and "'" in wrap:
            return
        command = wrap.replace("@", command)
    allowed = bash(engine, command, allow=["Bash(npm *)"]).behavior is Behavior.ALLOW
    is_open = all(wrap in OPEN or wrap == "xargs @" for wrap in wraps)
    assert allowed == is_open, command


@PROVEN
@given(
    program=st.sampled_from(["$X", "\"$X\"", "${X}", "$(which ls)", "`which ls`", "l$X", "l?"]),
    rules=st.lists(RULES.filter(lambda rule: rule not in ("Bash", "Bash(*)", "*")), max_size=5),
)  # fmt: skip
def test_no_pattern_covers_a_program_that_is_not_written_out(
    engine: Engine, program: str, rules: list[str]
) -> None:
    patterns = [*rules, "Bash(ls *)", "Bash(which *)", "Bash(* -la)", "Bash(l*)"]
    assert bash(engine, f"{program} -la", allow=patterns).behavior is not Behavior.ALLOW


@PROVEN
@given(
    verb=st.sampled_from(["touch", "rm -f", "mkdir", "tee", "cp src/a.py", "truncate -s0"]),
    word=st.sampled_from(["$X", "\"$X\"", "src/$X", "$(cat list)", "${X:-a}", "src/*/x", "~bob/x"]),
    mode=MODES,
)  # fmt: skip
def test_an_unknown_target_is_never_allowed(
    engine: Engine, verb: str, word: str, mode: Mode
) -> None:
    rules = ["Bash", "Edit", "Read", "Edit(**)", "Edit(//**)", "Edit(src/**)"]
    assert bash(engine, f"{verb} {word}", allow=rules, mode=mode).behavior is not Behavior.ALLOW


@PROVEN
@given(parts=st.lists(st.sampled_from([".", "..", "src", "sub", "in", "out", "a.py"]), max_size=6))
def test_a_path_is_where_the_kernel_says(own_engine: Engine, parts: list[str]) -> None:
    engine = own_engine
    for name, target in (("in", engine.root / "src"), ("out", engine.root.parent / "outside")):
        if not (engine.root / name).is_symlink():
            (engine.root / name).symlink_to(target)
    path = str(engine.root / "/".join(parts)) if parts else str(engine.root)
    written = "/".join([str(engine.root), *parts])
    real = os.path.realpath(written)
    inside = real == str(engine.root) or real.startswith(f"{engine.root}/")
    decision = engine.call("Write", {"file_path": written}, allow=["Edit(//**)"])
    if not inside:
        assert (decision.behavior, bool(decision.write_dirs)) == (Behavior.ASK, True), path
    elif decision.reason == "scope_bounds_violation":
        assert decision.behavior is Behavior.ASK, path  # below a file: nothing can be there


@PROVEN
@given(
    name=st.sampled_from(sorted(ALL_NAMES)),
    upper=st.lists(st.booleans(), min_size=40, max_size=40),
    directory=st.sampled_from(["", "sub/", "src/../", "./"]),
    mode=st.sampled_from([Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.DONT_ASK]),
)
def test_protected_names_are_never_pre_approved(
    engine: Engine, name: str, upper: list[bool], directory: str, mode: Mode
) -> None:
    folded = "".join(
        letter.upper() if is_upper else letter
        for letter, is_upper in zip(name, upper, strict=False)
    )
    rules = ["Bash", "Edit", "Write", "Edit(**)", f"Edit({directory}{folded})", "Edit(//**)"]
    context = engine.context(allow=rules, mode=mode)
    path = f"{directory}{folded}"
    for request in (
        PermissionRequest("Write", {"file_path": path}),
        PermissionRequest("Bash", {"command": f"touch '{path}'"}),
        PermissionRequest("Bash", {"command": f"echo x > '{path}'"}),
    ):
        assert decide(request, context).behavior is not Behavior.ALLOW


@PROVEN
@given(command=COMMANDS, texts=TEXTS, extra=RULES, behavior=st.sampled_from(list(RuleBehavior)))
def test_in_plan_mode_a_rule_turns_a_refusal_into_a_question_at_most(
    engine: Engine, command: str, texts: list[RuleText], extra: str, behavior: RuleBehavior
) -> None:
    """The cap names rules as what lifts its own refusal; nothing else, and never to allow."""
    added = RuleText(extra, behavior, RuleSource.USER)
    before = bash(engine, command, texts=texts, mode=Mode.PLAN)
    after = bash(engine, command, texts=[*texts, added], mode=Mode.PLAN)
    if STRICTNESS[after.behavior] >= STRICTNESS[before.behavior]:
        return
    if before.behavior is Behavior.DENY:
        assert after.behavior is Behavior.ASK or "not provably read-only" not in before.message
        assert before.reason in ("mode_default", "unparsable", "scope_bounds_violation")
        assert not any(part.kind == "write" for part in before.parts)
    else:
        assert behavior is RuleBehavior.ALLOW


@PROVEN
@given(
    texts=TEXTS,
    verb=st.sampled_from(
        ["touch x", "rm x", "cp src/a.py b", "sed -i s/a/b/ src/a.py", "echo x > y", "ls; tee y"]
    ),
)
def test_plan_mode_denies_every_proven_write(
    engine: Engine, texts: list[RuleText], verb: str
) -> None:
    allowed = [RuleText(rule, RuleBehavior.ALLOW, RuleSource.POLICY) for rule in ("Bash", "Edit")]
    decision = bash(engine, verb, texts=[*texts, *allowed], mode=Mode.PLAN)
    assert decision.behavior is Behavior.DENY


@PROVEN
@given(command=COMMANDS, texts=TEXTS, mode=MODES)
def test_no_input_beside_the_command_lowers_a_guard(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode
) -> None:
    context = engine.context(texts=texts, mode=mode)
    extra = {
        "dangerouslyDisableSandbox": True, "permission": "allow", "mode": "bypassPermissions",
        "trusted": True, "cwd": "/", "env": {"PATH": "."}, "run_in_background": True,
    }  # fmt: skip
    plain = decide(PermissionRequest("Bash", {"command": command}), context)
    more = decide(PermissionRequest("Bash", {"command": command, **extra}), context)
    assert STRICTNESS[more.behavior] >= STRICTNESS[plain.behavior]


@PROVEN
@given(command=COMMANDS, texts=TEXTS, mode=MODES, text=st.text(max_size=20).map("Bash({".__add__))
def test_a_malformed_rule_never_widens(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode, text: str
) -> None:
    before = bash(engine, command, texts=texts, mode=mode)
    for behavior in RuleBehavior:
        broken = RuleText(text, behavior, RuleSource.USER, invalid="broken")
        after = bash(engine, command, texts=[*texts, broken], mode=mode)
        assert STRICTNESS[after.behavior] >= STRICTNESS[before.behavior]


@pytest.mark.parametrize(
    "who", ["projectSettings", "localSettings", "hook", "subagent", "stranger"]
)
@pytest.mark.parametrize("mode", sorted(RAISED_MODES))
def test_only_users_and_their_own_settings_raise_the_mode(who: str, mode: Mode) -> None:
    found, warnings = requested_mode(str(mode), who)
    assert found is Mode.DEFAULT
    assert len(warnings) == 1


@PROVEN
@given(command=COMMANDS, texts=TEXTS, mode=MODES)
def test_an_ask_beats_every_allow(
    engine: Engine, command: str, texts: list[RuleText], mode: Mode
) -> None:
    asks = [text for text in texts if text.behavior is not RuleBehavior.ALLOW]
    alone = bash(engine, command, texts=asks, mode=mode)
    if alone.behavior is Behavior.ALLOW or alone.reason not in ("ask_rule", "deny_rule"):
        return
    allows = [msgspec.structs.replace(text, behavior=RuleBehavior.ALLOW) for text in texts]
    together = bash(engine, command, texts=[*asks, *allows], mode=mode)
    assert STRICTNESS[together.behavior] >= STRICTNESS[alone.behavior]
