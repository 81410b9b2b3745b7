"""What is done with all of a long session while only its end is loaded."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from agent.display import DiffDisplay
from agent.messages import user_message as said
from agent.session.archive.history_pages import PAGE_ITEMS
from tests.tui.app.test_app_keys import settled, text_of, transcript_of
from tests.tui.recorded import RecordedConversation, make_app
from tests.tui.transcript.test_earlier_pages import answer, session
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.input.event import RoutedEvent
from tui.input.event_kind import EventKind
from tui.text.highlight import Highlighter
from tui.transcript.blocks import (
    AssistantText,
    Block,
    CompactionLine,
    NoticeLine,
    ToolCard,
    UserMessage,
)
from tui.transcript.export_text import block_source, patch, transcript_text
from tui.transcript.reading.search_session import TranscriptSearch
from tui.transcript.viewport import RowPosition, Viewport

PAGES = 6
COUNT = PAGES * PAGE_ITEMS


def long_session(directory: Path) -> Path:
    """Return a session with a needle at its start and in its middle, and prompts far apart."""
    messages = [answer(f"line {n} of it") for n in range(COUNT)]
    messages[0] = said("the first question")
    messages[1] = answer("a needle at the start")
    messages[COUNT // 2] = answer("a needle in the middle")
    return session(directory / "s.jsonl", *messages)


async def read(pilot: Pilot[ExitReport], app: AgentApp, directory: Path) -> None:
    await settled(pilot)
    await app.parts.past.open(long_session(directory))
    await settled(pilot)
    assert len(app.parts.document.blocks) < COUNT / 2
    await pilot.press("ctrl+o")


async def done(pilot: Pilot[ExitReport], app: AgentApp) -> None:
    await app.workers.wait_for_complete()
    await settled(pilot)


async def test_a_search_finds_what_is_not_loaded_yet(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        await pilot.press("/", *"needle", "enter")
        await done(pilot, app)
        assert "1/2 hits " in text_of(app.parts.transcript_bar)
        assert "a needle in the middle" in transcript_of(app)
        await pilot.press("n")
        assert "2/2 hits " in text_of(app.parts.transcript_bar)
        assert "a needle at the start" in transcript_of(app)
        await pilot.press("n")
        assert "1/2 hits " in text_of(app.parts.transcript_bar)


async def test_nothing_found_is_only_said_when_everything_was_read(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        before = transcript_of(app)
        finder = app.parts.keyboard.reading.finder
        finder.find("zebra")
        assert finder.hit_summary == "searching …"
        await done(pilot, app)
        assert finder.hit_summary == "nothing found"
        assert transcript_of(app) == before


async def test_the_hit_is_gone_to_once_it_is_there_also_after_enter(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        view = app.parts.keyboard.reading
        view._set_query("needle at the start")
        view.press(RoutedEvent(events.Key("enter", None), EventKind.KEY, [app]))
        assert "searching …" in text_of(app.parts.transcript_bar)
        await done(pilot, app)
        assert "a needle at the start" in transcript_of(app)


async def test_prompts_are_gone_to_beyond_what_is_loaded(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        await pilot.press("{")
        await done(pilot, app)
        assert "the first question" in transcript_of(app).splitlines()[0]


async def test_the_start_is_the_session_s_and_another_key_gives_it_up(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        await pilot.press("g")
        await done(pilot, app)
        assert "the first question" in transcript_of(app)
        app.parts.document.start_over()
        app.parts.presenter.show()
        await app.parts.past.open(tmp_path / "s.jsonl")
        app.parts.keyboard.reading.finder.to_start()
        app.parts.keyboard.reading.finder.cancel_jump()
        app.parts.transcript.to_end()
        await done(pilot, app)
        assert f"line {COUNT - 1} of it" in transcript_of(app)


async def test_all_of_it_goes_to_the_editor_and_to_the_terminal(tmp_path: Path) -> None:
    seen: list[str] = []

    def edit(text: str, name: str) -> str:
        seen.append(text)
        return text

    app = make_app(RecordedConversation([]), edit_text=edit)
    app.suspend = nullcontext  # type: ignore[method-assign, assignment]
    app.parts.editing.to_terminal = seen.append  # type: ignore[method-assign, assignment]
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, app, tmp_path)
        await pilot.press("v")
        await done(pilot, app)
        await pilot.press("[")
        await done(pilot, app)
    assert seen[0].startswith("❯ the first question\n\na needle at the start\n\nline 2 of it")
    assert seen[0].endswith(f"line {COUNT - 1} of it")
    assert seen[1] == seen[0]


def viewport(texts: list[str]) -> Viewport:
    found = Viewport(Highlighter(), 40, 10)
    found.replace_from(0, [UserMessage(f"k{n}", text) for n, text in enumerate(texts)])
    return found


def test_a_portion_at_a_time_finds_the_same_as_all_at_once() -> None:
    shown = viewport([f"{n} {'ab' * (n % 4)}" for n in range(50)])
    whole, slow = TranscriptSearch("ab", 50), TranscriptSearch("ab", 50)
    whole.search_portion(shown.entries)
    steps = 0
    while not slow.is_complete(50):
        slow.search_portion(shown.entries, 1)
        steps += 1
    assert steps == 50
    assert slow.count == whole.count == sum(n % 4 for n in range(50))
    at: RowPosition | None = RowPosition(50, 0)
    places = []
    while at is not None:
        found = [search.previous(shown, at) for search in (whole, slow)]
        assert found[0] == found[1]
        at = found[0]
        places.append(at)
    assert len(places) == 1 + sum(1 for n in range(50) if n % 4)


def test_a_longer_query_looks_only_where_the_shorter_one_was_found() -> None:
    texts = ["needle", "nee", "none"] * 10
    shown = viewport(texts)
    short = TranscriptSearch("nee", 30)
    short.search_portion(shown.entries, 500)  # about five blocks
    longer = TranscriptSearch("need", 30, short)
    while not longer.is_complete(30):
        longer.search_portion(shown.entries, 1)
    assert longer.count == 10


def test_what_comes_in_above_and_below_is_looked_through_too() -> None:
    shown = viewport(["needle"] * 3)
    search = TranscriptSearch("needle", 3)
    search.search_portion(shown.entries)
    shown.add_before([UserMessage("older", "needle"), UserMessage("oldest", "x")])
    search.shift(2)
    blocks = [*(entry.block for entry in shown.entries), UserMessage("new", "needle")]
    shown.replace_from(5, blocks)
    assert not search.is_complete(6)
    search.search_portion(shown.entries)
    assert search.count == 5
    assert search.next(shown, RowPosition(4, 9)) == RowPosition(5, 1)
    assert search.previous(shown, RowPosition(2, 0)) == RowPosition(0, 0)
    assert search.number(shown, RowPosition(0, 0)) == 5


def test_a_change_is_found_by_its_lines() -> None:
    change = DiffDisplay("a.py", "one\ntwo\n", "one\nneedle\n")
    card = ToolCard("u", "Edit", "Edit a.py", "ok", {}, 0.0, result="Changed a.py.", display=change)
    shown = Viewport(Highlighter(), 60, 10)
    shown.replace_from(0, [card])
    search = TranscriptSearch("needle", 1)
    search.search_portion(shown.entries)
    assert search.count == 1


def test_the_text_says_who_speaks_and_changes_are_patches() -> None:
    change = DiffDisplay("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n", first_line=5)
    blocks: list[Block] = [
        UserMessage("p", "hello\nyou"),
        AssistantText("a:0", "# Title", False),
        AssistantText("a:1", "more", False, continues=True),
        ToolCard("u", "Edit", "Edit a.py", "ok", {}, 0.0, display=change),
        ToolCard("b", "Bash", "Bash false", "failed", {}, 0.0, result="exit status 1"),
        NoticeLine("n", "warning", "careful"),
        CompactionLine("c", "auto", 9, 1, "what was"),
    ]
    assert transcript_text(blocks).split("\n\n") == [
        "❯ hello\n  you",
        "# Title\nmore",
        "● Edit a.py\n  --- a/a.py\n  +++ b/a.py\n"
        "  @@ -5,3 +5,3 @@\n   one\n  -two\n  +2\n   three",
        "● Bash false  (failed)\n  exit status 1",
        "! careful",
        "─── compacted, 9 → 1 tokens",
        "what was",
    ]
    assert block_source(UserMessage("s", "!ls", "shell")) == "! ls"
    assert patch(DiffDisplay("n.py", "", "x\n", is_new=True)).splitlines() == [
        "--- /dev/null",
        "+++ b/n.py",
        "@@ -0,0 +1,1 @@",
        "+x",
    ]
