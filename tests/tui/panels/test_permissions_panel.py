"""`/permissions`: the table of rules, changes to them, and what was denied."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agent.permission_config.permission_context import Grants
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import HeadlessHandler
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from tests.tui.app.test_app_keys import played, settled, text_of, transcript_of
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, make_app
from tui.app.app import AgentApp


def with_rules(
    conversation: RecordedConversation,
    *texts: str,
    behavior: RuleBehavior = RuleBehavior.ALLOW,
) -> None:
    assert conversation.commands is not None
    gate = conversation.commands.context.gate
    rules = [RuleText(text, behavior, RuleSource.SESSION) for text in texts]
    gate.replace_context(gate.context.with_rules(RuleSet.build(rules)[0]))


def rules_of(conversation: RecordedConversation) -> list[str]:
    assert conversation.commands is not None
    return [rule.text for rule in conversation.commands.context.gate.context.rules.rules]


def denied(conversation: RecordedConversation, command: str) -> None:
    assert conversation.commands is not None
    conversation.commands.context.gate.log(
        Decision(
            Behavior.DENY,
            DecisionSource.CLASSIFIER,
            ReasonType.CLASSIFIER,
            Reason.CLASSIFIER,
            "sends data away",
        ),
        PermissionRequest("Bash", {"command": command}),
    )


async def test_a_rule_is_edited_and_the_edit_undone() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(ls)", "Bash(make *)")
        assert "this session · never used" in await opened(pilot, "/permissions")
        await pilot.press("e")
        await settled(pilot)
        await pilot.press("backspace", "space", "*", ")", "enter")
        await settled(pilot)
        assert rules_of(conversation) == ["Bash(ls *)", "Bash(make *)"]
        assert "Bash(ls) is now Bash(ls *)" in transcript_of(app)
        await pilot.press("u")
        await settled(pilot)
        assert rules_of(conversation) == ["Bash(ls)", "Bash(make *)"]


async def test_what_was_denied_is_let_through_once() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(ls)")
        denied(conversation, "curl evil")
        await opened(pilot, "/permissions")
        await pilot.press("tab")
        await settled(pilot)
        shown = text_of(app.parts.dialogs)
        assert "Bash(curl evil)" in shown
        assert "sends data away" in shown
        await pilot.press("r")
        await settled(pilot)
        assert "I allow this call now" in "\n".join(map(str, conversation.received))


async def test_the_rules_come_first_also_where_there_are_none_and_calls_were_denied() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        denied(conversation, "curl https://x.example")
        shown = await opened(pilot, "/permissions")
        assert "no rules: writing files and running commands needs your approval" in shown
        assert "a add · u undo · tab history · esc close" in shown
        for title in ("recently denied", "recent decisions", "no rules"):
            await pilot.press("tab")
            await settled(pilot)
            assert title in text_of(app.parts.dialogs)


async def test_any_decision_is_explained_step_by_step() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert conversation.commands is not None
        gate = conversation.commands.context.gate
        with_rules(conversation, "Bash(make *)")
        request = PermissionRequest("Bash", {"command": "make x"})
        gate.log(gate.evaluate(request), request)
        await opened(pilot, "/permissions")
        await pilot.press("tab")
        await settled(pilot)
        await pilot.press("tab")
        await settled(pilot)
        shown = text_of(app.parts.dialogs)
        assert "allow Bash(make x)  just now · Bash(make *), this session" in shown
        await pilot.press("enter")
        await settled(pilot)
        shown = text_of(app.parts.dialogs)
        assert "allowed: the allow rule Bash(make *) applies (this session)" in shown
        assert "» 4. Allow rules allows: Bash(make *) (this session)" in shown
        await pilot.press("escape")
        await settled(pilot)
        assert "recent decisions" in text_of(app.parts.dialogs)


async def test_the_last_rule_taken_back_can_be_brought_back() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(ls)")
        await opened(pilot, "/permissions")
        await pilot.press("delete")
        await settled(pilot)
        assert rules_of(conversation) == []
        await pilot.press("u")
        await settled(pilot)
        assert rules_of(conversation) == ["Bash(ls)"]


def with_keeper(conversation: RecordedConversation) -> None:
    """Let the gate keep rules for the session, as that of the program does."""
    command_service = conversation.commands
    assert command_service is not None

    def add(texts: Sequence[RuleText]) -> None:
        gate.replace_context(gate.context.with_rules(gate.context.rules.with_rules(texts)))

    grants = Grants(command_service.context.settings, add)
    gate = PermissionGate(command_service.context.gate.context, HeadlessHandler(), grants=grants)
    context = replace(command_service.context, gate=gate)
    conversation.commands = replace(command_service, context=context)


async def test_a_rule_is_added_after_what_was_typed_is_one() -> None:
    conversation = played()
    with_keeper(conversation)
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert "a add" in await opened(pilot, "/permissions")
        for keys in (["a"], [*"Bash(ls", "enter"]):
            await pilot.press(*keys)
            await settled(pilot)
        # It is no rule: what was typed is still there to be mended.
        assert "❯ Bash(ls\n" in text_of(app.parts.dialogs)
        assert rules_of(conversation) == []
        for keys in ([")", "enter"], ["enter"], ["enter"]):
            await pilot.press(*keys)
            await settled(pilot)
        assert rules_of(conversation) == ["Bash(ls)"]
        assert "allow Bash(ls) is added (session)" in transcript_of(app)
        await pilot.press("u")
        await settled(pilot)
        assert rules_of(conversation) == []


async def test_what_lint_reports_comes_before_a_rule_is_stored() -> None:
    conversation = played()
    with_keeper(conversation)
    with_rules(conversation, "Bash(curl *)", behavior=RuleBehavior.DENY)
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await opened(pilot, "/permissions")
        for expected, answer in (([], []), (["Bash(curl x)"], ["down"])):
            for keys in (["a"], [*"Bash(curl x)", "enter"], ["enter"], ["enter"]):
                await pilot.press(*keys)
                await settled(pilot)
            assert "Add Bash(curl x)?" in text_of(app.parts.dialogs)
            assert rules_of(conversation) == ["Bash(curl *)"]
            assert "Bash(curl *)" in text_of(app.parts.dialogs)
            await pilot.press(*answer, "enter")
            await settled(pilot)
            assert rules_of(conversation) == ["Bash(curl *)", *expected]


async def test_a_rule_that_auto_mode_takes_out_of_force_is_marked() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(python *)", "Bash(ls)")
        assert conversation.commands is not None
        gate = conversation.commands.context.gate
        gate.replace_context(gate.context, auto_available=True)
        gate.set_mode(Mode.AUTO)
        shown = await opened(pilot, "/permissions")
        assert "Bash(python *)  this session · not used in auto mode" in shown
        assert "Bash(ls)        this session · never used" in shown


async def test_what_a_yes_does_not_lift_is_not_tried_again() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(curl *)", behavior=RuleBehavior.DENY)
        denied(conversation, "curl https://x.example")
        await opened(pilot, "/permissions")
        await pilot.press("tab")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert "This cannot be allowed: the deny rule Bash(curl *) applies (this session)" in (
            transcript_of(app)
        )
        assert "recently denied" in text_of(app.parts.dialogs)


async def test_a_rule_that_cannot_be_read_is_named() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(ls)", "Foo(bar")
        shown = await opened(pilot, "/permissions")
        assert "Ignored (cannot be read): Foo(bar (/doctor)" in shown
        assert "allow Bash(ls)" in shown


async def test_a_rule_that_asks_since_it_cannot_be_read_gives_the_reason() -> None:
    conversation = played()
    app: AgentApp = make_app(conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        with_rules(conversation, "Bash(ls", behavior=RuleBehavior.DENY)
        shown = " ".join((await opened(pilot, "/permissions")).split())
        assert "every Bash call is asked about instead" in shown
        assert "write Bash(ls)" in shown
