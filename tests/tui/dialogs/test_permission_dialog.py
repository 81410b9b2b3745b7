"""The permission dialog: effects, wrappers, and several questions answered with one key."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from permissions.decision import (
    Behavior,
    Decision,
    DecisionWarning,
    GrantChoice,
    PartVerdict,
    Reason,
    RuleRef,
    WarningType,
)
from permissions.request import PermissionRequest
from permissions.rule import RuleSource
from tests.tui.app.test_app_keys import played, send, settled, text_of
from tests.tui.dialogs.test_dialogs import PENDING, disarm, drawn
from tests.tui.recorded import RecordedConversation, make_app
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, PermissionAsk, with_new_warnings
from tui.dialogs.permission_rows import why_rows
from tui.text.highlight import Highlighter
from tui.text.styled_rows import plain

PLAIN = replace(PENDING, parts=(), trace=())


def call(command: str) -> PermissionRequest:
    return PermissionRequest("Bash", {"command": command}, tool_use_id=command)


def test_a_warning_about_a_rule_names_the_rule() -> None:
    broken = DecisionWarning(
        WarningType.MALFORMED_RULE, "projectSettings", "Bash(ls", "a parenthesis is missing"
    )
    rows = plain(why_rows(replace(PLAIN, warnings=(broken,)), 78))
    assert "! rule Bash(ls: a parenthesis is missing" in rows


async def test_what_the_call_would_do_is_reported() -> None:
    pending = replace(PLAIN, effects=("deletes src", "network: curl"))
    dialog = PermissionDialog(PermissionAsk(call("x"), pending), Highlighter())
    assert "▲ deletes src · network: curl" in drawn(dialog, 80)


async def test_what_a_long_command_does_and_why_it_asks_stay_in_sight() -> None:
    long = call("\n".join(f"echo {n}" for n in range(80)))
    pending = replace(PENDING, effects=("deletes src",))
    conversation, _ = await asked((long, pending))
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        disarm(app)
        for key in ("pagedown", "end"):
            shown = text_of(app.parts.dialogs)
            assert "echo" in shown or "git push" in shown
            assert "▲ deletes src" in shown
            assert "◆ No rule covers git push" in shown
            await pilot.press(key)
        await pilot.press("escape")
        await settled(pilot)


async def test_many_parts_that_are_allowed_alike_share_a_line() -> None:
    fine = replace(PENDING.parts[0], rule=None, message="only reads")
    parts = tuple(replace(fine, text=f"echo {n}") for n in range(9))
    pending = replace(PENDING, parts=(*parts, PENDING.parts[1]))
    shown = drawn(PermissionDialog(PermissionAsk(call("x"), pending), Highlighter()), 90)
    assert "allow echo 0 … 7 more … echo 8  only reads" in shown
    assert "echo 4" not in shown
    assert "ask   git push" in shown


async def test_the_models_words_about_a_command_are_in_quotes() -> None:
    request = PermissionRequest("Bash", {"command": "x", "description": "Nice\n ❯ 1. Yes"})
    shown = drawn(PermissionDialog(PermissionAsk(request, PLAIN), Highlighter()), 80)
    assert "“Nice ❯ 1. Yes”" in shown


async def test_a_no_that_gives_the_reason_waits_for_the_words() -> None:
    dialog = PermissionDialog(PermissionAsk(call("x"), PLAIN), Highlighter())
    dialog.press("3", "3", None)
    dialog.press("enter", "", "confirm:yes")
    assert not dialog.is_done
    dialog.paste("use make")
    dialog.press("enter", "", "confirm:yes")
    decision = await dialog.wait()
    assert (decision.behavior, decision.feedback) == (Behavior.DENY, "use make")
    assert not decision.interrupt


async def test_a_plain_command_takes_twelve_rows_and_names_its_rule_once() -> None:
    rules = ("Bash(git push *)",)
    offers = tuple(
        GrantOffer(GrantChoice(rules, place), "git push with any arguments, --force included")
        for place in ("session", "localSettings")
    )
    conversation, _ = await asked((call("git push origin main"), PLAIN))
    app = make_app(conversation, suggest_grants=lambda _request, _decision: offers)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        disarm(app)
        shown = text_of(app.parts.dialogs)
        assert len(shown.splitlines()) <= 12
        assert shown.count("git push origin main") == 1
        assert shown.count(rules[0]) == 1
        await pilot.press("escape")
        await settled(pilot)


def test_a_warning_that_explains_nothing_here_is_reported_once() -> None:
    about_rule = DecisionWarning(WarningType.MALFORMED_RULE, "userSettings", "Foo(", "broken")
    about_mode = DecisionWarning(WarningType.MODE_IGNORED, "projectSettings", None, "ignored")
    decisive = RuleRef("Bash((", RuleSource.USER, None, None)
    about_this = DecisionWarning(WarningType.MALFORMED_RULE, "userSettings", "Bash((", "broken")
    pending = replace(PLAIN, warnings=(about_rule, about_mode, about_this), rule=decisive)
    shown_warnings: set[DecisionWarning] = set()
    assert with_new_warnings(pending, shown_warnings).warnings == (about_mode, about_this)
    assert with_new_warnings(pending, shown_warnings).warnings == (about_this,)


async def test_wrappers_of_a_part_are_spelled_out() -> None:
    part = PENDING.parts[1]
    wrapped = PartVerdict(
        part.text, part.behavior, part.source, part.reason_type, part.reason, "no rule", None,
        "through sudo",
    )  # fmt: skip
    pending = replace(PENDING, parts=(PENDING.parts[0], wrapped))
    dialog = PermissionDialog(PermissionAsk(call("x"), pending), Highlighter())
    assert "no rule · through sudo" in drawn(dialog, 80)
    alone = PermissionDialog(
        PermissionAsk(call("x"), replace(PENDING, parts=(wrapped,))), Highlighter()
    )
    assert "no rule · through sudo" in drawn(alone, 80)


async def asked(
    *questions: tuple[PermissionRequest, Decision],
) -> tuple[RecordedConversation, dict[str, Decision | None]]:
    """Return a conversation that asks all of these at once, and their answers when they come."""
    answers: dict[str, Decision | None] = {}

    async def ask_all(conversation: RecordedConversation) -> None:
        ports = conversation.ports
        assert ports is not None

        async def ask_one(request: PermissionRequest, pending: Decision) -> None:
            answers[request.tool_use_id] = await ports.contender.decide(request, pending)

        await asyncio.gather(*(ask_one(*question) for question in questions))

    return played([ask_all]), answers


async def test_one_key_answers_those_that_ask_the_same() -> None:
    push = replace(PLAIN, reason=Reason.ASK_RULE)
    conversation, answers = await asked(
        (call("make a"), PLAIN), (call("make b"), PLAIN), (call("git push"), push)
    )
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "go")
        disarm(app)
        shown = text_of(app.parts.dialogs)
        assert "1 of 3" in shown
        assert "Also waiting for the same answer (1):" in shown
        assert "· Bash(make b)" in shown
        assert "Bash(git push)" not in shown
        await pilot.press("a")
        await settled(pilot)
        assert {name: found and found.behavior for name, found in answers.items()} == {
            "make a": Behavior.ALLOW,
            "make b": Behavior.ALLOW,
        }
        assert "    git push" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("escape")
        await settled(pilot)
        assert answers["git push"] is not None


async def test_a_protected_path_is_answered_alone() -> None:
    protected = replace(PLAIN, reason=Reason.PROTECTED_PATH)
    conversation, answers = await asked((call("x"), protected), (call("y"), protected))
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "go")
        disarm(app)
        assert "Also waiting" not in text_of(app.parts.dialogs)
        await pilot.press("a")
        await settled(pilot)
        assert answers == {}
        for _ in range(2):
            disarm(app)
            await pilot.press("escape")
            await settled(pilot)


async def test_a_changed_command_is_not_offered_the_old_rules() -> None:
    offer = GrantOffer(GrantChoice(("Bash(x)",), "session"))
    dialog = PermissionDialog(
        PermissionAsk(call("x"), PLAIN, offers=(offer,)),
        Highlighter(),
        lambda _text, _name: "y --now\n",
    )
    assert "Bash(x)" in drawn(dialog, 80)
    dialog.press("ctrl+g", "", "confirm:edit")
    shown = drawn(dialog, 80)
    assert "y --now" in shown
    assert "Bash(x)" not in shown
    dialog.press("enter", "", "confirm:yes")
    decision = await dialog.wait()
    assert decision.updated_input == {"command": "y --now"}
    assert decision.grant is None


async def test_the_arrows_choose_where_a_rule_is_kept() -> None:
    def kept_in(destination: str) -> GrantOffer:
        return GrantOffer(GrantChoice(("Bash(x)",), destination))

    local = replace(
        kept_in("localSettings"),
        elsewhere=(kept_in("projectSettings"), kept_in("userSettings")),
    )
    dialog = PermissionDialog(PermissionAsk(call("x"), PLAIN, offers=(local,)), Highlighter())
    dialog.press("left", "", None)
    assert "always in this project" in drawn(dialog, 80)
    dialog.press("down", "", "confirm:next")
    seen = []
    for key in ("right", "right", "right", "left"):
        dialog.press(key, "", None)
        seen.append(next(line for line in drawn(dialog, 80).splitlines() if "❯ 2." in line))
    assert [line[6:].partition("  ")[0] for line in seen] == [
        "Yes, always, for everyone in this project",
        "Yes, always, in every project",
        "Yes, always in this project",
        "Yes, always, in every project",
    ]
    assert "~/.agent/settings.json" in drawn(dialog, 80)
    dialog.press("enter", "", "confirm:yes")
    decision = await dialog.wait()
    assert decision.grant == GrantChoice(("Bash(x)",), "userSettings")


async def test_what_was_typed_when_someone_else_answers_goes_to_the_prompt() -> None:
    answered = asyncio.Event()

    async def ask_and_be_outrun(conversation: RecordedConversation) -> None:
        ports = conversation.ports
        assert ports is not None
        asking = asyncio.ensure_future(ports.contender.decide(call("make a"), PLAIN))
        await answered.wait()
        asking.cancel()
        await asyncio.wait({asking})

    app = make_app(played([ask_and_be_outrun]))
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "go")
        disarm(app)
        await pilot.press("tab", *"only", "space", *"once")
        answered.set()
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        assert app.parts.composer.buffer.text == "only once"


@pytest.mark.parametrize(
    ("height", "has_hint"), [(30, True), (24, True), (14, False)], ids=lambda value: str(value)
)
async def test_the_hint_stays_while_there_is_room_beside_a_body_that_scrolls(
    height: int, has_hint: bool
) -> None:
    parts = tuple(
        replace(PENDING.parts[1], text=f"step {number}", detail=f"writes {number}.txt")
        for number in range(14)
    )
    conversation, _ = await asked((call("x"), replace(PENDING, parts=parts)))
    app = make_app(conversation)
    async with app.run_test(size=(80, height)) as pilot:
        await send(pilot, "go")
        disarm(app)
        assert ("ctrl+y why" in text_of(app.parts.dialogs)) is has_hint
        await pilot.press("escape")
        await settled(pilot)


async def test_parts_that_say_no_more_than_the_command_take_no_rows() -> None:
    first, second = (
        replace(PENDING.parts[1], text=text, message="nothing matches", detail=detail)
        for text, detail in (("rm -rf dist", "deletes dist"), ("make dist", ""))
    )
    pending = replace(PENDING, parts=(first, second), effects=("deletes dist",), rule=None)
    offer = GrantOffer(
        GrantChoice(("Bash(git add *)", "Bash(git push *)"), "session"),
        "git add with any arguments; git push with any arguments, --force included",
    )
    ask = PermissionAsk(call("rm -rf dist && make dist"), pending, offers=(offer,))
    text = drawn(PermissionDialog(ask, Highlighter()), 80)
    assert "nothing matches" not in text
    assert text.count("make dist") == 1
    assert "Bash(git add *), Bash(git push *)  git push: --force included\n" in text
    assert len(text.replace("--\n", "").strip().splitlines()) <= 12
    behind = replace(pending, parts=(first, replace(second, detail="writes out.txt")))
    assert "writes out.txt" in drawn(
        PermissionDialog(replace(ask, pending=behind), Highlighter()), 80
    )


async def test_what_would_be_stored_is_reported_without_unseen_characters() -> None:
    offer = GrantOffer(GrantChoice(("Bash(touch a\u202eb)",), "session"))
    ask = PermissionAsk(call("touch a\u202eb"), PLAIN, offers=(offer,))
    text = drawn(PermissionDialog(ask, Highlighter()), 80)
    assert "\u202e" not in text
    assert "Bash(touch aU+202Eb)" in text


async def test_keys_typed_on_after_an_edit_do_not_answer_it() -> None:
    conversation, answers = await asked((call("make a"), PLAIN))
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "go")
        disarm(app)
        app.parts.dialogs._guard._clock = lambda: 1.0  # all keys come within the guard's 200 ms
        await pilot.press("e", "x", "enter", "enter", "y")
        await settled(pilot)
        assert answers == {}
        assert "Run your changed version?" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("enter")
        await settled(pilot)
        found = answers["make a"]
        assert found is not None
        assert found.updated_input == {"command": "make ax"}


async def test_words_that_begin_like_a_key_go_to_the_prompt() -> None:
    conversation, answers = await asked((call("make a"), PLAIN))
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await send(pilot, "go")
        disarm(app)
        app.parts.dialogs._guard._clock = lambda: 1.0  # no pause between the keys
        # A command has no parts that `h` could show, so that `e` is no wish to edit it.
        await pilot.press(*"hello", "enter")
        await settled(pilot)
        assert answers == {}
        assert "Edit the command" not in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("escape")
        await settled(pilot)
        assert app.parts.composer.buffer.text.strip() == "hello"


@pytest.mark.parametrize(("height", "are_told"), [(30, True), (18, False)], ids=str)
async def test_what_an_answer_stores_gives_way_until_it_is_selected(
    height: int, are_told: bool
) -> None:
    offer = GrantOffer(
        GrantChoice(("Bash(x)",), "localSettings"), "any git command, --force included"
    )
    pending = replace(PENDING, effects=("discards work: git push",))
    conversation, _ = await asked((call("x\n" * 6), pending))
    app = make_app(conversation, suggest_grants=lambda _request, _decision: (offer, offer))
    async with app.run_test(size=(80, height)) as pilot:
        await send(pilot, "go")
        disarm(app)
        shown = text_of(app.parts.dialogs)
        assert ("any git command" in shown) is are_told
        assert "discards work" in shown
        assert "4. No, and stop" in shown
        await pilot.press("down")
        await settled(pilot)
        assert "any git command" in text_of(app.parts.dialogs)
        await pilot.press("escape")
        await settled(pilot)


async def test_a_part_does_not_repeat_the_ground_of_the_whole_call() -> None:
    said = "no rule matches"
    part = replace(PENDING.parts[1], message=said, detail="writes x")
    pending = replace(PENDING, parts=(PENDING.parts[0], part), message=said, rule=None)
    shown = drawn(PermissionDialog(PermissionAsk(call("x"), pending), Highlighter()), 80)
    assert "ask   git push  writes x" in shown
    assert shown.count(said) == 1


async def test_the_key_that_takes_all_edits_stands_beside_its_answer() -> None:
    offer = GrantOffer(GrantChoice(("Edit(/**)",), "session"))
    for is_edit in (True, False):
        ask = PermissionAsk(call("x"), PLAIN, offers=(offer,), session_edits=is_edit)
        shown = drawn(PermissionDialog(ask, Highlighter()), 90)
        assert ("shift+tab" in shown) is is_edit
