"""Pictures of panels and of what stands in the prompt's place: dark and small, light and large."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from agent.display import DiffDisplay
from agent.messages import user_message
from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import decide
from permissions.explain.explain_decision import home_relative, with_rules
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import denied_without_user
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from tests.screens.test_screens import WORK, Compare, frozen
from tests.tui.app.test_app_keys import settled, until
from tests.tui.dialogs.test_dialogs import OFFER, PENDING
from tests.tui.dialogs.test_hunks import CHANGE
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tests.tui.transcript.samples import DIFF
from tui.app.app import AgentApp
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import PermissionAsk
from tui.panels.diff_panel import ChangedFile, DiffPanel, Source
from tui.text.highlight import Highlighter
from tui.text.styled_rows import Row
from tui.transcript.diff.change_rows import diff_rows

Act = Callable[[Pilot[Any], AgentApp], Awaitable[object]]
LOOKS = [("dark", (80, 24)), ("light", (80, 24)), ("light", (140, 40))]
WRITE = PermissionRequest("Write", {"file_path": "/p/n.txt", "content": CHANGE.new})


def keys(*pressed: str) -> Act:
    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        await pilot.press(*pressed)
        await settled(pilot)

    return act


def command(text: str, *pressed: str) -> Act:
    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        app.parts.submission.submit(text)
        await until(pilot, lambda: app.parts.dialogs.open_count > 0)
        await settled(pilot)
        await keys(*pressed)(pilot, app)

    return act


def after_work(*pressed: str) -> Act:
    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        app.parts.submission.submit("Fix the slugs, 漢字 too")
        await settled(pilot)
        await keys(*pressed)(pilot, app)

    return act


def diff_panel(*pressed: str) -> Act:
    def rows(width: int) -> Sequence[Row]:
        return diff_rows(DIFF, width, highlighter=Highlighter())

    files = [
        ChangedFile("src/slug.py", 3, 1, rows),
        ChangedFile("docs/更新日志.md (new)", 12, 0, rows),
        ChangedFile("a name that goes on for a while, as names of files do.txt", 0, 240, rows),
    ]

    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        sources = [
            Source("Changes since the last commit", files),
            Source("Changed by “Fix the slugs”", files[:1]),
        ]
        app.parts.dialogs.open(DiffPanel(sources))
        await keys(*pressed)(pilot, app)

    return act


def permission(change: DiffDisplay, *pressed: str) -> Act:
    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        asked = PermissionAsk(WRITE, replace(PENDING, parts=()), change, (OFFER,))
        app.parts.dialogs.open(PermissionDialog(asked, app.parts.highlighter, lambda text, _: text))
        app.parts.dialogs._guard._guarded_until_s = 0.0
        await keys(*pressed)(pilot, app)

    return act


EVIL = "timeout 5 npm test && git push 漢字 \u202e\t> log.txt"
RULES = (
    RuleText(
        "Bash(npm *)", RuleBehavior.ALLOW, RuleSource.USER, "/home/ada/.agent/settings.json", 3
    ),
    RuleText("Bash(git push *)", RuleBehavior.ASK, RuleSource.PROJECT, ".agent/settings.json", 7),
)


def asked_about(command: str, *pressed: str) -> Act:
    """Ask about a command, as the engine judges it in a project that is not there."""

    async def act(pilot: Pilot[Any], app: AgentApp) -> None:
        directory, home = Path("/home/ada/slugs"), Path("/home/ada")
        rules = RuleSet.build(RULES)[0]
        context = PermissionContext(Mode.DEFAULT, rules, directory, directory, home)
        request = PermissionRequest("Bash", {"command": command})
        pending = with_rules(decide(request, context), rules)
        asked = PermissionAsk(request, pending, short=home_relative(str(home)))
        app.parts.dialogs.open(PermissionDialog(asked, app.parts.highlighter))
        app.parts.dialogs._guard._guarded_until_s = 0.0
        await keys(*pressed)(pilot, app)

    return act


async def decided(pilot: Pilot[Any], app: AgentApp) -> None:
    command_service = app.parts.conversations.commands
    assert command_service is not None
    gate = command_service.context.gate
    gate.replace_context(gate.context.with_rules(RuleSet.build(RULES)[0]))
    for text in ("npm test", "touch /tmp/x", "npm run build && npm run 漢字"):
        request = PermissionRequest("Bash", {"command": text})
        decision = gate.evaluate(request)
        is_open = decision.behavior is Behavior.ASK
        gate.log(denied_without_user(decision) if is_open else decision, request)
    await command("/permissions", "tab", "tab")(pilot, app)


async def files(pilot: Pilot[Any], app: AgentApp) -> None:
    command_service = app.parts.conversations.commands
    assert command_service is not None
    (command_service.files.root / "漢字").mkdir()
    for name in ("a b.py", 'quo"te.py', "new\nline.py", "漢字/slug.py", "src.py"):
        (command_service.files.root / name).write_text("")
    await command_service.files.ready()
    await keys(*"look at @")(pilot, app)


VIEWS: dict[str, Act] = {
    "model": command("/model", "j", "right", "right"),
    "theme": command("/theme"),
    "keys": keys("?"),
    "context": command("/context"),
    "config": command("/config", *"editormode"),
    "choice": command("/config", *"editormode", "enter"),
    "rewind": command("/rewind"),
    "palette": keys("ctrl+p", *"com"),
    "diff": diff_panel("down"),
    "diff-file": diff_panel("enter"),
    "hunks": permission(CHANGE, "h", "down", "space"),
    "edit-call": asked_about(EVIL.replace("\u202e", ""), "e", "up", "home"),
    "edit-hidden": asked_about(EVIL, "e"),
    "why": asked_about("npm test && git push", "ctrl+y"),
    "decided": decided,
    "detail": after_work("ctrl+o", "d", "left"),
    "reading": after_work("ctrl+o"),
    "search": after_work("ctrl+o", "/", *"slug"),
    "history": keys("ctrl+r", *"slug"),
    "shell": keys("!", *"pytest"),
    "commands": keys(*"/co"),
    "files": files,
    "vim": keys(*"one two three", "ctrl+j", *"four", "escape", "k", "v", "e"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("theme", "size"), LOOKS, ids=lambda value: str(value))
def test_view(
    snap_compare: Compare, theme: str, size: tuple[int, int], view: str, tmp_path: Path
) -> None:
    (tmp_path / "home" / ".agent").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    settings = {"editorMode": "vim"} if view == "vim" else {}
    (tmp_path / "home" / ".agent" / "settings.json").write_text(json.dumps(settings))
    conversation = RecordedConversation([WORK], is_demo=True)
    conversation.messages = tuple(
        replace(user_message(text), origin="person")
        for text in ("Explain the parser", "Fix the slugs, 漢字 too")
    )
    if view in {"vim", "files"}:
        conversation.launch_dir = tmp_path / "project"
        conversation.commands = center_for(conversation, tmp_path / "home")
        conversation.launch_dir = Path("/home/ada/slugs")
    app = frozen(make_app(conversation, theme=theme))
    typed = ["fix the slugs", "!pytest -q tests", "!pytest", "look at slug.py"]
    app.parts.history.extend_older(typed)

    async def run(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        await VIEWS[view](pilot, app)

    assert snap_compare(app, terminal_size=size, run_before=run)
