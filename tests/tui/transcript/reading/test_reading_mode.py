"""Reading the transcript: unfolding, searching, going through it by prompts."""

from __future__ import annotations

from contextlib import nullcontext

from textual.pilot import Pilot

from agent.events import TextDelta, ToolDispatch, ToolResult
from tests.tui.app.test_app_keys import T, send, settled, text_of, transcript_of
from tests.tui.recorded import RecordedConversation, Step, make_app, until_interrupted
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport

OUTPUT = "\n".join(f"row {number}" for number in range(40))


def long(name: str) -> list[Step]:
    return [
        TextDelta(T, name, 0, "\n\n".join(f"Paragraph {n} about needles." for n in range(30))),
        ToolDispatch(T, f"u{name}", "Bash", {}, "Bash seq"),
        ToolResult(T, f"u{name}", "Bash", OUTPUT, False, 0.1, "ok", "Bash seq"),
    ]


LONG = long("m1")


def app_with(*scripts: list[Step]) -> AgentApp:
    return make_app(RecordedConversation([*scripts]))


async def read(pilot: Pilot[ExitReport], *prompts: str) -> None:
    for prompt in prompts:
        await send(pilot, prompt)
    await pilot.press("ctrl+o")
    await settled(pilot)


async def test_the_prompt_makes_room_and_comes_back_with_its_draft() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 20)) as pilot:
        await send(pilot, "go")
        await pilot.press(*"half")
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert not app.parts.composer.display
        assert "/ search" in text_of(app.parts.transcript_bar)
        assert "row 33" in transcript_of(app)
        await pilot.press("q")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "half"
        await pilot.press(*" typed")
        assert app.parts.composer.buffer.text == "half typed"
        assert text_of(app.parts.transcript_bar) == ""


async def test_words_are_found_and_gone_through_in_both_directions() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, "go")
        await pilot.press("/", *"ROW 7")
        await settled(pilot)
        assert "row 7" in transcript_of(app)
        assert " /ROW 7▏" in text_of(app.parts.transcript_bar)
        assert "1/1 hit " in text_of(app.parts.transcript_bar)
        await pilot.press("ctrl+u", *"graph", "enter")
        await settled(pilot)
        assert "1/30 hits" in text_of(app.parts.transcript_bar)
        assert "Paragraph 29" in transcript_of(app)
        # On from the newest is up.
        await pilot.press("n", "n")
        assert hit_of(app) == "Paragraph 27 about needles."
        assert "3/30 hits" in text_of(app.parts.transcript_bar)
        await pilot.press("N")
        assert hit_of(app) == "Paragraph 28 about needles."
        assert "2/30 hits" in text_of(app.parts.transcript_bar)
        # Past the newest it goes on with the oldest, and the other way round.
        await pilot.press("N", "N")
        assert hit_of(app) == "Paragraph 0 about needles."
        assert "30/30 hits" in text_of(app.parts.transcript_bar)
        await pilot.press("n")
        assert hit_of(app) == "Paragraph 29 about needles."
        assert "1/30 hits" in text_of(app.parts.transcript_bar)


async def test_hits_are_set_apart_and_forgotten_with_the_search() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, "go")
        await pilot.press("/", *"row 3", "enter")
        await settled(pilot)
        assert "row 3" in marked(app)
        await pilot.press("q")
        await settled(pilot)
        assert marked(app) == []


async def test_nothing_found_is_reported_and_moves_nothing() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, "go")
        before = transcript_of(app)
        await pilot.press("/", *"zebra", "enter", "n", "N")
        await settled(pilot)
        assert "nothing found" in text_of(app.parts.transcript_bar)
        assert transcript_of(app) == before


async def test_braces_go_from_prompt_to_prompt_and_letters_scroll() -> None:
    app = app_with(LONG, long("m2"))
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, "first question", "second question")
        await pilot.press("{")
        assert transcript_of(app).splitlines()[0].endswith("second question")
        await pilot.press("{")
        assert transcript_of(app).splitlines()[0].endswith("first question")
        await pilot.press("}")
        assert transcript_of(app).splitlines()[0].endswith("second question")
        await pilot.press("g")
        assert "first question" in transcript_of(app)
        await pilot.press("j")
        assert "first question" not in transcript_of(app)
        await pilot.press("G")
        assert "row 39" in transcript_of(app)


async def test_folding_is_switched_without_leaving() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 60)) as pilot:
        await read(pilot, "go")
        await pilot.press("ctrl+e")
        await settled(pilot)
        assert "row 20" not in transcript_of(app)
        assert "unfold" in text_of(app.parts.transcript_bar)
        await pilot.press("ctrl+e")
        await settled(pilot)
        assert "row 20" in transcript_of(app)


async def test_escape_and_ctrl_c_leave_the_reading_and_nothing_else() -> None:
    app = app_with([TextDelta(T, "m1", 0, "half"), until_interrupted])
    async with app.run_test(size=(70, 20)) as pilot:
        for key in ("escape", "ctrl+c"):
            await read(pilot, *(["go"] if key == "escape" else []))
            await pilot.press(key)
            await settled(pilot)
            assert app.parts.composer.display
            assert app.parts.document.activity.is_working


async def test_the_whole_text_goes_to_the_editor_in_logical_lines() -> None:
    seen: list[tuple[str, str]] = []

    def edit(text: str, name: str) -> str:
        seen.append((text, name))
        return text

    words = " ".join(f"word{n}" for n in range(40))
    app = make_app(RecordedConversation([[TextDelta(T, "m1", 0, words)]]), edit_text=edit)
    app.suspend = nullcontext  # type: ignore[method-assign, assignment]
    async with app.run_test(size=(50, 20)) as pilot:
        await read(pilot, "go")
        await pilot.press("v")
        assert seen == [(f"❯ go\n\n{words}", "transcript.md")]


def hit_of(app: AgentApp) -> str:
    place = app.parts.keyboard.reading.finder.current_hit
    assert place is not None
    return app.parts.transcript.viewport.row(place).text.strip()


def marked(app: AgentApp) -> list[str]:
    rows = app.parts.transcript._screen_rows(app.parts.transcript.size)
    return [
        text for _, row in rows for text, ink in row.runs if ink.ground is not None and text.strip()
    ]


async def test_the_hit_that_was_gone_to_stands_out_from_the_others() -> None:
    app = app_with(LONG)
    async with app.run_test(size=(70, 20)) as pilot:
        await read(pilot, "go")
        await pilot.press("/", *"needles", "enter", "n")
        assert current(app) == ["needles"]
        assert hit_of(app) == "Paragraph 28 about needles."
        assert marked(app).count("needles") >= 2
        await pilot.press("q")
        await settled(pilot)
        assert current(app) == []


def current(app: AgentApp) -> list[str]:
    rows = app.parts.transcript._screen_rows(app.parts.transcript.size)
    return [text for _, row in rows for text, ink in row.runs if ink.reverse]
