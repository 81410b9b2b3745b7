"""The dialogs: what they show as a grid, and what each key answers."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent.abort import AbortController
from agent.display import DiffDisplay
from agent.model.local_servers import LocalServer
from agent.tools.services import PlanAnswer, Question, QuestionOption
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    PartVerdict,
    Reason,
    ReasonType,
    RuleRef,
    TraceEntry,
    TraceStep,
)
from permissions.request import PermissionRequest
from tests.tui.app.test_app_keys import played, send, settled, text_of, until
from tests.tui.recorded import RecordedConversation, ask, make_app
from tests.tui.transcript.samples import DIFF
from tui.app.app import AgentApp
from tui.dialogs.dialog import Dialog
from tui.dialogs.onboarding import LocalModel, Onboarding, OnboardingDialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, PermissionAsk
from tui.dialogs.plan import PlanDialog
from tui.dialogs.ports import show
from tui.dialogs.trust_dialog import TrustDialog, TrustLine, TrustRequest
from tui.input.actions import Context
from tui.input.keymap import ChordReader, Match, default_keymap
from tui.panels.line_entry import LineEntry
from tui.ports.conversation import ConversationPort, ScreenPorts
from tui.text.highlight import Highlighter
from tui.text.styled_rows import plain

RULE = RuleRef("Bash(pytest *)", "userSettings", "~/.agent/settings.json", 12)
PENDING = Decision(
    Behavior.ASK,
    DecisionSource.MODE,
    ReasonType.MODE,
    Reason.MODE_DEFAULT,
    "No rule covers git push, and manual mode asks.",
    trace=(
        TraceEntry(TraceStep.SCOPE, "none"),
        TraceEntry(TraceStep.ALLOW, "allow", "userSettings", "Bash(pytest *)", "pytest -q"),
        TraceEntry(TraceStep.MODE, "ask", "mode", None, "git push"),
    ),
    parts=(
        PartVerdict(
            "pytest -q",
            Behavior.ALLOW,
            DecisionSource.USER_SETTINGS,
            ReasonType.RULE,
            Reason.ALLOW_RULE,
            "",
            RULE,
        ),
        PartVerdict(
            "git push",
            Behavior.ASK,
            DecisionSource.MODE,
            ReasonType.MODE,
            Reason.MODE_DEFAULT,
            "nothing matches",
        ),
    ),
)
BASH = PermissionRequest("Bash", {"command": "pytest -q && git push"}, tool_use_id="u1")
OFFER = GrantOffer(GrantChoice(("Bash(git push)",), "localSettings"))
QUESTIONS = (
    Question(
        "Which database?",
        "Database",
        (QuestionOption("SQLite", "one file"), QuestionOption("Postgres")),
    ),
    Question("Which extras?", "Extras", (QuestionOption("Docs"), QuestionOption("Tests")), True),
)


def drawn(dialog: Dialog, width: int = 60) -> str:
    view = dialog.view(width)
    title = "".join(text for text, _ in view.title)
    return "\n".join(
        [
            f"[{title}]",
            plain([*view.body, *view.pinned_rows]),
            "--",
            plain(part.row for part in view.footer),
        ]
    )


def press(dialog: Dialog, *keys: str) -> None:
    reader = ChordReader(default_keymap())
    for key in keys:
        meaning = reader.press(key, (Context.CONFIRMATION,))
        action_id = meaning.action_id if isinstance(meaning, Match) else None
        text = " " if key == "space" else key if len(key) == 1 else ""
        dialog.press(key, text, action_id)


def permission(**changes: object) -> PermissionDialog:
    asked = replace(PermissionAsk(BASH, PENDING, None, (OFFER,)), **changes)
    return PermissionDialog(asked, Highlighter())


async def test_permission_for_a_compound_command() -> None:
    assert drawn(permission()) == PERMISSION_BASH


async def test_permission_with_its_trace() -> None:
    dialog = permission()
    press(dialog, "ctrl+y")
    assert TRACE in drawn(dialog)
    press(dialog, "ctrl+y")
    assert drawn(dialog) == PERMISSION_BASH


async def test_permission_for_an_edit() -> None:
    request = PermissionRequest(
        "Edit", {"file_path": "src/slug.py"}, agent_id="a", agent_type="fix"
    )
    pending = replace(PENDING, parts=())
    assert drawn(permission(request=request, pending=pending, display=DIFF)) == PERMISSION_EDIT


async def test_permission_for_any_other_tool_shows_its_input() -> None:
    request = PermissionRequest("mcp__db__query", {"sql": "select 漢字\u202e", "limit": 5})
    text = drawn(permission(request=request, pending=replace(PENDING, parts=()), offers=()))
    assert "[Allow db: query?]" in text
    assert "sql    select 漢字U+202E\n   limit  5" in text


async def test_fields_of_our_own_tools_are_named_for_users_and_aligned() -> None:
    plain = replace(PENDING, parts=())
    read = PermissionRequest("Read", {"file_path": "/etc/hosts", "file": "x"})
    text = drawn(permission(request=read, pending=plain, offers=()))
    assert "   file  /etc/hosts\n   file  x\n" in text
    fetch = PermissionRequest("WebFetch", {"url": "https://example.com/a", "prompt": "What?"})
    text = drawn(permission(request=fetch, pending=plain, offers=()))
    assert "   address   https://example.com/a\n   question  What?\n" in text


async def test_hidden_characters_of_a_command_are_shown() -> None:
    request = PermissionRequest("Bash", {"command": "echo a\u200b\x1b[8m; rm -rf ."})
    assert "echo aU+200B\\x1b[8m; rm -rf ." in drawn(permission(request=request))


async def test_hidden_characters_of_a_change_are_shown() -> None:
    diff = DiffDisplay("a.py", "", "ok = 1  # \u202eevil\n", is_new=True)
    request = PermissionRequest("Write", {"file_path": "a.py"})
    assert "ok = 1  # U+202Eevil" in drawn(permission(request=request, display=diff))


def answer(
    keys: tuple[str, ...],
    behavior: Behavior,
    *,
    feedback: str | None = None,
    grant: GrantChoice | None = None,
) -> object:
    return pytest.param(keys, behavior, feedback, grant, id=" ".join(keys))


@pytest.mark.parametrize(
    ("keys", "behavior", "feedback", "grant"),
    [
        answer(("y",), Behavior.ALLOW),
        answer(("enter",), Behavior.ALLOW),
        answer(("1",), Behavior.ALLOW),
        answer(("2",), Behavior.ALLOW, grant=OFFER.choice),
        answer(("down", "enter"), Behavior.ALLOW, grant=OFFER.choice),
        answer(("3",), Behavior.DENY),
        answer(("4", "b", "a", "d", "enter"), Behavior.DENY, feedback="bad"),
        answer(("4", "enter", "escape", "n"), Behavior.DENY),
        answer(("n",), Behavior.DENY),
        answer(("escape",), Behavior.DENY),
        answer(("up", "up", "enter"), Behavior.DENY),
        answer(("tab", "o", "k", "enter"), Behavior.ALLOW, feedback="ok"),
        answer(("up", "up", "tab", "n", "y", "1", "enter"), Behavior.DENY, feedback="ny1"),
        answer(("up", "tab", "x", "escape", "escape"), Behavior.DENY),
        answer(("down", "tab", "enter"), Behavior.ALLOW, grant=OFFER.choice),
    ],
)
async def test_permission_keys(
    keys: tuple[str, ...],
    behavior: Behavior,
    feedback: str | None,
    grant: GrantChoice | None,
) -> None:
    dialog = permission()
    press(dialog, *keys)
    decision = await dialog.wait()
    assert (decision.behavior, decision.feedback, decision.grant) == (behavior, feedback, grant)
    assert decision.source is DecisionSource.USER
    assert decision.interrupt == (behavior is Behavior.DENY and feedback is None)


async def test_shift_tab_allows_all_edits_only_for_edits() -> None:
    dialog = permission()
    press(dialog, "shift+tab")
    assert not dialog.is_done
    edits = permission(session_edits=True)
    press(edits, "shift+tab")
    assert (await edits.wait()).grant == OFFER.choice


async def test_a_click_selects_and_a_second_one_decides() -> None:
    dialog = permission()
    dialog.choose(2)
    assert not dialog.is_done
    dialog.choose(2)
    assert (await dialog.wait()).behavior is Behavior.DENY


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("1",), PlanAnswer(True, "acceptEdits")),
        (("down", "enter"), PlanAnswer(True, "default")),
        (("escape",), PlanAnswer(False)),
        (("tab", "a", "b", "enter"), PlanAnswer(False, feedback="ab")),
    ],
)
async def test_plan_keys(keys: tuple[str, ...], expected: PlanAnswer) -> None:
    dialog = PlanDialog("# Plan\n\n1. Fix", Highlighter())
    assert "Plan\n\n   1. Fix" in drawn(dialog)
    press(dialog, *keys)
    assert await dialog.wait() == expected


async def test_a_plan_is_edited_before_it_is_approved() -> None:
    seen: list[str] = []

    def edit(text: str, name: str) -> str:
        seen.append(name)
        return text.replace("Fix", "Test") + "\n"

    dialog = PlanDialog("# Plan\n\n1. Fix", Highlighter(), edit)
    press(dialog, "ctrl+g")
    assert "1. Test" in drawn(dialog)
    assert "Go ahead with your version?" in drawn(dialog)
    press(dialog, "enter")
    assert await dialog.wait() == PlanAnswer(True, "acceptEdits", plan="# Plan\n\n1. Test")
    assert seen == ["plan.md"]


async def test_a_plan_that_was_not_changed_is_the_models_own() -> None:
    dialog = PlanDialog("# Plan", Highlighter(), lambda text, _: text + "\n")
    press(dialog, "ctrl+g", "enter")
    assert await dialog.wait() == PlanAnswer(True, "acceptEdits")


async def test_trust_lists_what_the_directory_brings_and_is_careful_by_default() -> None:
    items = [
        TrustLine("allow rules", "Bash(make *)", ".agent/settings.json:3"),
        TrustLine("hooks", "PostToolUse: fmt\u202e", ".agent/settings.json:9", is_new=True),
    ]
    dialog = TrustDialog(TrustRequest("/home/ada/slugs", items, was_trusted=True))
    assert drawn(dialog) == TRUST
    press(dialog, "enter")
    assert await dialog.wait() is False


async def test_trust_names_no_other_directory_than_the_one_it_is_about() -> None:
    shown = drawn(TrustDialog(TrustRequest("/home/ada/slu\ngs\u200b\udcff", [])))
    assert r"/home/ada/slu\ngsU+200BU+DCFF" in shown


async def test_trust_counts_in_its_headings_and_names_a_file_once() -> None:
    items = [
        TrustLine("allow rule", "Bash(a)", ".agent/settings.json:3"),
        TrustLine("allow rule", "Bash(b)", ".agent/settings.json:4"),
        TrustLine("command", ".agent/commands/x.md", ".agent/commands/x.md"),
    ]
    shown = drawn(TrustDialog(TrustRequest("/home/ada/slugs", items)))
    assert "   allow rules\n" in shown
    assert "   command\n" in shown
    assert shown.count("x.md") == 1


async def test_a_number_that_answers_the_trust_question_is_no_word_for_the_prompt() -> None:
    dialog = TrustDialog(TrustRequest("/home/ada/slugs", []))
    press(dialog, "1")
    assert await dialog.wait() is True
    assert dialog.ignored_keys == 0


async def test_a_server_that_was_found_is_the_first_answer() -> None:
    servers = [
        LocalServer("Ollama", "http://localhost:11434", ("qwen3:8b", "gpt-oss")),
        LocalServer("vLLM", "http://localhost:8000", ("glm",)),
    ]
    dialog = OnboardingDialog(Highlighter(), servers)
    text = drawn(dialog)
    assert "1. Use qwen3:8b  Ollama at http://localhost:11434" in text
    assert "2. Use glm" in text
    assert "3. Use gpt-oss" in text
    assert "shift+tab" in text
    press(dialog, "down", "enter")
    assert await dialog.wait() == LocalModel("vLLM", "http://localhost:8000", "glm")


async def test_a_named_server_is_asked_about_its_models_alone() -> None:
    server = LocalServer("", "http://gateway:4000", tuple(f"m{n}" for n in range(9)))
    dialog = OnboardingDialog(Highlighter(), [server], is_configured=True)
    text = drawn(dialog, 90)
    assert "Choose a model on http://gateway:4000" in text
    assert "2 more" in text
    assert "1. Use m0\n" in text
    assert "export" not in text


async def test_escape_on_the_first_start_quits() -> None:
    dialog = OnboardingDialog(Highlighter(), [LocalServer("Ollama", "http://x", ("a",) * 20)])
    assert "8. Try the demo" in drawn(dialog)
    press(dialog, "escape")
    assert await dialog.wait() is Onboarding.QUIT


async def test_onboarding() -> None:
    dialog = OnboardingDialog(Highlighter())
    assert "export ANTHROPIC_API_KEY" in drawn(dialog)
    assert "ANTHROPIC_AUTH_TOKEN" in drawn(dialog)
    press(dialog, "enter")
    assert await dialog.wait() is Onboarding.DEMO


async def test_a_newcomer_reads_how_to_use_other_providers() -> None:
    assert "--model openai/NAME" in drawn(OnboardingDialog(Highlighter()))


@pytest.mark.parametrize("models", [(), ("qwen3:8b",)])
async def test_a_start_that_failed_shows_why_instead_of_the_greeting(
    models: tuple[str, ...],
) -> None:
    servers = [LocalServer("Ollama", "http://localhost:11434", models)] if models else []
    text = drawn(OnboardingDialog(Highlighter(), servers, obstacle="OPENAI_API_KEY is set: …"))
    assert "OPENAI_API_KEY is set: …" in text
    assert "No model is configured yet" not in text
    assert "These are on this machine" not in text
    assert "shift+tab" not in text


async def test_the_first_start_takes_no_letter_for_an_answer() -> None:
    dialog = OnboardingDialog(Highlighter())
    press(dialog, *"yn fix 9")
    assert not dialog.is_done
    assert dialog.ignored_keys == 8
    press(dialog, "?")
    assert dialog.ignored_keys == 8
    press(dialog, "1")
    assert await dialog.wait() is Onboarding.DEMO


# On the screen


async def test_what_is_typed_into_the_first_start_comes_back_to_the_prompt() -> None:
    conversation = played([])
    chosen: list[object] = []
    app = make_app(conversation)
    make = app.parts.conversations.make

    async def slow(ports: ScreenPorts) -> ConversationPort:
        dialog = OnboardingDialog(Highlighter())
        chosen.append(await show(app.parts.dialogs, dialog))
        return await make(ports)

    app.parts.conversations.make = slow
    async with app.run_test(size=(80, 40)) as pilot:
        now = [0.0]
        await pilot.pause()
        app.parts.dialogs._guard._clock = lambda: now[0]
        app.parts.dialogs._guard.arm()
        await pilot.press("f", "i")
        now[0] = 0.3
        await pilot.press("n", "d", "2")
        assert "what you type goes to the prompt" in text_of(app.parts.dialogs)
        now[0] = 1.5
        await pilot.press("1")
        await settled(pilot)
        assert chosen == [Onboarding.DEMO]
        assert app.parts.composer.buffer.text == "find2"


async def test_early_keys_go_to_the_prompt_and_answer_nothing() -> None:
    conversation = played([ask(BASH, PENDING)])
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        now = [0.0]
        app.parts.dialogs._guard._clock = lambda: now[0]
        app.parts.dialogs._guard.arm()
        await pilot.press("y", "n")
        assert conversation.answers == []
        now[0] = 0.3
        await pilot.press("down")
        assert app.parts.composer.buffer.text == "yn"
        await pilot.press("1")
        await settled(pilot)
        (decision,) = conversation.answers
        assert decision is not None
        assert decision.behavior is Behavior.ALLOW
        assert app.parts.dialogs.open_count == 0
        assert app.parts.composer.display


async def test_the_count_is_of_questions_and_a_panel_names_those_that_wait() -> None:
    async def both(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        decide = conversation.ports.contender.decide
        conversation.answers += await asyncio.gather(decide(BASH, PENDING), decide(BASH, PENDING))

    app = make_app(played([both]))
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        panel = LineEntry("Rename", "A name.")
        app.parts.dialogs.open(panel)
        app.parts.submission.submit("go")
        await until(pilot, lambda: app.parts.dialogs.open_count == 3)
        assert "2 questions waiting" in text_of(app.parts.dialogs)
        app.parts.dialogs.close(panel)
        app.parts.dialogs.open(panel)
        assert "1 of 2" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("1")
        await settled(pilot)
        assert "1 of" not in text_of(app.parts.dialogs)


async def test_several_requests_queue_with_a_count() -> None:
    async def both(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        decide = conversation.ports.contender.decide
        conversation.answers += await asyncio.gather(decide(BASH, PENDING), decide(BASH, PENDING))

    conversation = played([both])
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        assert "1 of 2" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("1")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 1
        assert "1 of 2" not in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("n")
        await settled(pilot)
        behaviors = [d.behavior for d in conversation.answers if d is not None]
        assert behaviors == [Behavior.ALLOW, Behavior.DENY]


async def test_a_question_precedes_a_panel_that_is_read_which_is_back_after_it() -> None:
    async def ask(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        await conversation.interrupted.wait()
        conversation.answers.append(await conversation.ports.contender.decide(BASH, PENDING))

    conversation = played([ask])
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        app.parts.submission.submit("/tasks")
        await settled(pilot)
        assert "background commands" in text_of(app.parts.dialogs)
        conversation.interrupted.set()
        await settled(pilot)
        assert "Run this command?" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("1")
        await settled(pilot)
        assert conversation.answers[0] is not None
        assert "background commands" in text_of(app.parts.dialogs)


async def test_the_dialog_closes_when_someone_else_was_faster() -> None:
    async def lost(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        task = asyncio.ensure_future(conversation.ports.contender.decide(BASH, PENDING))
        await conversation.interrupted.wait()
        task.cancel()

    app = make_app(played([lost]))
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        assert app.parts.dialogs.open_count == 1
        assert app.parts.conversations.current is not None
        app.parts.conversations.current.controls.interrupt()
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        await pilot.press("x")
        assert app.parts.composer.buffer.text == "x"


async def test_a_question_closes_when_the_turn_is_interrupted() -> None:
    abort = AbortController()

    async def question(conversation: RecordedConversation) -> None:
        assert conversation.ports is not None
        assert await conversation.ports.user.ask(QUESTIONS, abort.signal) is None

    app = make_app(played([question]))
    async with app.run_test(size=(80, 30)) as pilot:
        await send(pilot, "go")
        assert app.parts.dialogs.open_count == 1
        abort.abort()
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0


@pytest.mark.parametrize("size", [(20, 5), (30, 8), (80, 24)])
async def test_the_selected_answer_is_always_in_sight(size: tuple[int, int]) -> None:
    conversation = played([ask(BASH, PENDING)])
    app = make_app(conversation, suggest_grants=lambda _request, _decision: (OFFER,))
    async with app.run_test(size=size) as pilot:
        await send(pilot, "go")
        disarm(app)
        for _ in range(3):
            shown = text_of(app.parts.dialogs).splitlines()
            assert len(shown) <= size[1]
            assert any("❯" in line for line in shown)
            await pilot.press("down")
        await pilot.press("escape")
        await settled(pilot)


async def test_a_long_command_scrolls() -> None:
    long = PermissionRequest("Bash", {"command": "\n".join(f"echo {n}" for n in range(80))})
    conversation = played([ask(long, replace(PENDING, parts=()))])
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        disarm(app)
        assert "echo 79" not in text_of(app.parts.dialogs)
        await pilot.press(*["pagedown"] * 9)
        assert "echo 79" in text_of(app.parts.dialogs)
        await pilot.press("escape")
        await settled(pilot)


def disarm(app: AgentApp) -> None:
    """Let the guard's 200 ms pass."""
    app.parts.dialogs._guard._guarded_until_s = 0.0


PERMISSION_BASH = """\
[Run this command?]
    pytest -q && git push

   allow pytest -q  Bash(pytest *) —
         ~/.agent/settings.json:12
   ask   git push  nothing matches
   ◆ No rule covers git push, and manual mode asks.
--

 ❯ 1. Yes
   2. Yes, always in this project
      Bash(git push)  .agent/settings.local.json
   3. No, and stop
   4. No, and tell it why
   ↑↓ enter · tab comment · e edit · ctrl+y why · esc"""

TRACE = """\
   How this was decided (» = deciding step)
     1. Scope       stays inside your folders; no protected
                    files
     2. Deny rules  not checked
     3. Ask rules   not checked
     4. Allow rules allows: Bash(pytest *) (your settings,
                    ~/.agent/settings.json:12)
     5. Mode        asks, since no rule covers this
     6. You         are asked (with -p: denied)"""

PERMISSION_EDIT = """\
[Make this edit? src/slug.py  +3 −1  from a (fix)]
   1   def slug(text):
   2 -     text = text.lower()
   2 +     text = normalise(text).lower()
   3       return text
   4 +
   5 + # 漢字 🎉

   ◆ No rule covers git push, and manual mode asks.
--

 ❯ 1. Yes
   2. Yes, always in this project
      Bash(git push)  .agent/settings.local.json
   3. No, and stop
   4. No, and tell it why
   ↑↓ enter · tab comment · h hunks · ctrl+y why · esc"""

TRUST = """\
[Trust]
   /home/ada/slugs

   This project's own settings have changed since you
   trusted it:

   allow rules
   • Bash(make *)  .agent/settings.json:3

   hooks
   • new PostToolUse: fmtU+202E  .agent/settings.json:9
--

   Do you trust this folder?
   1. Yes, I trust this folder  what is listed takes effect
 ❯ 2. No, work without it
      its deny and ask rules still apply"""
