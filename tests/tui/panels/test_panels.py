"""Panels: opened by their command, searched, moved in, answered and closed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from agent.events import TextDelta
from agent.settings.describe import WITHOUT_EFFECT, choices_of
from agent.settings.schema import SettingsFile
from permissions.rule import RuleSet, RuleSource, RuleText
from permissions.rules.grammar import RuleBehavior
from tests.tui.app.test_app_keys import played, send, settled, text_of, transcript_of, until
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.dialogs.dialog import DialogView
from tui.panels import PANELS
from tui.panels.list_panel import Item, ListPanel
from tui.panels.session_actions import HINT
from tui.panels.setting_names import GROUPS
from tui.text.styled_rows import plain


def app_of(pilot: Pilot[ExitReport]) -> AgentApp:
    assert isinstance(pilot.app, AgentApp)
    return pilot.app


async def opened(pilot: Pilot[ExitReport], command: str) -> str:
    """Open a panel, past the moment in which keys belong to earlier typing."""
    await send(pilot, command)
    app = app_of(pilot)
    await until(pilot, lambda: app.parts.dialogs.open_count > 0)
    app.parts.dialogs._guard._guarded_until_s = 0.0
    return text_of(app.parts.dialogs)


def shown(view: DialogView) -> str:
    return plain([*view.body, *(part.row for part in view.footer)])


OPENED = ("help", "context", "model", "theme", "permissions", "hooks", "tasks", "config", "memory")


@pytest.mark.parametrize("name", OPENED)
async def test_a_panel_opens_and_escape_closes_it(name: str) -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        assert await opened(pilot, f"/{name}")
        await pilot.press("escape")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        assert app.parts.composer.buffer.is_empty


def test_every_panel_of_a_command_exists() -> None:
    from importlib import import_module

    from agent.commands.table import BUILTIN_COMMANDS

    panels = {c.panel for c in BUILTIN_COMMANDS if c.type == "interactive"}
    # `/copy` opens its own only where there is something to choose, the others only on a screen.
    assert panels | {"agents", "copy", "context"} == set(PANELS)
    for module in PANELS.values():
        assert callable(import_module(module).open_panel)


async def test_letters_are_not_offered_as_keys_while_they_are_searched() -> None:
    hint = "enter edit · t try · ↑↓ select · / search · esc close"
    panel = ListPanel("L", [Item("apple")], keys=("t",), letters="keys", hint=hint)
    assert "enter edit · t try · ↑↓ select · / search · esc close" in shown(panel.view(90))
    panel.press("/", "/", None)
    assert "search: ▏ · enter edit · ↑↓ select · esc close" in shown(panel.view(90))


@pytest.mark.parametrize("query", ["", "slug"])
async def test_keys_that_one_row_has_no_room_for_are_in_a_second_row(query: str) -> None:
    panel = ListPanel("Resume", [Item("Fix the slugs")], hint=f"enter open · ctrl+a all · {HINT}")
    panel.paste(query)
    text = shown(panel.view(80))
    for key in HINT.split(" · "):
        assert key in text
    rows = text.splitlines()
    assert rows[-1].endswith("esc close · 1/1")
    assert max(map(len, rows)) < 80


async def test_a_list_is_searched_by_typing() -> None:
    panel = ListPanel("L", [Item("apple", "red"), Item("pear", "green"), Item("plum", "red")])
    for char in "red plu":
        panel.press(char, char, "confirm:yes" if char == "y" else None)
    assert panel.selected_item == 2
    assert "search: red plu" in shown(panel.view(60))
    panel.press("escape", "", "confirm:no")
    assert not panel.is_done
    panel.press("down", "", None)
    panel.press("enter", "", "confirm:yes")
    picked = await panel.wait()
    assert picked is not None
    assert (picked.index, picked.key) == (1, "enter")


async def test_letters_that_answer_elsewhere_are_letters_in_a_search() -> None:
    panel = ListPanel("L", [Item("yes"), Item("no")])
    panel.press("n", "n", "confirm:no")
    assert panel.selected_item == 1
    assert not panel.is_done


async def test_what_is_shown_cannot_draw(tmp_path: Path) -> None:
    panel = ListPanel("L", [Item("a\x1b[2Jb\nc", "d\u202ee")])
    text = shown(panel.view(60))
    assert "\x1b" not in text
    assert "\u202e" not in text


async def test_nothing_found_is_reported_and_enter_does_nothing() -> None:
    panel = ListPanel("L", [Item("a")])
    panel.press("z", "z", None)
    panel.press("enter", "", "confirm:yes")
    assert not panel.is_done
    assert "nothing found for 'z'" in shown(panel.view(60))


async def test_the_theme_is_shown_while_choosing_and_comes_back_on_escape() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        await opened(pilot, "/theme")
        await pilot.press("down")
        await settled(pilot)
        assert app.palette.theme.name != "dark"
        await pilot.press("escape")
        await settled(pilot)
        assert app.palette.theme.name == "dark"


async def test_model_and_effort_are_chosen_together() -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        assert "● claude-sonnet-5" in await opened(pilot, "/model")
        await pilot.press("down", "right", "right", "enter")
        await settled(pilot)
        assert conversation.model == "claude-opus-5-5"
        assert conversation.effort == "medium"
        assert "Model set to claude-opus-5-5, effort medium" in transcript_of(app)


async def test_a_rule_is_taken_back_from_the_session() -> None:
    conversation = played()
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        assert conversation.commands is not None
        gate = conversation.commands.context.gate
        text = RuleText("Bash(ls)", RuleBehavior.ALLOW, RuleSource.SESSION)
        gate.replace_context(gate.context.with_rules(RuleSet.build([text])[0]))
        assert "allow Bash(ls)" in await opened(pilot, "/permissions")
        await pilot.press("delete")
        await settled(pilot)
        assert gate.context.rules.rules == ()
        assert "allow Bash(ls) removed (session)" in transcript_of(app)


async def test_a_typing_mistake_is_asked_about_and_stays_in_the_prompt() -> None:
    conversation = played([])
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*"/modell", "escape", "enter")
        await settled(pilot)
        assert "Did you mean /model?" in transcript_of(app)
        assert app.parts.composer.buffer.text == "/modell"
        assert conversation.received == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("theme=nope", "There is no theme 'nope'"),
        ("maxTurns=abc", "maxTurns: expected a whole number"),
        ("themme=dark", "Did you mean 'theme'?"),
        ("theme", "Type /config key=value"),
    ],
)
async def test_a_setting_that_cannot_be_is_not_kept(typed: str, said: str) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(100, 30)) as pilot:
        while app.parts.conversations.commands is None:
            await settled(pilot)
        file = app.parts.conversations.commands.context.agent_home / "settings.json"
        app.parts.submission.submit(f"/config {typed}")
        await settled(pilot)
        assert said in transcript_of(app)
        assert not file.exists()


async def test_help_names_the_keys_that_are_in_force() -> None:
    app = make_app(RecordedConversation([]))
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        text = await opened(pilot, "/help")
        assert "At the start of a prompt" in text
        await pilot.press("pagedown", "pagedown", "pagedown")
        await settled(pilot)
        await pilot.press("q")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0


async def test_the_model_is_kept_unless_it_is_for_this_session_only(tmp_path: Path) -> None:
    for key, kept in (("enter", {"model": "claude-opus-5-5"}), ("s", None)):
        conversation = played()
        app = make_app(conversation)
        home = tmp_path / key
        async with app.run_test(size=(80, 30)) as pilot:
            await settled(pilot)
            app.parts.workspace.agent_home = home
            await opened(pilot, "/model")
            await settled(pilot)
            await pilot.press("j", key)
            await settled(pilot)
            assert conversation.model == "claude-opus-5-5"
            await app.workers.wait_for_complete()
        file = home / "settings.json"
        assert (json.loads(file.read_text()) if file.exists() else None) == kept


async def test_a_panel_whose_letters_are_keys_searches_behind_a_slash() -> None:
    panel = ListPanel("L", [Item("apple"), Item("sun")], keys=("s",), letters="keys")
    for char in "/su":
        panel.press(char, char, None)
    assert panel.selected_item == 1
    assert not panel.is_done
    panel.press("escape", "", "select:cancel")
    assert not panel.is_done
    panel.press("s", "s", None)
    picked = await panel.wait()
    assert picked is not None
    assert (picked.index, picked.key) == (0, "s")


async def test_names_that_begin_with_the_word_come_first() -> None:
    panel = ListPanel("L", [Item("b", "cost"), Item("x cost"), Item("/cost")])
    for char in "cost":
        panel.press(char, char, None)
    assert panel._matches == [2, 1, 0]


async def test_a_setting_that_no_one_set_says_what_counts(tmp_path: Path) -> None:
    conversation = played()
    conversation.commands = center_for(conversation, tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        await opened(pilot, "/config")
        await pilot.press(*"maxturns")
        assert "Turns per prompt  200" in text_of(app.parts.dialogs)
        await pilot.press("ctrl+u", *"verbose")
        assert "nothing found" in text_of(app.parts.dialogs)
        await pilot.press("escape", "escape")
        await settled(pilot)


async def test_a_setting_with_few_values_is_chosen_in_place(tmp_path: Path) -> None:
    conversation = played()
    conversation.commands = center_for(conversation, tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        await opened(pilot, "/config")
        await pilot.press(*"editormode", "enter")
        await settled(pilot)
        assert "❯ ● default  normal" in text_of(app.parts.dialogs)
        await pilot.press(*"vim", "enter")
        await settled(pilot)
        file = tmp_path / ".agent" / "settings.json"
        await until(pilot, file.exists)
        assert json.loads(file.read_text()) == {"editorMode": "vim"}


def test_settings_with_few_values_are_known() -> None:
    assert choices_of("reducedMotion") == (True, False, None)
    assert choices_of("editorMode") == ("normal", "vim", "emacs", None)
    assert choices_of("maxTurns") is None
    assert choices_of("env") is None


def test_every_setting_that_has_an_effect_is_named() -> None:
    named = [key for names in GROUPS.values() for key in names]
    administrators = {
        "allowManagedHooksOnly", "allowManagedMcpServersOnly", "allowManagedPermissionRulesOnly",
    }  # fmt: skip
    known = set(SettingsFile.__struct_fields__) - WITHOUT_EFFECT - administrators
    assert sorted(named) == sorted(known - {"prefersReducedMotion"})


async def test_headings_leave_a_list_as_high_as_it_is() -> None:
    items = [Item(f"{group}{n}", group=group) for group in "abc" for n in range(6)]
    panel = ListPanel("L", items)
    heights = set()
    for _ in items:
        view = panel.view(60)
        heights.add(len(view.footer))
        assert any(part.is_selected for part in view.footer)
        panel.press("down", "", None)
    assert len(heights) == 1


async def test_settings_are_read_at_once_after_a_theme_is_chosen(tmp_path: Path) -> None:
    """Otherwise the watcher reports the user's own change as one from outside."""
    conversation, read = played([]), asyncio.Event()

    async def reload_settings() -> None:
        assert "theme" in json.loads((tmp_path / "settings.json").read_text())
        read.set()

    command_service = center_for(conversation)
    context = replace(command_service.context, reload_settings=reload_settings)
    conversation.commands = replace(command_service, context=context)
    app = make_app(conversation)
    async with app.run_test(size=(80, 30)) as pilot:
        app.parts.workspace.agent_home = tmp_path
        await send(pilot, "/theme light")
        await read.wait()


async def test_code_loses_its_colors_in_the_theme_panel_and_gets_them_back(tmp_path: Path) -> None:
    conversation = played([TextDelta("t1", "m1", 0, "```python\ndef f(): pass\n```")])
    app = make_app(conversation)

    def inks() -> int:
        rows = app.parts.transcript.viewport.visible()
        return max(len(row.runs) for _, row in rows if "def f" in row.text)

    async with app.run_test(size=(80, 30)) as pilot:
        app.parts.workspace.agent_home = tmp_path
        app.parts.highlighter._executor = None
        await send(pilot, "go")
        colored = inks()
        await opened(pilot, "/theme")
        await pilot.press("ctrl+t")
        await settled(pilot)
        assert inks() < colored
        await until(pilot, (tmp_path / "settings.json").exists)
        kept = json.loads((tmp_path / "settings.json").read_text())
        assert kept == {"syntaxHighlightingDisabled": True}
        await settled(pilot)
        await pilot.press("ctrl+t")
        await settled(pilot)
        assert inks() == colored
