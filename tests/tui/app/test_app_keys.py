"""The screen driven as a user does: keys in, messages and rows out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual import events
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.timer import Timer

from agent.display import TodoDisplay, TodoItem
from agent.events import RetryScheduled, TextDelta, ToolDispatch, ToolResult
from agent.messages import user_message
from agent.user_prompt import Prompt
from permissions.mode import Mode
from tests.tui.recorded import (
    RecordedConversation,
    Step,
    make_app,
    until_interrupted,
)
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.widgets.rows_widget import RowsWidget

T = "t1"


def text_of(widget: RowsWidget) -> str:
    return "\n".join(line.text.rstrip() for line in widget.make_rows(widget.size.width))


def transcript_of(app: AgentApp) -> str:
    rows = app.parts.transcript.viewport.visible()
    return "\n".join(line.text.rstrip() for _, line in rows)


async def settled(pilot: Pilot[ExitReport]) -> None:
    """Wait until every event taken so far is on the screen."""
    app = pilot.app
    assert isinstance(app, AgentApp)
    await pilot.pause()
    app.parts.bridge.flush()
    await pilot.pause()


async def until(pilot: Pilot[ExitReport], is_reached: Callable[[], bool]) -> None:
    """Let messages pass until a condition holds, however long the machine takes."""
    await settled(pilot)
    while not is_reached():
        await pilot.pause(0.01)
        await settled(pilot)


async def send(pilot: Pilot[ExitReport], text: str) -> None:
    await pilot.press(*keys(text), "enter")
    await settled(pilot)


def keys(text: str) -> Iterable[str]:
    return [" " if char == " " else char for char in text]


def played(*scripts: list[Step]) -> RecordedConversation:
    return RecordedConversation([*scripts])


async def test_a_prompt_is_sent_and_the_answer_appears() -> None:
    conversation = played([TextDelta(T, "m1", 0, "Hello **there**.")])
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "hi you")
        assert conversation.received == ["hi you"]
        assert " ❯ hi you" in transcript_of(app)
        assert "   Hello there." in transcript_of(app)
        assert app.parts.composer.buffer.is_empty


async def test_keys_typed_before_the_conversation_exists_are_kept() -> None:
    conversation = played([])
    ready = asyncio.Event()
    app = make_app(conversation)
    make = app.parts.conversations.make

    async def slow(ports: object) -> RecordedConversation:
        await ready.wait()
        return await make(ports)  # type: ignore[arg-type, return-value]

    app.parts.conversations.make = slow
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "early")
        await pilot.press(*keys("next"))
        assert conversation.received == []
        assert "› early" in text_of(app.parts.activity)
        ready.set()
        await settled(pilot)
        assert conversation.received == ["early"]
        assert app.parts.composer.buffer.text == "next"


async def test_a_mode_chosen_before_the_conversation_exists_counts() -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(80, 20)) as pilot:
        app.parts.keys.perform("chat:cycleMode")
        await settled(pilot)
        app.parts.keys.perform("chat:cycleMode")
        assert conversation.mode is Mode.PLAN


async def test_a_failing_start_ends_the_program_with_the_reason() -> None:
    app = make_app()

    async def fail(_ports: object) -> RecordedConversation:
        raise ValueError("settings.json, line 3: expected a comma")

    app.parts.conversations.make = fail
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.return_value == ExitReport(None, "", "settings.json, line 3: expected a comma")


async def test_escape_interrupts_and_keeps_what_came() -> None:
    conversation = played([TextDelta(T, "m1", 0, "half an ans"), until_interrupted])
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "go")
        assert "esc to interrupt" in text_of(app.parts.activity)
        await pilot.press("escape")
        await settled(pilot)
        assert "half an ans" in transcript_of(app)
        assert "■ Interrupted" in transcript_of(app)
        assert text_of(app.parts.activity) == ""


async def test_prompts_sent_while_it_works_wait_and_can_be_taken_back() -> None:
    conversation = played([until_interrupted])
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "first")
        await send(pilot, "second")
        await send(pilot, "third")
        assert conversation.received == ["first"]
        assert "› second" in text_of(app.parts.activity)
        await pilot.press("up")
        assert app.parts.composer.buffer.text == "second\nthird"
        assert conversation.queued == ()
        await send(pilot, "")
        await pilot.press(*"draft", "up")
        assert app.parts.composer.buffer.text == "second\nthird\ndraft"
        assert app.parts.composer.buffer.cursor == len("second\nthird\ndraft")
        assert conversation.queued == ()


async def test_a_waiting_prompt_runs_when_the_first_is_done() -> None:
    conversation = played([until_interrupted], [TextDelta(T, "m2", 0, "second answer")])
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "first")
        await send(pilot, "second")
        await pilot.press("escape")
        await settled(pilot)
        assert conversation.received == ["first", "second"]
        shown = transcript_of(app)
        assert "second answer" in shown
        assert shown.count("❯ second") == 1
        assert shown.index("■ Interrupted") < shown.index("❯ second")


async def test_shift_tab_cycles_the_modes_and_shows_it() -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        for mode, label in (
            (Mode.ACCEPT_EDITS, "⏵⏵ accept edits on"),
            (Mode.PLAN, "⏸ plan mode on"),
            (Mode.DEFAULT, "⏸ default mode"),
        ):
            await pilot.press("shift+tab")
            assert conversation.mode is mode
            assert label in text_of(app.parts.status_line)


async def test_ctrl_c_clears_then_leaves() -> None:
    app = make_app()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*keys("draft"), "ctrl+c")
        assert app.parts.composer.buffer.is_empty
        assert "press ctrl+c again to quit" in text_of(app.parts.status_line)
        await pilot.press("up")
        assert app.parts.composer.buffer.text == "draft"
        await pilot.press("ctrl+c", "ctrl+c")
    assert app.return_value == ExitReport("0123-session", "")


async def test_ctrl_q_does_not_leave() -> None:
    app = make_app()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*keys("draft"), "ctrl+q", "s")
        assert app.parts.composer.buffer.text == "drafts"
        assert app.is_running


async def test_typing_takes_back_the_first_ctrl_c() -> None:
    app = make_app()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*keys("abc"), "ctrl+c", *keys("new draft"))
        assert "again to quit" not in text_of(app.parts.status_line)
        await pilot.press("ctrl+c")
        assert app.is_running
        assert app.parts.composer.buffer.is_empty
        await pilot.press("up")
        assert app.parts.composer.buffer.text == "new draft"


async def test_ctrl_c_interrupts_first() -> None:
    app = make_app(played([until_interrupted]))
    async with app.run_test(size=(80, 20)) as pilot:
        await send(pilot, "go")
        await pilot.press("ctrl+c")
        await settled(pilot)
        assert "■ Interrupted" in transcript_of(app)
        assert app.is_running


async def test_ctrl_d_deletes_then_leaves() -> None:
    app = make_app()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("a", "b", "left", "ctrl+d")
        assert app.parts.composer.buffer.text == "a"
        await pilot.press("backspace", "ctrl+d")
        assert "press ctrl+d again" in text_of(app.parts.status_line)
        await pilot.press("ctrl+d")
    assert app.return_value is not None


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_newline_keys(key: str) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        assert app.parts.composer.buffer.text == "a\nb"


async def test_backslash_enter_is_a_newline() -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("a", "\\", "enter", "b")
        assert app.parts.composer.buffer.text == "a\nb"


async def test_up_and_down_walk_through_rows_then_history() -> None:
    conversation = played([], [])
    app = make_app(conversation)
    async with app.run_test() as pilot:
        await send(pilot, "one")
        await send(pilot, "two")
        await pilot.press("x", "ctrl+j", "y", "up")
        assert app.parts.composer.buffer.cursor == 1
        await pilot.press("up")
        assert app.parts.composer.buffer.text == "two"
        await pilot.press("up")
        assert app.parts.composer.buffer.text == "one"
        await pilot.press("down", "down")
        assert app.parts.composer.buffer.text == "x\ny"


async def test_ctrl_r_finds_an_earlier_prompt() -> None:
    app = make_app(played([], []))
    async with app.run_test() as pilot:
        await send(pilot, "fix slug")
        await send(pilot, "run tests")
        await pilot.press("ctrl+r", *keys("slu"))
        assert app.parts.composer.buffer.text == "fix slug"
        assert "search history in this project: slu" in text_of(app.parts.composer)
        await pilot.press("tab", "!")
        assert app.parts.composer.buffer.text == "fix slug!"


async def test_a_cancelled_search_leaves_the_draft_as_it_was() -> None:
    app = make_app(played([], []))
    async with app.run_test() as pilot:
        await send(pilot, "fix slug")
        await pilot.press(*keys("my draft"), "ctrl+r", *keys("slu"))
        assert app.parts.composer.buffer.text == "fix slug"
        await pilot.press(*keys("zzz"))
        assert app.parts.composer.buffer.text == "my draft"
        await pilot.press("backspace", "backspace", "backspace", "ctrl+c")
        assert app.parts.composer.buffer.text == "my draft"
        assert "search" not in text_of(app.parts.composer)


async def test_earlier_commands_are_offered_behind_the_exclamation_mark() -> None:
    app = make_app(played([], []))
    async with app.run_test(size=(60, 20)) as pilot:
        app.parts.history.extend_older(["!make test", "look", "!git status", "!make all"])
        await pilot.press("!", "m", "a")
        assert text_of(app.parts.menu) == "   !make test\n   !make all"
        await pilot.press("tab")
        assert app.parts.composer.buffer.text == "!make test"
        await pilot.press("ctrl+u", "!", "a", "l", "l", "down")
        assert " ❯ !make all" in text_of(app.parts.menu)
        await pilot.press("tab")
        assert app.parts.composer.buffer.text == "!make all"


async def test_a_command_that_is_typed_runs_as_typed_whatever_is_offered() -> None:
    app = make_app(played([], []))
    async with app.run_test(size=(60, 20)) as pilot:
        app.parts.history.extend_older(["!true yes"])
        await pilot.press("!", *keys("true"))
        assert app.parts.menu.is_open
        await pilot.press("enter")
        await settled(pilot)
        assert app.parts.history.shell_commands()[0] == "true"


async def test_ctrl_s_stashes_and_restores() -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press(*keys("later"), "ctrl+s")
        assert app.parts.composer.buffer.is_empty
        await pilot.press("ctrl+s")
        assert app.parts.composer.buffer.text == "later"


async def test_ctrl_o_unfolds_and_folds() -> None:
    output = "\n".join(f"row {n}" for n in range(9))
    app = make_app(
        played(
            [
                ToolDispatch(T, "u1", "Bash", {}, "Bash seq"),
                ToolResult(T, "u1", "Bash", output, False, 0.1, "ok", "Bash seq"),
            ]
        )
    )
    async with app.run_test(size=(60, 30)) as pilot:
        await send(pilot, "go")
        assert "row 8" not in transcript_of(app)
        await pilot.press("ctrl+o")
        assert "row 8" in transcript_of(app)
        await pilot.press("ctrl+o")
        assert "row 8" not in transcript_of(app)


async def test_ctrl_t_shows_the_task_list() -> None:
    todos = TodoDisplay((TodoItem("Read", "completed"), TodoItem("Fix", "pending")))
    result = ToolResult(T, "u1", "TodoWrite", "", False, 0.1, "ok", "TodoWrite", todos)
    app = make_app(played([result]))
    async with app.run_test(size=(60, 30)) as pilot:
        await send(pilot, "go")
        await pilot.press("ctrl+t")
        assert text_of(app.parts.todo_panel) == "\n   ○ Fix\n   1 of 2 done"
        await pilot.press("ctrl+t")
        assert text_of(app.parts.todo_panel) == ""


async def test_ctrl_g_edits_the_prompt_elsewhere() -> None:
    app = make_app(edit_text=lambda text, _: text.upper() + "\n")
    async with app.run_test() as pilot:
        app.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await pilot.press(*keys("shout"), "ctrl+g")
        assert app.parts.composer.buffer.text == "SHOUT"


async def test_a_large_paste_is_a_chip_and_is_sent_whole() -> None:
    conversation = played([])
    app = make_app(conversation)
    text = "x" * 5_000_000
    async with app.run_test(size=(60, 20)) as pilot:
        app.post_message(events.Paste(text))
        await pilot.pause()
        assert "[Pasted text #1 5,000,000 characters]" in text_of(app.parts.composer)
        await pilot.press("enter")
        await settled(pilot)
        assert conversation.received == [text]


async def test_a_retry_counts_down() -> None:
    now = [100.0]
    app = make_app(
        played([RetryScheduled(T, 2, 10, 8.0, "overloaded"), until_interrupted]),
        clock=lambda: now[0],
    )
    async with app.run_test(size=(80, 20)) as pilot:
        await send(pilot, "go")
        assert "overloaded · retry 1 of 10 in 8 s · esc to stop" in text_of(app.parts.activity)
        now[0] = 103.0
        app.parts.lines.turn()
        assert "in 5 s" in text_of(app.parts.activity)
        await pilot.press("escape")
        await settled(pilot)


async def test_reading_further_up_is_not_disturbed() -> None:
    long = "\n\n".join(f"Paragraph {n}." for n in range(30))
    app = make_app(played([TextDelta(T, "m1", 0, long)], [TextDelta(T, "m2", 0, "More.")]))
    async with app.run_test(size=(60, 16)) as pilot:
        await send(pilot, "go")
        await pilot.press("pageup")
        before = transcript_of(app)
        app.parts.runner.submit(Prompt("again"))
        await settled(pilot)
        assert transcript_of(app) == before
        assert "2 new messages" in app.parts.transcript._painted_rows[-1][1].text
        await pilot.press("ctrl+end")
        assert "More." in transcript_of(app)


async def test_help_lists_keys_and_commands() -> None:
    app = make_app()
    async with app.run_test(size=(80, 140)) as pilot:
        await pilot.press(*"/help", "enter")
        await settled(pilot)
        assert "shift+tab" in text_of(app.parts.dialogs)
        assert "/theme" in text_of(app.parts.dialogs)
        app.parts.dialogs._guard._guarded_until_s = 0.0
        await pilot.press("escape")
        await settled(pilot)
        assert text_of(app.parts.dialogs) == ""
        await pilot.press("a", "?")
        assert app.parts.composer.buffer.text == "a?"


async def test_theme_changes_live() -> None:
    app = make_app()
    async with app.run_test(size=(80, 20)) as pilot:
        await send(pilot, "/theme light")
        assert app.palette.theme.name == "light"
        await send(pilot, "/theme nosuch")
        assert "There is no theme 'nosuch'" in transcript_of(app)


async def test_an_unknown_command_is_a_prompt() -> None:
    conversation = played([])
    app = make_app(conversation)
    async with app.run_test() as pilot:
        await send(pilot, "/etc/hosts is broken")
        assert conversation.received == ["/etc/hosts is broken"]


async def test_a_resumed_conversation_is_shown() -> None:
    conversation = played()
    conversation.messages = (user_message("what I said before"),)
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        assert "❯ what I said before" in transcript_of(app)


async def test_nothing_runs_while_idle() -> None:
    app = make_app(played([TextDelta(T, "m1", 0, "done")]))
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "go")
        assert not app.parts.bridge.clock.is_waiting
        pumps: list[MessagePump] = [app, app.screen, *app.screen.walk_children()]
        assert [timer.name for pump in pumps for timer in pump._timers if is_repeating(timer)] == []


def is_repeating(timer: Timer) -> bool:
    return timer.name.startswith("set_interval") and timer._active.is_set()


@pytest.mark.parametrize("size", [(20, 5), (1, 1), (200, 60), (40, 9)])
async def test_every_size_works_while_resizing(size: tuple[int, int]) -> None:
    app = make_app(played([TextDelta(T, "m1", 0, "# 漢字 " * 50), until_interrupted]))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await pilot.resize_terminal(*size)
        await pilot.press("a")
        await pilot.resize_terminal(80, 24)
        await pilot.press("b")
        assert app.parts.composer.buffer.text == "ab"
        await pilot.press("escape")
        await settled(pilot)


async def test_a_caret_that_moves_alone_makes_a_frame() -> None:
    app = make_app()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys("abc"))
        await pilot.pause()
        written: list[str] = []
        encode = app._encode

        def keep() -> str:
            written.append(encode())
            return written[-1]

        app._encode = keep  # type: ignore[method-assign]  # seen, not replaced
        await pilot.press("left")
        await pilot.pause()
        assert "".join(written) == "\b"


async def test_the_status_tells_what_the_output_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(played())
    monkeypatch.setattr(app.parts.workspace, "output_line", lambda: "output 12 B/s")
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(pilot)
        app.parts.submission.submit("/status")
        await app.workers.wait_for_complete()
        assert "output 12 B/s" in transcript_of(app)


async def test_a_search_says_how_many_it_found_and_goes_both_ways() -> None:
    app = make_app(played([]))
    app.parts.history.extend_older(["fix three", "other", "fix two", "fix one"])
    async with app.run_test(size=(90, 20)) as pilot:
        await pilot.press("ctrl+r", *"fix")
        await settled(pilot)
        assert "1 of 3" in text_of(app.parts.composer)
        shown = [app.parts.composer.buffer.text]
        for key in ("ctrl+r", "up", "up", "down"):
            await pilot.press(key)
            shown.append(app.parts.composer.buffer.text)
        assert shown == ["fix three", "fix two", "fix one", "fix three", "fix one"]
        assert "3 of 3" in text_of(app.parts.composer)
        await pilot.press(*"z")
        await settled(pilot)
        assert "nothing found" in text_of(app.parts.composer)
        await pilot.press("ctrl+c")
        assert app.parts.composer.buffer.is_empty


async def test_a_command_says_what_it_takes_once_its_name_is_typed() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"/rename")
        await pilot.press("escape", "space")
        await settled(pilot)
        assert "/rename [name]" in text_of(app.parts.composer)
        await pilot.press("x")
        await settled(pilot)
        assert "[name]" not in text_of(app.parts.composer)
        assert app.parts.composer.buffer.text == "/rename x"


async def test_a_backslash_before_the_cursor_makes_enter_a_line_break() -> None:
    conversation = played([])
    app = make_app(conversation)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"a", "backslash", *"b", "left", "enter")
        assert app.parts.composer.buffer.text == "a\nb"
        assert conversation.received == []


@pytest.mark.parametrize(
    ("env", "key"),
    [({}, "ctrl+b"), ({"TMUX": "/tmp/x"}, "ctrl+x ctrl+b"), ({"STY": "1.x"}, "ctrl+b")],
)
async def test_the_spinner_says_which_key_reaches_us(
    tmp_path: Path, env: dict[str, str], key: str
) -> None:
    conversation = played([])
    conversation.cwd = tmp_path
    app = make_app(conversation, env=env)
    assert conversation.commands is not None
    shells = conversation.commands.context.shells
    async with app.run_test(size=(80, 20)) as pilot:
        while app.parts.conversations.current is None:
            await pilot.pause(0.02)
        await send(pilot, "!sleep 600")
        while not shells.has_foreground:
            state = f"{app.parts.composer.buffer.text!r}, {transcript_of(app)}"
            assert not all(worker.is_finished for worker in app.workers), state
            await pilot.pause(0.02)
        app.parts.lines.show()
        await settled(pilot)
        assert f"esc to interrupt · {key} to background" in text_of(app.parts.activity)
        await pilot.press("escape")
        await app.workers.wait_for_complete()


async def test_a_chord_that_has_begun_says_how_it_may_continue() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(160, 20)) as pilot:
        await pilot.press("ctrl+x")
        await settled(pilot)
        shown = text_of(app.parts.status_line)
        assert "ctrl+x …" in shown
        assert "ctrl+k stop background" in shown
        assert "y copy answer" in shown
        await pilot.press("y")
        await settled(pilot)
        assert "no answer yet" in text_of(app.parts.status_line)


async def test_a_whole_chord_takes_back_what_its_beginning_said() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(160, 20)) as pilot:
        await pilot.press("ctrl+x")
        await settled(pilot)
        assert "ctrl+x …" in text_of(app.parts.status_line)
        await pilot.press("ctrl+x")
        await pilot.press("ctrl+v")
        await settled(pilot)
        assert "ctrl+x …" not in text_of(app.parts.status_line)


async def test_what_is_typed_into_a_window_without_the_focus_is_whole() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        await app.on_event(events.AppBlur())
        await settled(pilot)
        await pilot.press("r", "u", "n")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "run"
