"""Every key of the registry does something, where it is said to; each in the real screen."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from agent.display import DiffDisplay, TodoDisplay, TodoItem
from agent.events import TextDelta, ToolDispatch, ToolResult
from agent.messages import user_message
from tests.tui.app.test_app_keys import T, send, settled, text_of
from tests.tui.dialogs.test_dialogs import OFFER, PENDING, QUESTIONS
from tests.tui.recorded import RecordedConversation, Step, make_app, until_interrupted
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.dialogs.dialog import Dialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import PermissionAsk
from tui.dialogs.question import QuestionDialog
from tui.editing.draft import CHIP_CHARS
from tui.input.actions import ABSENT, ACTIONS, ACTIONS_BY_ID, Action
from tui.input.key_names import parse_chord
from tui.input.keybindings import KeybindingIssue, load_keybindings
from tui.input.keymap import BindingChange, default_keymap
from tui.panels.diff_panel import ChangedFile, DiffPanel, Source
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.text.highlight import Highlighter
from tui.text.styled_rows import row
from tui.transcript.selecting.transcript_selection import TranscriptSelection
from tui.widgets.rows_widget import RowsWidget

FREE_KEY = "f9"
"""Bound to actions that have no key by default."""
LONG = "\n".join(f"line {number}" for number in range(60))
TALK: list[Step] = [
    TextDelta(T, "m1", 0, "\n\n".join(f"Paragraph {number}" for number in range(40))),
    ToolDispatch(T, "u1", "Bash", {}, "Bash seq"),
    ToolResult(T, "u1", "Bash", LONG, False, 0.1, "ok", "Bash seq"),
]


@dataclass
class Scene:
    """An app that is driven."""

    app: SceneApp
    pilot: Pilot[ExitReport]
    closing: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    @property
    def conversation(self) -> RecordedConversation:
        found = self.app.parts.conversations.current
        assert isinstance(found, RecordedConversation)
        return found

    def seen(self) -> tuple[object, ...]:
        """Everything that an action could have changed."""
        app, conversation = self.app, self.conversation
        parts = app.parts
        widgets: list[RowsWidget] = [
            parts.dialogs, parts.activity, parts.todo_panel, parts.agents_panel, parts.composer,
            parts.transcript_bar, parts.menu, parts.status_line,
        ]  # fmt: skip
        rows = [line.text for _, line in app.parts.transcript.viewport.visible()]
        return (
            [text_of(widget) for widget in widgets],
            rows,
            (app.parts.composer.buffer.draft, app.parts.composer.marked_text),
            app.parts.dialogs._scroll,
            (conversation.mode, conversation.received[:], conversation.interrupted.is_set()),
            app.done[:],
            app.parts.appearance.colors_code,
            app._exit,
            app.parts.dialogs.current is not None and app.parts.dialogs.current.is_done,
        )

    async def show(self, dialog: Dialog) -> None:
        self.app.parts.dialogs.open(dialog)
        await settled(self.pilot)
        self.app.parts.dialogs._guard._guarded_until_s = 0.0

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await settled(self.pilot)


Setting = Callable[[Scene], Awaitable[object]]


async def nothing(scene: Scene) -> None:
    """The screen as it is after the start."""


def typed(*keys: str) -> Setting:
    return lambda scene: scene.press(*keys)


async def talked(scene: Scene) -> None:
    await send(scene.pilot, "go")


async def read_up(scene: Scene) -> None:
    await talked(scene)
    scene.app.parts.transcript.to_start()
    scene.app.parts.transcript.scroll_rows(12)


async def working(scene: Scene) -> None:
    scene.conversation.scripts[:] = [[until_interrupted]]
    await talked(scene)


async def with_changes(scene: Scene) -> None:
    display = DiffDisplay("a.py", "a\n", "b\n")
    scene.conversation.scripts[:] = [
        [ToolResult(T, "u1", "Edit", "", False, 0.1, "ok", "Edit a.py", display)]
    ]
    await talked(scene)


async def with_todos(scene: Scene) -> None:
    items = TodoDisplay((TodoItem("Read", "pending"),))
    scene.conversation.scripts[:] = [
        [ToolResult(T, "u1", "TodoWrite", "", False, 0.1, "ok", "TodoWrite", items)]
    ]
    await talked(scene)


async def pasted(scene: Scene) -> None:
    scene.app.parts.composer.edit(lambda buffer: buffer.paste("x" * (CHIP_CHARS + 1)))


async def with_history(scene: Scene) -> None:
    scene.app.parts.history.extend_older(["newer slug", "older slug"])


async def searching(scene: Scene) -> None:
    await with_history(scene)
    await scene.press("ctrl+r", *"slug")


async def marked(scene: Scene) -> None:
    await talked(scene)
    rows = scene.app.parts.transcript.viewport.visible()
    place = next(place for place, line in rows if "line 2" in line.text)
    scene.app.parts.transcript.marker.selection = TranscriptSelection(place, 3, place, 9)
    assert scene.app.parts.transcript.marked_text


async def offered(scene: Scene) -> None:
    await scene.press("/", "c", "o")
    assert scene.app.parts.menu.is_open


def permission(moves: tuple[str, ...] = (), **changes: Any) -> Setting:
    async def show(scene: Scene) -> None:
        from tests.tui.dialogs.test_hunks import CHANGE, WRITE

        asked = PermissionAsk(WRITE, replace(PENDING, parts=()), CHANGE, **changes)
        edit = lambda text, _: text + "edited\n"  # noqa: E731
        await scene.show(PermissionDialog(asked, scene.app.parts.highlighter, edit))
        await scene.press(*moves)

    return show


async def with_shells(scene: Scene) -> None:
    """A command in the background."""
    assert scene.conversation.commands is not None
    shells = scene.conversation.commands.context.shells
    directory = scene.app.parts.options.directory
    shell = await shells.start("sleep 60", cwd=Path("/"), env={}, results_dir=directory)
    shells.to_background(shell)
    scene.closing.append(shells.kill_all)


async def in_the_middle(scene: Scene) -> None:
    await scene.press(*"abc", "ctrl+j", *"def", "ctrl+j", *"ghi", "up", "left")


async def with_a_mark(scene: Scene) -> None:
    await scene.press(*"abc", "shift+left")


async def asked(scene: Scene) -> None:
    await scene.show(QuestionDialog(QUESTIONS, Highlighter()))


async def asked_for_several(scene: Scene) -> None:
    await asked(scene)
    await scene.press("right")


def reading(*keys: str) -> Setting:
    async def open_view(scene: Scene) -> None:
        scene.conversation.scripts[:] = [TALK, []]
        await send(scene.pilot, "go")
        await send(scene.pilot, "and again")
        await scene.press("ctrl+o", *keys)

    return open_view


def panel(*keys: str, **options: Any) -> Setting:
    async def show(scene: Scene) -> None:
        items = [Item("one"), Item("two"), Item("three"), Item("four")]
        await scene.show(ListPanel("L", items, selected_index=1, letters="keys", **options))
        await scene.press(*keys)

    return show


async def model_panel(scene: Scene) -> None:
    scene.app.parts.submission.submit("/model")
    await settled(scene.pilot)
    await scene.press("right")


async def theme_panel(scene: Scene) -> None:
    scene.conversation.scripts[:] = [[TextDelta(T, "m1", 0, "```python\ndef f(): pass\n```")]]
    await talked(scene)
    scene.app.parts.submission.submit("/theme")
    await settled(scene.pilot)


async def config_panel(scene: Scene) -> None:
    from tui.input.actions import Context

    panel = ListPanel("L", [Item("one")], contexts=(Context.SETTINGS,), letters="keys")
    await scene.show(panel)


async def diff_panel(scene: Scene) -> None:
    files = tuple(ChangedFile(name, 1, 1, lambda _: [row("x")]) for name in ("a", "b", "c"))
    await scene.show(DiffPanel([Source("one", files), Source("two", files[:1])]))


async def open_diff(scene: Scene) -> None:
    await diff_panel(scene)
    await scene.press("enter")


async def help_panel(scene: Scene) -> None:
    await scene.show(TextPanel("Help", text_rows(LONG)))


async def message_panel(scene: Scene) -> None:
    from tui.input.actions import Context

    await panel(contexts=(Context.MESSAGE_SELECTOR,))(scene)


SCENES: dict[str, Setting] = {
    "app:interrupt": working,
    "app:redraw": nothing,
    "app:toggleTodos": with_todos,
    "app:toggleTranscript": talked,
    "history:search": with_history,
    "chat:submit": typed("h", "i"),
    "chat:newline": typed("h", "i"),
    "chat:cancel": working,
    "chat:rewind": typed("h", "i"),
    "chat:undo": typed("h", "i"),
    "chat:redo": typed("h", "i", "ctrl+underscore"),
    "chat:expandPastes": pasted,
    "chat:undoFiles": with_changes,
    "chat:stash": typed("h", "i"),
    "chat:copyAnswer": talked,
    "history:previous": with_history,
    "history:next": typed("a", "ctrl+j", "b", "up"),
    "task:background": nothing,
    "chat:killAgents": with_shells,
    "selection:extendLeft": in_the_middle,
    "selection:extendRight": in_the_middle,
    "selection:extendUp": in_the_middle,
    "selection:extendDown": in_the_middle,
    "selection:extendLineStart": in_the_middle,
    "selection:extendLineEnd": in_the_middle,
    "selection:clear": with_a_mark,
    "selection:copy": marked,
    "confirm:yes": permission(),
    "confirm:no": permission(),
    "confirm:previous": permission(),
    "confirm:next": permission(),
    "confirm:nextField": permission(),
    "confirm:previousField": asked_for_several,
    "confirm:toggle": asked_for_several,
    "confirm:cycleMode": permission(session_edits=True, offers=(OFFER,)),
    "confirm:chooseParts": permission(),
    "confirm:editHere": permission(),
    "confirm:edit": permission(),
    "permission:toggleDebug": permission(),
    "confirm:toggleExplanation": permission(),
    "transcript:searchNext": reading("/", *"paragraph", "enter"),
    "transcript:searchPrevious": reading("/", *"paragraph", "enter"),
    "transcript:nextPrompt": reading("g"),
    "transcript:editor": reading(),
    "transcript:lineDown": reading("g"),
    "transcript:pageDown": reading("g"),
    "transcript:bottom": reading("g"),
    "help:dismiss": help_panel,
    "diff:back": open_diff,
    "settings:search": config_panel,
    "theme:toggleSyntaxHighlighting": theme_panel,
}
DEFAULTS: dict[str, Setting] = {
    "app": nothing,
    "chat": nothing,
    "autocomplete": offered,
    "transcript": reading(),
    "historySearch": searching,
    "tabs": asked,
    "messageSelector": message_panel,
    "diff": diff_panel,
    "modelPicker": model_panel,
    "select": panel(),
    "scroll": read_up,
}


def keys_of() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for action in ACTIONS:
        if action.id not in ABSENT:
            found += [(action.id, key) for key in action.keys or (FREE_KEY,)]
    return found


def pressed(action: Action, key: str) -> list[str]:
    """Return the key as a terminal reports it."""
    names = {"ctrl+_": "ctrl+underscore", "alt+_": "alt+underscore"}
    return [names.get(part, part) for part in parse_chord(key)]


class SceneApp(AgentApp):
    """The app, with what leaves the screen noted and not done."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.done: list[str] = []
        super().__init__(*arguments, **keywords)
        editing = self.parts.editing
        editing.to_terminal = lambda text: self.done.append("terminal")  # type: ignore[method-assign]

    def copy_to_clipboard(self, text: str) -> None:
        self.done.append(f"copied {text}")

    @contextmanager
    def suspend(self) -> Iterator[None]:
        yield

    def action_suspend_process(self) -> None:
        self.done.append("suspended")

    def invalidate_screen(self) -> None:
        if self.is_live:
            self.done.append("redrawn")
        super().invalidate_screen()


def make_scene_app(action: Action, scratch: Path) -> SceneApp:
    conversation = RecordedConversation([TALK])
    conversation.messages = (replace(user_message("earlier"), origin="person"),)
    assert conversation.commands is not None
    gate = conversation.commands.context.gate
    gate.replace_context(replace(gate.context, scratch_dir=scratch))
    app = make_app(conversation, kind=SceneApp, edit_text=lambda text, _: text + "!")
    assert isinstance(app, SceneApp)

    def to_background() -> bool:
        app.done.append("background")
        return True

    conversation.send_to_background = to_background  # type: ignore[method-assign]
    if not action.keys:
        change = BindingChange(action.context, (FREE_KEY,), action.id)
        app.parts.keys.use(app.parts.keys.keymap.with_changes([change]))
    return app


@pytest.mark.parametrize(("action_id", "key"), keys_of())
async def test_a_key_does_what_the_registry_says(action_id: str, key: str, tmp_path: Path) -> None:
    action = ACTIONS_BY_ID[action_id]
    app = make_scene_app(action, tmp_path)
    async with app.run_test(size=(90, 30)) as pilot:
        scene = Scene(app, pilot)
        await settled(pilot)
        setting = SCENES.get(action_id) or DEFAULTS[action_id.partition(":")[0]]
        await setting(scene)
        await settled(pilot)
        before = scene.seen()
        await scene.press(*pressed(action, key))
        after = scene.seen()
        for close in scene.closing:
            await close()
    assert after != before, f"{key} did nothing"


@pytest.mark.parametrize("mode", ["ctrl+o", "ctrl+r", "ctrl+p", "dialog"])
async def test_the_program_is_suspended_in_every_mode(mode: str, tmp_path: Path) -> None:
    app = make_scene_app(ACTIONS_BY_ID["app:suspend"], tmp_path)
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        if mode == "dialog":
            await permission()(Scene(app, pilot))
        else:
            await pilot.press(mode)
        await settled(pilot)
        app.parts.dialogs._guard._guarded_until_s = 0.0
        await pilot.press("ctrl+z")
    assert app.done.count("suspended") == 1


def test_every_action_is_performed_or_reported_as_absent() -> None:
    named = {action.id for action in ACTIONS}
    assert named >= set(ABSENT)
    assert named >= set(SCENES)
    assert not set(ABSENT) & set(SCENES)
    assert all(ABSENT.values())


@pytest.mark.parametrize("action_id", sorted(ABSENT))
def test_a_file_that_names_an_absent_action_gets_the_reason(action_id: str) -> None:
    context = ACTIONS_BY_ID[action_id].context
    file = {"bindings": [{"context": context, "bindings": {"f9": action_id}}]}
    (warning,) = load_keybindings(json.dumps(file), default_keymap()).warnings
    assert warning.issue is KeybindingIssue.ABSENT_ACTION
    assert ABSENT[action_id] in warning.message


UNBOUND = {
    "app:redraw", "confirm:previousField", "diff:back", "footer:dismiss", "scroll:fullPageDown",
    "scroll:fullPageUp", "scroll:halfPageDown", "scroll:halfPageUp", "scroll:lineDown",
    "scroll:lineUp", "selection:clear", "voice:pushToTalk",
}  # fmt: skip
"""What has no key unless somebody gives it one, as in Claude Code, whose Space would be typed."""


def test_every_action_has_a_key_or_deliberately_none() -> None:
    assert {action.id for action in ACTIONS if not action.keys} == UNBOUND
