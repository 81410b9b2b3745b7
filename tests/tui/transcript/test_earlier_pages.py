"""A resumed session: its end at once, the rest as far as the user scrolls up."""

from __future__ import annotations

from pathlib import Path

from agent.display import CommandDisplay, DiffDisplay, PlanDisplay, TextDisplay
from agent.messages import Message, text_block, tool_result_block, tool_results_message
from agent.messages import user_message as said
from agent.prompt.shell_command_note import note_of
from agent.session.archive.history_pages import PAGE_ITEMS, SessionPages
from agent.session.record_json import to_json
from agent.session.records import (
    CompactionRecord,
    DenialRecord,
    MessageRecord,
    NoticeRecord,
    Record,
    ToolEnd,
)
from agent.session.transcript import Transcript
from tests.tui.app.test_app_keys import settled, transcript_of
from tests.tui.recorded import RecordedConversation, make_app
from tui.transcript.blocks import (
    AssistantText,
    CompactionLine,
    EndLine,
    NoticeLine,
    ToolCard,
    UserMessage,
)
from tui.transcript.earlier_pages import past_blocks
from tui.transcript.transcript_model import TranscriptModel

CALL = {"type": "tool_use", "id": "a", "name": "Edit", "input": {"file_path": "f.py"}}
CHANGE = {"path": "f.py", "old": "x = 1", "new": "x = 2", "is_new": False, "first_line": 41}


def session(path: Path, *records: Record | Message) -> Path:
    with Transcript.create(path) as transcript:
        for record in records:
            fact = MessageRecord(record) if isinstance(record, Message) else record
            transcript.append(to_json(fact))
    return path


def answer(text: str) -> Message:
    return Message("assistant", (text_block(text),), "model")


def test_every_kind_of_past_is_a_block(tmp_path: Path) -> None:
    result = tool_result_block("a", "Changed f.py.")
    path = session(
        tmp_path / "s.jsonl",
        said("hello"),
        Message("assistant", (text_block("I edit"), CALL), "model"),
        ToolEnd("a", "Edit", result, "ok", identifier="Edit f.py", elapsed_s=2.0, change=CHANGE),
        tool_results_message([result]),
        NoticeRecord("warning", "careful"),
        CompactionRecord((said("s", origin="summary"),), "the summary", "auto", 9, 1),
        said("note", origin="reminder"),
        Message("assistant", ({**CALL, "id": "b"},), "model"),
        said("[Request interrupted by user]", origin="interruption"),
        answer("the end"),
    )
    blocks, last = past_blocks(SessionPages(path).older())
    kinds = [type(block) for block in blocks.blocks]
    assert kinds == [
        UserMessage,
        AssistantText,
        ToolCard,
        NoticeLine,
        CompactionLine,
        ToolCard,
        EndLine,
        AssistantText,
    ]
    cards = [block for block in blocks.blocks if isinstance(block, ToolCard)]
    assert cards[0].display == DiffDisplay("f.py", "x = 1", "x = 2", first_line=41)
    assert (cards[0].identifier, cards[0].elapsed_s) == ("Edit f.py", 2.0)
    assert [card.state for card in cards] == ["ok", "interrupted"]
    assert last == "the end"


def test_a_command_and_a_plan_look_as_they_did_then(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "make"}}
    plan = {"type": "tool_use", "id": "b", "name": "ExitPlanMode", "input": {"plan": "# P"}}
    results = [tool_result_block("a", "1\n2"), tool_result_block("b", "Approved.")]
    path = session(
        tmp_path / "s.jsonl",
        said("hello"),
        Message("assistant", (call, plan), "model"),
        ToolEnd("a", "Bash", results[0], "ok", identifier="Bash make"),
        ToolEnd("b", "ExitPlanMode", results[1], "ok", identifier="ExitPlanMode"),
        tool_results_message(results),
    )
    blocks, _ = past_blocks(SessionPages(path).older())
    cards = [block for block in blocks.blocks if isinstance(block, ToolCard)]
    assert [card.display for card in cards] == [CommandDisplay("make", "1\n2"), PlanDisplay("# P")]


def test_a_failure_shows_what_users_read_then(tmp_path: Path) -> None:
    result = tool_result_block("a", "x occurs twice. Add lines to old_string.", is_error=True)
    path = session(
        tmp_path / "s.jsonl",
        said("hello"),
        Message("assistant", (CALL,), "model"),
        ToolEnd("a", "Edit", result, "error", identifier="Edit f.py", fact="x occurs twice."),
        tool_results_message([result]),
    )
    blocks, _ = past_blocks(SessionPages(path).older())
    (card,) = [block for block in blocks.blocks if isinstance(block, ToolCard)]
    assert (card.display, card.state) == (TextDisplay("x occurs twice."), "failed")


def test_a_command_of_ones_own_comes_back_with_what_it_printed(tmp_path: Path) -> None:
    path = session(
        tmp_path / "s.jsonl",
        said(note_of("ls; exit 3", "a.txt\n", 3)),
        said("@/home/a/.agent/s/scratch/pasted-02493ef1.png what is it"),
        said('@"/home/a b/.agent/s/scratch/pasted-02493ef1-1108x728-1038kB.jpg" and this'),
    )
    blocks, _ = past_blocks(SessionPages(path).older())
    typed, card, picture, sized = blocks.blocks
    assert isinstance(typed, UserMessage)
    assert (typed.text, typed.kind) == ("!ls; exit 3", "shell")
    assert isinstance(card, ToolCard)
    assert (card.identifier, card.state, card.result) == ("Bash ls; exit 3", "failed", "a.txt\n")
    assert isinstance(picture, UserMessage)
    assert picture.text == "[Image] what is it"
    assert isinstance(sized, UserMessage)
    assert sized.text == "[Image 1108×728 JPG 1,038 kB] and this"


def test_the_past_comes_before_what_is_there_already(tmp_path: Path) -> None:
    path = session(tmp_path / "s.jsonl", *(said(str(n)) for n in range(PAGE_ITEMS + 5)))
    pages, document = SessionPages(path), TranscriptModel()
    document.add_notice("info", "now")
    document.take_first_changed()
    for added in (PAGE_ITEMS, 5):
        document.add_past(*past_blocks(pages.older()))
        assert document.take_added_before() == added
        assert document.take_first_changed() == added
    texts = [block.text for block in document.blocks if isinstance(block, UserMessage)]
    assert texts == [str(n) for n in range(PAGE_ITEMS + 5)]
    assert isinstance(document.blocks[-1], NoticeLine)
    assert document.take_added_before() == 0


async def test_the_end_is_shown_and_scrolling_up_brings_the_rest(tmp_path: Path) -> None:
    count = PAGE_ITEMS * 4
    path = session(tmp_path / "s.jsonl", *(answer(f"line {n} of it") for n in range(count)))
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await app.parts.past.open(path)
        await settled(pilot)
        assert f"line {count - 1} of it" in transcript_of(app)
        assert len(app.parts.document.blocks) < count
        seen: set[str] = set()
        while f"line {0} of it" not in (shown := transcript_of(app)):
            before = shown
            app.parts.transcript.scroll_rows(-5)
            await app.workers.wait_for_complete()
            await settled(pilot)
            moved = set(transcript_of(app).splitlines())
            # The rows in view stay where they are while others are put above them.
            assert moved & set(before.splitlines())
            seen |= moved
        assert {f"line {n} of it" for n in range(count - 20)} <= {
            row.strip(" ⏺●│▐").strip() for row in seen
        }


async def test_another_session_takes_its_place(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await app.parts.past.open(session(tmp_path / "a.jsonl", answer("the first one")))
        app.parts.document.start_over()
        await app.parts.past.open(session(tmp_path / "b.jsonl", answer("the second one")))
        await settled(pilot)
        assert "the first one" not in transcript_of(app)
        assert "the second one" in transcript_of(app)


async def test_a_search_continues_in_what_came_in_above(tmp_path: Path) -> None:
    count = PAGE_ITEMS + 40
    path = session(tmp_path / "s.jsonl", *(answer(f"needle {n} of it") for n in range(count)))
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        await app.parts.past.open(path)
        await settled(pilot)
        await pilot.press("ctrl+o", "/", *"needle", "enter")
        await settled(pilot)
        at = count - 1
        while at:
            step = min(20, at)
            at -= step
            await pilot.press(*["n"] * step)
            await app.workers.wait_for_complete()
            await settled(pilot)
            assert f"needle {at} of it" in transcript_of(app)


def test_a_call_of_the_past_names_its_file_as_seen_from_the_directory(tmp_path: Path) -> None:
    call = {**CALL, "input": {"file_path": "/home/me/p/src/a.py"}}
    refused = tool_results_message([tool_result_block("a", "Not run.", is_error=True)])
    path = session(tmp_path / "s.jsonl", Message("assistant", (call,), "model"), refused)
    blocks, _ = past_blocks(SessionPages(path).older(), "/home/me/p")
    (card,) = blocks.blocks
    assert isinstance(card, ToolCard)
    assert (card.identifier, card.state) == ("Edit src/a.py", "failed")


async def test_a_denied_call_is_shown_as_it_was(tmp_path: Path) -> None:
    told = "The user declined this call. It did not run. The user said:\nuse make"
    results = [tool_result_block(name, told, is_error=True) for name in "abc"]
    calls = tuple({**CALL, "id": name} for name in "abc")
    why = {
        "source": "user",
        "reason_type": "user",
        "reason": "user",
        "message": "declined",
        "feedback": "use make",
    }
    path = session(
        tmp_path / "s.jsonl",
        Message("assistant", calls, "model"),
        DenialRecord("a", "Edit f.py", why),
        # Of a hook that stopped the turn, and of a version to come.
        DenialRecord("b"),
        DenialRecord("c", "", {**why, "reason": "of tomorrow"}),
        tool_results_message(results),
    )
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        await app.parts.past.open(path)
        await settled(pilot)
        shown = transcript_of(app)
    cards = [block for block in app.parts.document.blocks if isinstance(block, ToolCard)]
    assert [card.state for card in cards] == ["denied"] * 3
    assert [card.decision is None for card in cards] == [False, True, True]
    assert "⊘ Edit f.py" in shown
    assert "Denied by you “use make”" in shown
