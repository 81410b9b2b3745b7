"""Rules that a user changes: where they are kept, what counts then, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.permission_config.permission_context import Grants
from agent.settings.load import load_settings
from permissions.context import PermissionContext
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.resolve.handlers import HeadlessHandler
from permissions.rule import Rule, RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.rule_editor import RuleChangeError, RuleEditor


class Bench:
    """A gate over a user file and a session, with what keeps their rules."""

    def __init__(self, base: Path) -> None:
        self.root, self.home = base / "project", base / "home"
        self.root.mkdir()
        self.user_file = self.home / ".agent" / "settings.json"
        self.user_file.parent.mkdir(parents=True)
        rules = {"allow": ["Bash(a)", "Bash(b)"], "deny": ["Bash(c)"]}
        self.user_file.write_text(json.dumps({"model": "m", "permissions": rules}))
        settings = load_settings(
            launch_dir=self.root, home=self.home, agent_home=self.home / ".agent"
        )
        texts = [
            RuleText(text, RuleBehavior(behavior), RuleSource.USER, str(self.user_file))
            for behavior, listed in rules.items()
            for text in listed
        ]
        session = RuleText("Bash(s)", RuleBehavior.ALLOW, RuleSource.SESSION)
        policy = RuleText("Bash(p)", RuleBehavior.ALLOW, RuleSource.POLICY)
        context = PermissionContext(
            Mode.DEFAULT,
            RuleSet.build([*texts, session, policy])[0],
            self.root,
            self.root,
            self.home,
        )
        self.gate = PermissionGate(context, HeadlessHandler())
        self.grants = Grants(lambda: settings, self._add, session=[("allow", "Bash(s)")])
        self.editor = RuleEditor(self.gate, self.grants)

    def _add(self, texts: list[RuleText] | object) -> None:
        context = self.gate.context
        assert isinstance(texts, list)
        self.gate.replace_context(context.with_rules(context.rules.with_rules(texts)))

    def rule(self, text: str) -> Rule:
        return next(rule for rule in self.gate.context.rules.rules if rule.text == text)

    def allowed(self, file: Path | None = None) -> list[str]:
        found = json.loads((file or self.user_file).read_text())
        return list(found["permissions"]["allow"])

    def counting(self) -> set[tuple[str, str]]:
        return {(str(rule.source), rule.text) for rule in self.gate.context.rules.rules}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_rule_is_taken_back_and_comes_back_in_its_place(bench: Bench) -> None:
    before = bench.counting()
    await bench.editor.remove(bench.rule("Bash(a)"))
    assert bench.allowed() == ["Bash(b)"]
    assert ("userSettings", "Bash(a)") not in bench.counting()
    assert "Bash(a)" in await bench.editor.undo()
    assert bench.allowed() == ["Bash(a)", "Bash(b)"]
    assert bench.counting() == before
    with pytest.raises(RuleChangeError):
        await bench.editor.undo()


async def test_an_edit_counts_at_once_and_leaves_the_rest_of_the_file(bench: Bench) -> None:
    await bench.editor.edit(bench.rule("Bash(a)"), "Bash(z *)")
    assert bench.allowed() == ["Bash(z *)", "Bash(b)"]
    assert json.loads(bench.user_file.read_text())["model"] == "m"
    assert ("userSettings", "Bash(z *)") in bench.counting()
    await bench.editor.undo()
    assert bench.allowed() == ["Bash(a)", "Bash(b)"]


async def test_a_move_writes_there_and_removes_here(bench: Bench) -> None:
    before = bench.counting()
    local = bench.root / ".agent" / "settings.local.json"
    await bench.editor.move(bench.rule("Bash(a)"), RuleSource.LOCAL)
    assert (bench.allowed(), bench.allowed(local)) == (["Bash(b)"], ["Bash(a)"])
    assert ("localSettings", "Bash(a)") in bench.counting()
    await bench.editor.undo()
    assert (bench.allowed(), bench.allowed(local)) == (["Bash(a)", "Bash(b)"], [])
    assert bench.counting() == before


async def test_a_rule_of_the_session_leaves_its_record(bench: Bench) -> None:
    await bench.editor.remove(bench.rule("Bash(s)"))
    assert bench.grants.session == []
    await bench.editor.undo()
    assert bench.grants.session == [("allow", "Bash(s)")]
    await bench.editor.move(bench.rule("Bash(s)"), RuleSource.USER)
    assert bench.grants.session == []
    assert bench.allowed() == ["Bash(a)", "Bash(b)", "Bash(s)"]


async def test_a_moved_deny_is_still_a_deny(bench: Bench) -> None:
    await bench.editor.move(bench.rule("Bash(c)"), RuleSource.PROJECT)
    project = json.loads((bench.root / ".agent" / "settings.json").read_text())
    assert project["permissions"]["deny"] == ["Bash(c)"]
    assert bench.rule("Bash(c)").behavior is RuleBehavior.DENY


@pytest.mark.parametrize(
    "change",
    [
        lambda editor, rule: editor.edit(rule("Bash(a)"), "Bash("),
        lambda editor, rule: editor.edit(rule("Bash(a)"), "Bash(b)"),
        lambda editor, rule: editor.edit(rule("Bash(p)"), "Bash(q)"),
        lambda editor, rule: editor.remove(rule("Bash(p)")),
        lambda editor, rule: editor.move(rule("Bash(a)"), RuleSource.USER),
        lambda editor, _rule: editor.undo(),
    ],
    ids=["no rule", "there already", "policy edited", "policy removed", "same place", "nothing"],
)
async def test_what_cannot_be_done_changes_nothing(
    bench: Bench, change: Callable[..., object]
) -> None:
    before = bench.counting()
    with pytest.raises(RuleChangeError):
        await change(bench.editor, bench.rule)  # type: ignore[misc]
    assert bench.counting() == before
    assert bench.allowed() == ["Bash(a)", "Bash(b)"]


async def test_a_rule_that_someone_else_removed_is_reported(bench: Bench) -> None:
    bench.user_file.write_text("{}")
    with pytest.raises(RuleChangeError, match="no longer"):
        await bench.editor.remove(bench.rule("Bash(a)"))


@pytest.mark.parametrize("source", [RuleSource.USER, RuleSource.SESSION, RuleSource.PROJECT])
async def test_a_rule_is_added_and_the_addition_undone(bench: Bench, source: RuleSource) -> None:
    before = bench.counting()
    said = await bench.editor.add("Bash(new *)", RuleBehavior.ALLOW, source)
    assert "allow Bash(new *) is added" in said
    assert bench.counting() == before | {(str(source), "Bash(new *)")}
    assert ("Bash(new *)" in bench.allowed()) == (source is RuleSource.USER)
    assert (("allow", "Bash(new *)") in bench.grants.session) == (source is RuleSource.SESSION)
    await bench.editor.undo()
    assert bench.counting() == before
    assert bench.allowed() == ["Bash(a)", "Bash(b)"]
    assert bench.grants.session == [("allow", "Bash(s)")]


async def test_what_is_no_rule_or_there_already_is_not_added(bench: Bench) -> None:
    for text in ("Bash(", "Bash(a)"):
        with pytest.raises(RuleChangeError):
            await bench.editor.add(text, RuleBehavior.ALLOW, RuleSource.USER)
    assert bench.allowed() == ["Bash(a)", "Bash(b)"]
    (finding,) = bench.editor.findings("Bash(c)", RuleBehavior.ALLOW, RuleSource.USER)
    assert finding.rule == "Bash(c)"
