"""What "don't ask again" offers: the narrowest rules that help, each saying what else it allows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissions.decision import Behavior
from permissions.evaluate.cascade import decide, evaluate_parts
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.grants.narrow_pattern import pattern_for
from permissions.grants.suggest import MAX_RULES, Grant, suggest
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.examples import examples
from tests.permissions.engine import Engine, make_engine

LOCAL, SESSION, USER = RuleSource.LOCAL, RuleSource.SESSION, RuleSource.USER


def offered(
    engine: Engine, request: PermissionRequest, destinations: Sequence[RuleSource] | None = None,
    **rules: Any,
) -> tuple[Grant, ...]:  # fmt: skip
    context = engine.context(**rules)
    evaluation = evaluate_parts(request, context)
    return suggest(evaluation, evaluation.decision, destinations=destinations)


def rules_for(engine: Engine, command: str, **rules: Any) -> tuple[str, ...]:
    grants = offered(engine, PermissionRequest("Bash", {"command": command}), **rules)
    assert len({grant.rules for grant in grants}) <= 1
    return grants[0].rules if grants else ()


COMMANDS = {
    "gh pr create --fill": ("Bash(gh pr create *)",),
    "gh pr merge 3": ("Bash(gh pr merge 3)",),
    "gh pr": ("Bash(gh pr)",),
    "pnpm i left-pad": ("Bash(pnpm i left-pad)",),
    "go get example.com/x": ("Bash(go get example.com/x)",),
    "kubectl scale --replicas 0 x": ("Bash(kubectl scale --replicas 0 x)",),
    "git push origin main": ("Bash(git push *)",),
    "npm run build": ("Bash(npm run build *)",),
    "npm test": ("Bash(npm test *)",),
    "pytest -q": ("Bash(pytest *)",),
    "make": ("Bash(make)",),
    "make deploy": ("Bash(make deploy)",),
    "./run.sh --all": ("Bash(./run.sh --all)",),
    # Runs whatever it is given, brings foreign code, or throws work away: as it stands.
    "python3 tool.py x": ("Bash(python3 tool.py x)",),
    "npx eslint .": ("Bash(npx eslint .)",),
    "uv run pytest": ("Bash(uv run pytest)",),
    "pip install requests": ("Bash(pip install requests)",),
    "git reset --hard": ("Bash(git reset --hard)",),
    "git -C sub push": ("Bash(git -C sub push)",),
    # One rule per part, none for what is allowed already or only reads.
    "cd sub && npm test && git push": ("Bash(npm test *)", "Bash(git push *)"),
    "cat src/a.py | pytest -q": ("Bash(pytest *)",),
    "npm test && npm test -- -u": ("Bash(npm test *)",),
    "pytest -q > out.txt": ("Bash(pytest *)", "Edit(/out.txt)"),
    "make a; make b; make c; make d; make e": tuple(f"Bash(make {c})" for c in "abcde"),
    # Too many parts, or one that no rule can say.
    "make a; make b; make c; make d; make e; make f": (),
    "$TOOL x && npm test": (),
    "npm test && echo `date` > $OUT": (),
    "rm -rf build*": (),
    "echo hi > /etc/passwd": (),
    "sudo rm x": ("Bash(sudo rm x)",),
}


@pytest.mark.parametrize(("command", "rules"), COMMANDS.items(), ids=COMMANDS.keys())
def test_the_narrowest_useful_rules(engine: Engine, command: str, rules: tuple[str, ...]) -> None:
    assert rules_for(engine, command) == rules


def test_each_rule_says_what_else_it_allows(engine: Engine) -> None:
    command = "npm test && git push && make x"
    (grant, _) = offered(engine, PermissionRequest("Bash", {"command": command}))
    assert [(o.part, o.rule, o.also_allows) for o in grant.offers] == [
        ("npm test", "Bash(npm test *)", "npm test with any arguments"),
        ("git push", "Bash(git push *)", "git push with any arguments, --force included"),
        ("make x", "Bash(make x)", ""),
    ]
    assert grant.also_allows == (
        "npm test with any arguments; git push with any arguments, --force included"
    )


def test_parts_that_a_rule_allows_already_need_no_other(engine: Engine) -> None:
    (grant, _) = offered(
        engine,
        PermissionRequest("Bash", {"command": "npm test && git push"}),
        allow=["Bash(npm test)"],
    )
    assert grant.rules == ("Bash(git push *)",)
    assert [offer.part for offer in grant.offers] == ["git push"]


def test_rules_that_the_new_one_makes_needless_are_named(engine: Engine) -> None:
    texts = [
        RuleText(text, RuleBehavior.ALLOW, source, "/s.json", 3)
        for text, source in [
            ("Bash(git push origin)", LOCAL),
            ("Bash(git push github)", USER),
            ("Bash(git pull)", LOCAL),
        ]
    ]
    request = PermissionRequest("Bash", {"command": "git push --tags"})
    found = {
        str(grant.destination): [rule.text for rule in grant.needless]
        for grant in offered(engine, request, [SESSION, LOCAL, USER], texts=texts)
    }
    assert found == {
        "session": [],
        "localSettings": ["Bash(git push origin)"],
        "userSettings": ["Bash(git push origin)", "Bash(git push github)"],
    }


@pytest.mark.parametrize(
    "options",
    [
        {"ask": ["Bash(git push *)"]},
        {"deny": ["Bash(git push *)"]},
        {"allow": ["Bash(git push *)"]},
        {"mode": Mode.PLAN},
    ],
    ids=["ask rule", "deny rule", "allowed already", "plan mode"],
)
def test_nothing_is_offered_that_would_not_help(engine: Engine, options: dict[str, Any]) -> None:
    assert rules_for(engine, "git push", **options) == ()


def test_an_untrusted_directory_keeps_no_rules_of_its_own(engine: Engine) -> None:
    grants = offered(engine, PermissionRequest("Bash", {"command": "git push"}), trusted=False)
    assert [grant.destination for grant in grants] == [SESSION]


def test_where_rules_may_be_kept(engine: Engine) -> None:
    request = PermissionRequest("Bash", {"command": "git push"})
    everywhere = [SESSION, LOCAL, RuleSource.PROJECT, USER]
    grants = offered(engine, request, everywhere)
    assert [(grant.destination, grant.rules) for grant in grants] == [
        (place, ("Bash(git push *)",)) for place in everywhere
    ]


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit"])
def test_edits_are_remembered_for_the_session_only(engine: Engine, tool: str) -> None:
    (grant,) = offered(
        engine, PermissionRequest(tool, {"file_path": str(engine.root / "src/a.py")})
    )
    assert (grant.rules, grant.destination) == (("Edit(/src/**)",), SESSION)
    assert "src" in grant.also_allows


def test_a_path_is_written_as_the_place_of_its_rule_reads_it(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    request = PermissionRequest("Edit", {"file_path": str(engine.root / "src" / "a.py")})
    rules = [grant.rules[0] for grant in offered(engine, request, [SESSION, LOCAL, USER])]
    assert rules == ["Edit(/src/**)", "Edit(/src/**)", f"Edit(/{engine.root}/src/**)"]


def test_a_directory_with_special_characters_stands_for_itself(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    (engine.root / "a*[b]").mkdir()
    (grant,) = offered(
        engine, PermissionRequest("Edit", {"file_path": str(engine.root / "a*[b]" / "x")})
    )
    assert grant.rules == (r"Edit(/a\*\[b\]/**)",)
    other = PermissionRequest("Edit", {"file_path": str(engine.root / "azzb" / "x")})
    assert decide(other, engine.context(allow=grant.rules, source=SESSION)).behavior is Behavior.ASK


def test_reading_outside_is_offered_for_the_directory_unless_it_holds_too_much(
    engine: Engine,
) -> None:
    outside = engine.root.parent / "outside"
    read = PermissionRequest("Read", {"file_path": str(outside / "secret.txt")})
    assert offered(engine, read)[0].rules == (f"Read(/{outside}/**)",)
    single = PermissionRequest("Read", {"file_path": "/etc/hostname"})
    assert [(grant.rules, grant.destination) for grant in offered(engine, single)] == [
        (("Read(//etc/hostname)",), SESSION),
        (("Read(//etc/**)",), SESSION),
        (("Read(//etc/hostname)",), LOCAL),
    ]
    grep = PermissionRequest("Grep", {"path": "/etc", "pattern": "x"})
    assert [grant.destination for grant in offered(engine, grep)] == [SESSION]


_OF_ROOT = pytest.mark.skipif(not os.access("/root", os.X_OK), reason="/root is closed")


@pytest.mark.parametrize("path", ["/x", "/home/x", pytest.param("/root/x", marks=_OF_ROOT)])
def test_a_home_or_everything_is_never_offered_for_reading(engine: Engine, path: str) -> None:
    rules = [
        grant.rules for grant in offered(engine, PermissionRequest("Read", {"file_path": path}))
    ]
    assert rules == [(f"Read(/{path})",)] * 2


def test_other_tools(engine: Engine) -> None:
    fetch = PermissionRequest("WebFetch", {"url": "https://docs.example/a?b", "prompt": "x"})
    server = PermissionRequest("mcp__db__query", {"sql": "x"})
    unknown = PermissionRequest("Frobnicate", {})
    assert offered(engine, fetch)[0].rules == ("WebFetch(domain:docs.example)",)
    assert offered(engine, server)[0].rules == ("mcp__db__query",)
    assert offered(engine, unknown) == ()


WORKFLOW = "audit@" + "0123456789abcdef0123"


def workflow(name: str, **more: object) -> PermissionRequest:
    return PermissionRequest("Workflow", {"script": "…", "workflow": name, **more})


def test_a_workflow_is_remembered_by_its_name_and_the_hash_of_its_script(engine: Engine) -> None:
    grants = offered(engine, workflow(WORKFLOW))
    assert [grant.rules for grant in grants] == [(f"Workflow({WORKFLOW})",)] * 2
    context = engine.context(allow=grants[0].rules)
    assert decide(workflow(WORKFLOW), context).behavior is Behavior.ALLOW
    changed = workflow(WORKFLOW.replace("0123", "3210"))
    assert decide(changed, context).behavior is Behavior.ASK
    posing = workflow(f"{WORKFLOW}@" + "f" * 20)
    assert decide(posing, context).behavior is Behavior.ASK


def test_a_fan_out_is_remembered_for_the_session_only(engine: Engine) -> None:
    (grant,) = offered(engine, workflow("subtasks"))
    assert (grant.rules, grant.destination) == (("Workflow(subtasks)",), SESSION)


def test_consent_to_all_workflows_holds_while_orchestration_mode_is_on(engine: Engine) -> None:
    grant, _ = offered(engine, workflow(WORKFLOW, orchestration=True))
    assert grant.rules == ("Workflow(@orchestration)",)
    context = engine.context(allow=grant.rules)
    on, off = workflow("other", orchestration=True), workflow("other")
    assert decide(on, context).behavior is Behavior.ALLOW
    assert decide(off, context).behavior is Behavior.ASK
    posing = workflow("@orchestration@" + "f" * 20)
    assert decide(posing, context).behavior is Behavior.ASK


@pytest.mark.parametrize("name", ["*", "a*", "a)", "a@b", "", "a\nb"])
def test_a_name_that_means_more_in_a_rule_is_not_remembered(engine: Engine, name: str) -> None:
    assert offered(engine, workflow(f"{name}@" + "0" * 20)) == ()


WORDS = st.sampled_from(
    "git push npm test run python3 rm -rf src $X `date` && || ; | > < out.txt * ( ) ' \" \\ "
    "sudo env A=1 timeout 5 xargs make \n # -- ../x ~ cd bash -c {a,b} \u202e".split(" ")
)


@settings(max_examples=examples(150), deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=9))
def test_whatever_is_offered_allows_this_very_call(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    engine = _shared(tmp_path_factory)
    request = PermissionRequest("Bash", {"command": " ".join(words)})
    for grant in offered(engine, request, [SESSION, LOCAL, USER]):
        assert 0 < len(grant.rules) <= MAX_RULES
        assert grant.destination is not None
        added = [RuleText(rule, RuleBehavior.ALLOW, grant.destination) for rule in grant.rules]
        after = decide_with_classifier(request, engine.context(texts=added))
        assert after.behavior is Behavior.ALLOW


@pytest.mark.parametrize(
    "command", ["", "  ", "a 'b", "X=1 make", "a\nb", "ls *", "$X", "`x`", "a$(b)"], ids=repr
)
def test_there_is_no_pattern_for_what_is_not_plain(command: str) -> None:
    assert pattern_for(command) is None


def test_a_file_is_named_from_where_the_shell_is(engine: Engine) -> None:
    request = PermissionRequest("Bash", {"command": "pytest -q > out.txt"})
    context, cwd = engine.context(), engine.root / "sub"
    evaluation = evaluate_parts(request, context, cwd=cwd)
    (grant, _) = suggest(evaluation, evaluation.decision)
    assert grant.rules == ("Bash(pytest *)", "Edit(/sub/out.txt)")


_engines: list[Engine] = []


def _shared(factory: pytest.TempPathFactory) -> Engine:
    if not _engines:
        _engines.append(make_engine(factory.mktemp("grants")))
    return _engines[0]
