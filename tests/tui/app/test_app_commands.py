"""Commands and their menu, the mouse, and going back, on the running screen."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot

from agent.assembly.tool_setup import ended_shells
from agent.events import (
    PermissionRequested,
    PermissionResolved,
    TextDelta,
    ToolDispatch,
    ToolResult,
)
from agent.messages import Message, user_message
from permissions.decision import Behavior, DecisionSource, RuleRef
from tests.tui.app.test_app_keys import (
    T,
    keys,
    played,
    send,
    settled,
    text_of,
    transcript_of,
    until,
)
from tests.tui.recorded import RecordedConversation, center_for, make_app, until_interrupted
from tests.tui.transcript.samples import DENIED
from themes.registry import available_themes
from themes.theme import Role
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.text.styled_rows import plain


def pointer(kind: type[events.MouseEvent], x: int, y: int) -> events.MouseEvent:
    return kind(None, x, y, 0, 0, 1, False, False, False, x, y)


async def conversation_there(pilot: Pilot[ExitReport], app: AgentApp) -> None:
    """Wait until files are looked for where the conversation says."""
    while app.parts.conversations.commands is None:
        await pilot.pause()


async def test_the_menu_completes_a_command() -> None:
    app = make_app()
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.press("/", "s", "t")
        assert "❯ /status" in text_of(app.parts.menu)
        await pilot.press("tab")
        assert app.parts.composer.buffer.text == "/status "
        assert text_of(app.parts.menu) == ""
        await pilot.press("escape", "escape")
        assert app.parts.composer.buffer.is_empty


async def test_enter_runs_the_selected_command() -> None:
    app = make_app()
    async with app.run_test(size=(70, 30)) as pilot:
        await settled(pilot)
        await pilot.press("/", "s", "t", "enter")
        await settled(pilot)
        assert "session 0123-session" in transcript_of(app)


async def test_what_the_disk_refuses_ends_the_command_alone(tmp_path: Path) -> None:
    conversation = played()
    conversation.commands = center_for(conversation, tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await settled(pilot)
        app.parts.submission.submit("/add-dir " + "x" * 5000)
        await settled(pilot)
        assert app.is_running
        assert "/add-dir: File name too long" in transcript_of(app)


async def test_files_are_offered_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "slug.py").write_text("")
    conversation = played()
    conversation.launch_dir = tmp_path
    conversation.commands = center_for(conversation)
    app = make_app(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await conversation_there(pilot, app)
        await pilot.press("@", "s")
        await app.workers.wait_for_complete()
        assert "❯ @slug.py" in text_of(app.parts.menu)
        await pilot.press("enter")
        assert app.parts.composer.buffer.text == "@slug.py "


async def test_enter_sends_a_prompt_that_already_has_the_offered_directory(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "slug.py").write_text("")
    conversation = played()
    conversation.launch_dir = tmp_path
    conversation.commands = center_for(conversation)
    app = make_app(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await conversation_there(pilot, app)
        await pilot.press(*keys("look at @src/"))
        await app.workers.wait_for_complete()
        assert "@src/slug.py" in text_of(app.parts.menu)
        await pilot.press("enter")
        await settled(pilot)
        assert app.parts.composer.buffer.is_empty
        assert "look at @src/" in transcript_of(app)


async def test_compact_model_and_permissions() -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(pilot)
        await send(pilot, "/compact the tests")
        assert "compacted · 9k → 1k tokens" in transcript_of(app)
        for answer in ("escape", "y"):
            await send(pilot, "/model small")
            await settled(pilot)
            assert "The endpoint does not list small." in text_of(app.parts.dialogs)
            assert conversation.model == "claude-sonnet-5"
            app.parts.dialogs._guard._guarded_until_s = 0.0
            await pilot.press(answer)
            await settled(pilot)
        assert conversation.model == "small"
        assert "small" in text_of(app.parts.status_line)
        await send(pilot, "/model claude-opus-5")
        assert conversation.model == "claude-opus-5"
        await send(pilot, "/permissions")
        assert "no rules: writing files and running commands needs your approval" in text_of(
            app.parts.dialogs
        )


async def test_a_compaction_asked_for_meanwhile_comes_before_the_next_prompt() -> None:
    go_on = asyncio.Event()

    async def wait(_conversation: RecordedConversation) -> None:
        await go_on.wait()

    conversation = played([wait, TextDelta(T, "m1", 0, "First.")], [TextDelta(T, "m2", 0, "Next.")])
    app = make_app(conversation)
    async with app.run_test(size=(80, 40)) as pilot:
        await send(pilot, "go")
        await send(pilot, "/compact the tests")
        await send(pilot, "and then")
        assert "will be compacted after this turn" in transcript_of(app)
        go_on.set()
        await settled(pilot)
        shown = transcript_of(app)
        assert shown.index("First.") < shown.index("compacted · 9k → 1k tokens")
        assert shown.index("compacted · 9k") < shown.index("and then")
        assert not app.parts.runner.is_running


async def test_a_compaction_is_interrupted_with_the_prompt_it_waits_for() -> None:
    app = make_app(played([until_interrupted]))
    async with app.run_test(size=(80, 40)) as pilot:
        await send(pilot, "go")
        await send(pilot, "/compact")
        await pilot.press("escape")
        await settled(pilot)
        shown = transcript_of(app)
        assert "Compaction interrupted." in shown
        assert "compacted ·" not in shown
        assert not app.parts.runner.is_running
        await send(pilot, "/compact")
        await settled(pilot)
        assert "compacted ·" in transcript_of(app)


def with_history() -> RecordedConversation:
    conversation = played()
    answer = Message("assistant", ({"type": "text", "text": "Did that."},), "model")
    conversation.messages = (user_message("first"), answer, user_message("second"), answer)
    return conversation


async def test_escape_twice_goes_back_to_an_earlier_message() -> None:
    app = make_app(with_history())
    async with app.run_test(size=(70, 30)) as pilot:
        await settled(pilot)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "❯ second" in text_of(app.parts.dialogs))
        app.parts.dialogs._guard._guarded_until_s = 0.0
        await pilot.press("enter")
        await until(pilot, lambda: "❯ Restore conversation" in text_of(app.parts.dialogs))
        await pilot.press("enter")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "second"
        assert "second" not in transcript_of(app)
        assert "first" in transcript_of(app)


async def test_the_menu_says_how_much_more_there_is() -> None:
    app = make_app()
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.press("/")
        total = (
            len(app.parts.menu.completion.candidates)
            if app.parts.menu.completion is not None
            else 0
        )
        assert total > 40
        rows = text_of(app.parts.menu).splitlines()
        assert rows[-1].endswith(f" 1/{total} ↕")
        assert all("↕" not in line for line in rows[:-1])
        await pilot.press("up")
        assert text_of(app.parts.menu).splitlines()[-1].endswith(f" {total}/{total} ↕")
        await pilot.press("s", "t", "a", "t", "u", "s", "l")
        assert "↕" not in text_of(app.parts.menu)


async def test_another_session_waits_for_the_turn_and_says_which_key_ends_it() -> None:
    conversation = played([TextDelta(T, "m1", 0, "half"), until_interrupted])
    app = make_app(conversation)

    async def release(session_id: str | None, *, team: str | None = None) -> None:
        raise AssertionError("a turn is running")

    app.parts.conversations._release = release
    async with app.run_test(size=(90, 24)) as pilot:
        await send(pilot, "go")
        await app.parts.session.restart(None)
        await pilot.pause()
        said = "A turn is still running. Press esc to interrupt it, then try again."
        assert await app.parts.conversations.change("other") == said
        assert app.parts.conversations.current is conversation
        await pilot.press("escape")
        await settled(pilot)


async def drag(app: AgentApp, start: tuple[int, int], end: tuple[int, int]) -> None:
    for kind, (x, y) in (
        (events.MouseDown, start),
        (events.MouseMove, end),
        (events.MouseUp, end),
    ):
        await app.on_event(pointer(kind, x, y))


async def test_marking_copies_logical_lines_without_gutters_and_wraps() -> None:
    text = "one two three four five six seven eight\n\n- item 漢字\n"
    app = make_app(played([TextDelta(T, "m1", 0, text)]))
    async with app.run_test(size=(30, 24)) as pilot:
        await send(pilot, "go")
        await until(pilot, lambda: "漢字" in transcript_of(app))
        rows = [line.text for _, line in app.parts.transcript.viewport.visible()]
        top = next(y for y, line in enumerate(rows) if "one two" in line)
        await drag(app, (3, top), (29, top + 3))
        assert app.clipboard == "one two three four five six seven eight\n\n• item 漢字"
        await drag(app, (7, top), (10, top))
        assert app.clipboard == "two"
        await pilot.press("escape")
        assert app.parts.transcript.marked_text == ""


async def test_the_wheel_scrolls_the_transcript() -> None:
    text = "\n\n".join(f"Paragraph {n}." for n in range(30))
    app = make_app(played([TextDelta(T, "m1", 0, text)]))
    async with app.run_test(size=(50, 20)) as pilot:
        await send(pilot, "go")
        await app.on_event(pointer(events.MouseScrollUp, 5, 5))
        assert not app.parts.transcript.viewport.is_following
        for _ in range(3):
            await app.on_event(pointer(events.MouseScrollDown, 5, 5))
        assert app.parts.transcript.viewport.is_following


async def test_a_click_puts_the_cursor() -> None:
    app = make_app()
    async with app.run_test(size=(50, 20)) as pilot:
        await pilot.press(*keys("hello"))
        region = app.parts.composer.content_region
        await app.on_event(pointer(events.MouseDown, region.x + 3 + 2, region.y + 1))
        await pilot.press("X")
        assert app.parts.composer.buffer.text == "heXllo"


async def test_the_terminal_cursor_is_at_the_caret() -> None:
    app = make_app()
    async with app.run_test(size=(50, 20)) as pilot:
        await pilot.press(*keys("a漢"))
        await pilot.pause()
        region = app.parts.composer.content_region
        assert app.cursor_position == (region.x + 3 + 3, region.y + 1)
        assert app.shows_caret


async def test_the_caret_moves_with_the_prompt_that_a_menu_pushes_up() -> None:
    app = make_app()
    async with app.run_test(size=(50, 20)) as pilot:
        await settled(pilot)
        before = app.parts.composer.content_region
        await pilot.press("slash")
        await settled(pilot)
        region = app.parts.composer.content_region
        assert region.y < before.y
        assert app.cursor_position == (region.x + 3 + 1, region.y + 1)


async def test_notices_of_the_start_are_shown() -> None:
    app = make_app(notices=("settings.json: unknown key",))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        assert "! settings.json: unknown key" in transcript_of(app)


async def test_a_half_typed_prompt_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine it would be kept before this test has looked.
    monkeypatch.setattr("tui.prompt.draft_autosave.DRAFT_S", 60.0)
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        await pilot.press(*keys("half"))
        app.parts.drafts.settle()
        assert conversation.draft == "half"


@pytest.mark.parametrize("word", ["exit", "quit", ":q"])
async def test_a_word_that_leaves_other_programs_leaves(word: str) -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        await send(pilot, f" {word}")
        await send(pilot, f"how do I {word}")
        assert conversation.received == [f" {word}", f"how do I {word}"]
        before = app.is_running
        await send(pilot, word)
        assert (before, app.is_running) == (True, False)
    assert len(conversation.received) == 2


async def test_the_command_that_ends_a_session_is_no_draft_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.prompt.draft_autosave.DRAFT_S", 60.0)
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        await pilot.press(*keys("/exit"))
        app.parts.drafts.save()  # as it would be, had they typed slowly
        assert conversation.draft == "/exit"
        await pilot.press("enter")
        await settled(pilot)
    assert conversation.draft == ""


async def test_it_says_who_decided_when_it_was_not_the_user() -> None:
    by_hook = replace(DENIED, source=DecisionSource.HOOK, message="policy", feedback=None)
    app = make_app(
        played(
            [
                ToolDispatch(T, "u1", "Bash", {}, "Bash ls"),
                PermissionRequested(T, "r1", "u1", "Bash", {}, DENIED),
                PermissionResolved(T, "r1", "u1", by_hook),
            ]
        )
    )
    async with app.run_test(size=(80, 20)) as pilot:
        await send(pilot, "go")
        assert "denied by a hook: policy" in text_of(app.parts.status_line)


async def test_the_place_of_a_rule_that_decided_meanwhile_is_short() -> None:
    directory = "/home/me/project"
    file = f"{directory}/.agent/settings.local.json"
    message = f"the deny rule Bash(ls *) applies (local settings, {file}:3)"
    rule = RuleRef("Bash(ls *)", "localSettings", file, 3)
    by_rule = replace(
        DENIED, source=DecisionSource.LOCAL, message=message, rule=rule, feedback=None
    )
    conversation = played(
        [
            ToolDispatch(T, "u1", "Bash", {}, "Bash ls"),
            PermissionRequested(T, "r1", "u1", "Bash", {}, DENIED),
            PermissionResolved(T, "r1", "u1", by_rule),
        ]
    )
    conversation.cwd = Path(directory)
    app = make_app(conversation)
    async with app.run_test(size=(160, 20)) as pilot:
        await send(pilot, "go")
        shown = text_of(app.parts.status_line)
        assert directory not in shown
        assert ".agent/settings.local.json:3" in shown


@pytest.mark.parametrize(("stood_s", "said"), [(0.01, False), (1.0, True)])
async def test_a_table_that_decided_is_not_named(stood_s: float, said: bool) -> None:
    now = [0.0]

    async def wait(_conversation: RecordedConversation) -> None:
        while not app.parts.document.is_asking("u1"):  # noqa: ASYNC110 - until the frame has folded it
            await asyncio.sleep(0)
        now[0] += stood_s

    by_table = replace(
        DENIED,
        behavior=Behavior.ALLOW,
        source=DecisionSource.CLASSIFIER,
        message="only reads",
        feedback=None,
    )
    app = make_app(
        played(
            [
                ToolDispatch(T, "u1", "Bash", {}, "Bash ls"),
                PermissionRequested(T, "r1", "u1", "Bash", {}, DENIED),
                wait,
                PermissionResolved(T, "r1", "u1", by_table),
            ]
        ),
        clock=lambda: now[0],
    )
    async with app.run_test(size=(80, 20)) as pilot:
        await send(pilot, "go")
        assert ("allowed without asking: only reads" in text_of(app.parts.status_line)) is said


def with_shell(conversation: RecordedConversation, directory: Path) -> AgentApp:
    conversation.cwd = directory
    return make_app(conversation, shell_env={"PATH": os.environ["PATH"]})


async def test_a_shell_command_runs_at_once_and_the_model_is_informed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    conversation = played([TextDelta(T, "m1", 0, "I see a file.")])
    app = with_shell(conversation, tmp_path)
    async with app.run_test(size=(60, 24)) as pilot:
        await send(pilot, "!ls; exit 3")
        await app.workers.wait_for_complete()
        await settled(pilot)
        shown = transcript_of(app)
        assert " ! ls; exit 3" in shown
        assert "a.txt" in shown
        assert "I see a file." in shown
        assert conversation.received == [
            "<bash-input>ls; exit 3</bash-input>\n"
            "<bash-output>a.txt\n</bash-output><bash-exit>3</bash-exit>"
        ]


async def test_escape_ends_a_shell_command_and_the_model_is_informed_later(tmp_path: Path) -> None:
    conversation = played([])
    app = with_shell(conversation, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "!echo started; sleep 60")
        while "started" not in transcript_of(app):
            await pilot.pause(0.02)
        await pilot.press("escape")
        await app.workers.wait_for_complete()
        await settled(pilot)
        assert "Interrupted" in transcript_of(app)
        assert conversation.received == []
        assert "started" in conversation.told[0]
        assert "[The user ended it.]" in conversation.told[0]
        assert not app.parts.document.activity.is_working


async def test_a_shell_command_continues_in_the_background(tmp_path: Path) -> None:
    conversation = played([])
    assert conversation.commands is not None
    shells = conversation.commands.context.shells
    conversation.send_to_background = shells.send_to_background  # type: ignore[method-assign]
    app = with_shell(conversation, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "!echo started; sleep 60")
        while "started" not in transcript_of(app):
            await pilot.pause(0.02)
        await pilot.press("ctrl+b")
        await app.workers.wait_for_complete()
        await settled(pilot)
        (shell,) = shells.all()
        assert shell.is_running
        assert f"moved to the background ({shell.id})" in transcript_of(app)
        assert f"[It continues in the background as {shell.id}.]" in conversation.told[0]
        assert not app.parts.document.activity.is_working
        await pilot.press("ctrl+d")
        assert "press ctrl+d again to quit; 1 command ends" in text_of(app.parts.status_line)
        await shells.kill_all()


async def test_the_end_of_a_background_command_is_reported_at_once(tmp_path: Path) -> None:
    conversation = played([])
    assert conversation.commands is not None
    shells = conversation.commands.context.shells
    app = make_app(conversation, agent_home=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shells.on_change is not None)
        shell = await shells.start("exit 3", cwd=tmp_path, env={}, results_dir=tmp_path)
        shells.to_background(shell)
        await until(pilot, lambda: "finished (exit 3): exit 3" in transcript_of(app))
        # The model gets it with its next request; the user reads it only once.
        (report,) = ended_shells(shells)()
        assert report.line == ""
        assert "exit code 3" in report.text


async def test_a_command_that_runs_is_kept_as_a_draft_until_it_ends(tmp_path: Path) -> None:
    conversation = played([])
    app = with_shell(conversation, tmp_path)

    async def until_kept(text: str) -> None:
        while conversation.draft != text:
            await pilot.pause(0.02)

    async with app.run_test(size=(60, 24)) as pilot:
        await send(pilot, "!echo started; sleep 60")
        await until_kept("!echo started; sleep 60")
        await pilot.press("n", "e", "w")
        await until_kept("new")
        await pilot.press("ctrl+u")
        await until_kept("!echo started; sleep 60")
        app.parts.bang_commands.kill_latest()
        await until_kept("")


async def test_cd_is_remembered_where_it_may_lead(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    conversation = played([], [], [])
    app = with_shell(conversation, tmp_path)

    def move_to(directory: Path) -> bool:
        is_inside = directory.is_relative_to(tmp_path)
        conversation.cwd = directory if is_inside else conversation.cwd
        return is_inside

    conversation.move_to = move_to  # type: ignore[method-assign]
    async with app.run_test(size=(90, 24)) as pilot:
        await send(pilot, "!cd inside")
        await app.workers.wait_for_complete()
        assert conversation.cwd == tmp_path / "inside"
        await send(pilot, "!pwd; cd /")
        await app.workers.wait_for_complete()
        await settled(pilot)
        assert conversation.cwd == tmp_path / "inside"
        assert "/ is outside the working directories" in " ".join(transcript_of(app).split())
        assert f"{tmp_path}/inside\n" in conversation.received[1]
        assert "/ is outside.]" in conversation.received[1]


async def test_a_lone_exclamation_mark_sends_nothing() -> None:
    conversation = played([])
    async with make_app(conversation).run_test(size=(60, 24)) as pilot:
        await send(pilot, "!")
        await send(pilot, "! ")
        assert conversation.received == []


async def test_the_shells_mode_says_what_it_is_and_escape_leaves_it() -> None:
    app = make_app(played([]))
    app.parts.history.extend_older(["!make test", "hello"])
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press(*"!ls")
        await settled(pilot)
        assert "runs at once, the model sees the output" in text_of(app.parts.composer)
        assert "esc cancel" in text_of(app.parts.composer)
        await pilot.press("escape")
        assert app.parts.composer.buffer.text == "ls"
        assert "runs at once" not in text_of(app.parts.composer)
        await pilot.press("ctrl+u", "!", "tab")
        await settled(pilot)
        assert "make test" in text_of(app.parts.menu)
        await pilot.press("tab")
        assert app.parts.composer.buffer.text == "!make test"


@pytest.mark.parametrize("theme", available_themes())
async def test_the_screen_runs_in_every_theme(theme: str) -> None:
    app = make_app(played([TextDelta(T, "m1", 0, "Hello.")]), theme=theme)
    async with app.run_test(size=(60, 16)) as pilot:
        await send(pilot, "hi")
        assert "Hello." in transcript_of(app)
        await send(pilot, "/theme ansi16")
        assert app.parts.appearance.theme.name == "ansi16"


async def test_focus_shows_one_line_of_each_call_and_more_again() -> None:
    output = ToolResult(T, "u1", "Bash", "one\ntwo", False, 0.1, "ok", "Bash ls")
    app = make_app(played([ToolDispatch(T, "u1", "Bash", {}, "Bash ls"), output]))
    async with app.run_test(size=(70, 30)) as pilot:
        await send(pilot, "go")
        before = transcript_of(app)
        await send(pilot, "/focus")
        assert len(transcript_of(app)) < len(before)
        await send(pilot, "/focus")
        assert transcript_of(app) == before


async def test_the_prompt_is_colored_for_the_session() -> None:
    app = make_app()
    async with app.run_test(size=(70, 30)) as pilot:
        await send(pilot, "/color pink")
        assert app.parts.composer._mode_role is Role.SHELL
        await send(pilot, "/color mauve")
        assert "No color 'mauve'" in transcript_of(app)


async def test_marked_text_gives_way_to_what_comes() -> None:
    app = make_app()
    async with app.run_test(size=(60, 20)) as pilot:
        composer = app.parts.composer
        await pilot.press(*keys("one two"), *["shift+left"] * 3)
        assert composer.marked_text == "two"
        await pilot.press("backspace")
        assert composer.buffer.text == "one "
        await pilot.press("shift+home", "ctrl+w", *keys("zero "), "ctrl+y")
        assert composer.buffer.text == "zero one "
        await pilot.press("ctrl+j", *keys("more"), "shift+up", "X")
        assert composer.buffer.text == "zeroX"
        await pilot.press("ctrl+underscore")
        assert composer.buffer.text == "zero one \nmore"
        await pilot.press("shift+home", "left", *keys("<"))
        assert composer.buffer.text == "<zero one \nmore"
        assert composer.marked_text == ""


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+shift+c"])
async def test_marked_text_of_the_prompt_is_copied(key: str) -> None:
    app = make_app()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys("one two"), "shift+left", key)
        await settled(pilot)
        assert app.clipboard == "o"
        assert app.parts.composer.buffer.text == "one two"
        assert "copied" in text_of(app.parts.status_line)


async def test_the_pointer_marks_text_of_the_prompt() -> None:
    app = make_app()
    async with app.run_test(size=(50, 20)) as pilot:
        await pilot.press(*keys("hello"))
        region = app.parts.composer.content_region
        x, y = region.x + 3, region.y + 1
        await app.on_event(pointer(events.MouseDown, x + 1, y))
        await app.on_event(pointer(events.MouseMove, x + 3, y))
        await app.on_event(pointer(events.MouseUp, x + 3, y))
        await app.on_event(pointer(events.MouseMove, x + 5, y))
        assert app.parts.composer.marked_text == "el"
        await pilot.press("X")
        assert app.parts.composer.buffer.text == "hXlo"


async def test_a_double_click_selects_a_word_and_a_triple_click_a_line() -> None:
    app = make_app(played([TextDelta(T, "m1", 0, "one two " * 10 + "three")]))
    async with app.run_test(size=(50, 20)) as pilot:
        await send(pilot, "go")
        await pilot.press(*keys("see tests/a.py: now"), "ctrl+j", *keys("or later"))
        region = app.parts.composer.content_region
        in_prompt = (region.x + 3 + 6, region.y + 1)
        row = next(y for y in range(20) if "three" in shown_row(app, y))
        marked: list[str] = []
        for x, y in (in_prompt, (4, row)):
            for _ in range(3):
                await app.on_event(pointer(events.MouseDown, x, y))
                await app.on_event(pointer(events.MouseMove, x, y))
                await app.on_event(pointer(events.MouseUp, x, y))
                marked += [app.parts.composer.marked_text, app.parts.transcript.marked_text]
        line = "see tests/a.py: now"
        assert marked[:6] == ["", "", "tests/a.py:", "", line, ""]
        whole = ("one two " * 10 + "three").strip()
        assert marked[7::2] == ["", "two", whole]
        await pilot.press("X")
        assert app.parts.composer.buffer.text == "X\nor later"


async def test_a_button_let_go_elsewhere_ends_the_marking() -> None:
    app = make_app(played([TextDelta(T, "m1", 0, "one two three")]))
    async with app.run_test(size=(50, 20)) as pilot:
        await send(pilot, "go")
        await pilot.press(*keys("hello"))
        region = app.parts.composer.content_region
        x, y = region.x + 3, region.y + 1
        row = next(y for y in range(20) if "one two" in shown_row(app, y))
        for at_x, at_y, end_x in ((x, y, x + 2), (3, row, 6)):
            await app.on_event(pointer(events.MouseDown, at_x, at_y))
            await app.on_event(pointer(events.MouseMove, end_x, at_y))
            # No button is down any more, and nobody said when it went up.
            moved = events.MouseMove(
                None, end_x + 3, at_y, 0, 0, 0, False, False, False, end_x + 3, at_y
            )
            await app.on_event(moved)
            await app.on_event(pointer(events.MouseMove, end_x + 3, at_y))
        assert app.parts.composer.marked_text == "he"
        assert app.parts.transcript.marked_text == "one"
        assert app.mouse_captured is None


async def test_shift_and_the_arrows_continue_with_a_mark_of_the_transcript() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(30))
    app = make_app(played([TextDelta(T, "m1", 0, text)]))
    async with app.run_test(size=(50, 20)) as pilot:
        await send(pilot, "go")
        row = next(y for y in range(20) if "paragraph 25" in shown_row(app, y))
        await app.on_event(pointer(events.MouseDown, 3, row))
        await app.on_event(pointer(events.MouseMove, 6, row))
        await app.on_event(pointer(events.MouseUp, 6, row))
        assert app.parts.transcript.marked_text == "par"
        await pilot.press("shift+right", "shift+right", "shift+left")
        assert app.parts.transcript.marked_text == "para"
        await pilot.press("shift+end")
        assert app.parts.transcript.marked_text == "paragraph 25"
        await pilot.press("shift+down", "shift+down")
        assert app.parts.transcript.marked_text == "paragraph 25\n\nparagraph 26"
        await pilot.press(*["shift+up"] * 40)
        assert "paragraph 10" in app.parts.transcript.marked_text
        assert app.parts.composer.marked_text == ""
        await pilot.press("ctrl+shift+c")
        assert "paragraph 10" in app.clipboard


def shown_row(app: AgentApp, y: int) -> str:
    rows = app.parts.transcript.viewport.visible()
    return rows[y][1].text if y < len(rows) else ""


async def test_escape_ends_what_runs_before_it_leaves_the_shells_mode() -> None:
    app = make_app(played([until_interrupted]))
    async with app.run_test(size=(90, 24)) as pilot:
        await send(pilot, "go")
        await pilot.press(*"!ls")
        await settled(pilot)
        assert "esc cancel" not in text_of(app.parts.composer)
        await pilot.press("escape")
        await settled(pilot)
        assert not app.parts.document.activity.is_working
        assert app.parts.composer.buffer.text == "!ls"


async def test_the_directory_of_a_demo_is_shown_once_it_is_there() -> None:
    app = make_app(played([]), awaits_demo=True)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        header = app.parts.transcript
        app.parts.workspace.show_header()
        assert "slugs" not in plain(header._header)
        assert "Try: The total" in plain(header._header)
        app.parts.workspace.use_directory(Path("/tmp/copy"))
        assert "/tmp/copy" in plain(header._header)
