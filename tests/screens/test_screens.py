"""Pictures of whole screens, dark and light, small and large. Look at one before accepting it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from agent.display import CommandDisplay
from agent.events import (
    Complete,
    TextDelta,
    ThinkingDelta,
    ToolDispatch,
    ToolResult,
    Usage,
    UsageUpdate,
)
from agent.model.local_servers import LocalServer
from agent.tools.services import Question
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    Reason,
    ReasonType,
)
from permissions.request import PermissionRequest
from tests.tui.dialogs.test_dialogs import BASH, OFFER, PENDING, QUESTIONS
from tests.tui.dialogs.test_question import PREVIEWS, press
from tests.tui.recorded import RecordedConversation, Step, ask, make_app, until_interrupted
from tests.tui.recorded_workflows import audit_display
from tests.tui.transcript.samples import DIFF
from tui.app.app import AgentApp
from tui.dialogs.dialog import Dialog
from tui.dialogs.onboarding import OnboardingDialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, PermissionAsk
from tui.dialogs.plan import PlanDialog
from tui.dialogs.question import QuestionDialog
from tui.dialogs.trust_dialog import TrustDialog, TrustLine, TrustRequest
from tui.panels.list_panel import Item, ListPanel
from tui.text.highlight import Highlighter

T = "t1"
ANSWER = """I'll look at the failing test first, then at **`slug`** itself.

1. Read the test
2. Fix `normalise`, 漢字 🎉 included

```python
def normalise(text: str) -> str:
    return unicodedata.normalize("NFKD", text)
```

| case | before | after |
|---|---|---:|
| `Ärger` | ärger | aerger |
"""
FAILED = "F....\nE  assert 'arger' == 'aerger'\n1 failed, 4 passed"

WORK: list[Step] = [
    ThinkingDelta(T, "m1", 0, "The test fails because umlauts are kept."),
    TextDelta(T, "m1", 1, ANSWER),
    Complete(T, "m1", "tool_use", Usage()),
    ToolDispatch(T, "u1", "Read", {}, "Read tests/test_slug.py"),
    ToolResult(T, "u1", "Read", "x\n" * 24, False, 0.01, "ok", "Read tests/test_slug.py"),
    ToolDispatch(T, "u2", "Edit", {}, "Edit src/slug.py"),
    ToolResult(T, "u2", "Edit", "done", False, 0.01, "ok", "Edit src/slug.py", DIFF),
    ToolDispatch(T, "u3", "Bash", {}, "Bash pytest -q"),
    ToolResult(
        T, "u3", "Bash", FAILED, True, 2.4, "failed", "Bash pytest -q",
        CommandDisplay("pytest -q", FAILED, 1),
    ),
    UsageUpdate(T, Usage(), Usage(12_000, 900), 0.0423, 48_200, 200_000),
]  # fmt: skip

SIZES = [(80, 24), (140, 40)]
THEMES = ["dark", "light"]
OTHERS = ["high-contrast", "dark-daltonized", "light-daltonized", "ansi16", "ansi16-light"]

TRUST = TrustRequest(
    "/home/ada/slugs",
    [
        TrustLine("allow rules", "Bash(make *)", ".agent/settings.json:3"),
        TrustLine("hooks", "PostToolUse: fmt", ".agent/settings.json:9", is_new=True),
    ],
    was_trusted=True,
)
PLAN = "# Plan\n\n1. Read `slug.py`\n2. Fold the umlauts, 漢字 untouched\n3. Run the tests"
SESSIONS = [Item("Fix the slugs, 漢字 too", "5 min ago"), Item("Explain the parser", "2 d ago")]
SERVERS = [
    LocalServer("Ollama", "http://localhost:11434", ("qwen3:8b", "gpt-oss:20b")),
    LocalServer("vLLM", "http://localhost:8000", ("glm-4.6",)),
]
OUTSIDE = PermissionAsk(
    PermissionRequest("Bash", {"command": "make coverage > /tmp/report.txt"}),
    Decision(
        Behavior.ASK,
        DecisionSource.SCOPE_CHECK,
        ReasonType.SAFETY_CHECK,
        Reason.SCOPE_BOUNDS_VIOLATION,
        "writes /tmp/report.txt, outside the working directories",
        effects=("outside git: /tmp/report.txt",),
        write_dirs=("/tmp",),
    ),
    offers=(GrantOffer(GrantChoice((), "session", directories=("/tmp",))),),
)
_SCRIPT = """export const meta = { name: 'audit', description: 'Looks at every route' }
const found = await pipeline(args, route => agent(`Audit the route ${route}.`))
return await verify(args, found)
"""
WORKFLOW = PermissionAsk(
    PermissionRequest("Workflow", {"name": "audit"}),
    Decision(
        Behavior.ASK,
        DecisionSource.MODE,
        ReasonType.MODE,
        Reason.MODE_DEFAULT,
        "no rule covers this, so default mode asks",
    ),
    audit_display(_SCRIPT, _SCRIPT.replace("Audit", "Look at")),
    offers=tuple(
        GrantOffer(GrantChoice(("Workflow(audit@0f8c2a7e91b34d56c01e)",), place))
        for place in ("session", "localSettings")
    ),
)
DIALOGS: dict[str, Callable[[], Dialog]] = {
    "question": lambda: QuestionDialog(QUESTIONS, Highlighter()),
    "outside": lambda: PermissionDialog(OUTSIDE, Highlighter()),
    "workflow": lambda: PermissionDialog(WORKFLOW, Highlighter()),
    "question-marks": lambda: answered(QUESTIONS, "2", "1"),
    "question-review": lambda: answered(QUESTIONS, "2", "1", "enter"),
    "question-preview": lambda: answered((PREVIEWS,), "down"),
    "plan": lambda: PlanDialog(PLAN, Highlighter()),
    "trust": lambda: TrustDialog(TRUST),
    "onboarding": lambda: OnboardingDialog(Highlighter()),
    "servers": lambda: OnboardingDialog(Highlighter(), SERVERS),
    "sessions": lambda: ListPanel("Resume", SESSIONS, hint="type to search · enter open"),
}

Compare = Callable[..., bool]


def answered(questions: Sequence[Question], *pressed: str) -> Dialog:
    dialog = QuestionDialog(questions, Highlighter())
    press(dialog, *pressed)
    return dialog


def app_with(script: list[Step], theme: str) -> AgentApp:
    app = make_app(
        RecordedConversation([script], is_demo=True),
        theme=theme,
        suggest_grants=lambda _request, _decision: (OFFER,),
    )
    return frozen(app)


def frozen(app: AgentApp) -> AgentApp:
    """Stop what would make a picture depend on time: the spinner, and the thread that colors."""
    app.parts.highlighter._executor = None
    app.parts.lines.turn = lambda: None  # type: ignore[method-assign]
    return app


def after_prompt(text: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, AgentApp)
        await pilot.pause()
        app.parts.submission.submit(text)
        await pilot.pause()
        app.parts.bridge.flush()
        await pilot.pause()

    return run


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
def test_working(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    script = [*WORK, TextDelta(T, "m2", 0, "Now the **umlauts**."), until_interrupted]
    app = app_with(script, theme)
    assert snap_compare(app, terminal_size=size, run_before=after_prompt("Fix the slugs, 漢字 too"))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
def test_permission(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    app = app_with([*WORK, ask(BASH, PENDING)], theme)
    assert snap_compare(app, terminal_size=size, run_before=after_prompt("Fix the slugs"))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
def test_start(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_with([], theme), terminal_size=size)


@pytest.mark.parametrize("dialog", DIALOGS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
def test_dialog(snap_compare: Compare, theme: str, size: tuple[int, int], dialog: str) -> None:
    async def opened(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, AgentApp)
        await pilot.pause()
        app.parts.dialogs.open(DIALOGS[dialog]())
        await pilot.pause()

    assert snap_compare(app_with([], theme), terminal_size=size, run_before=opened)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
def test_help(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_with([], theme), terminal_size=size, run_before=after_prompt("/help"))


@pytest.mark.parametrize("theme", OTHERS)
def test_other_themes(snap_compare: Compare, theme: str) -> None:
    app = app_with([*WORK, until_interrupted], theme)
    assert snap_compare(app, terminal_size=(80, 40), run_before=after_prompt("Fix the slugs"))


def test_without_color(snap_compare: Compare) -> None:
    app = frozen(make_app(RecordedConversation([[*WORK, until_interrupted]]), no_color=True))
    assert snap_compare(app, terminal_size=(80, 40), run_before=after_prompt("Fix the slugs"))


def test_a_tiny_window(snap_compare: Compare) -> None:
    app = app_with([*WORK, ask(BASH, replace(PENDING, parts=()))], "dark")
    assert snap_compare(app, terminal_size=(20, 5), run_before=after_prompt("Fix the slugs"))
