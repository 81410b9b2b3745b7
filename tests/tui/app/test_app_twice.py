"""The whole app, every frame rendered by Textual and by the cell layer under random use."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable

import pytest
from textual.pilot import Pilot

from agent.display import CommandDisplay
from agent.events import (
    Complete,
    TextDelta,
    ThinkingDelta,
    ToolDispatch,
    ToolProgress,
    ToolResult,
    Usage,
    UsageUpdate,
)
from tests.soak.scale import IS_SOAK
from tests.tui.dialogs.test_dialogs import BASH, OFFER, PENDING
from tests.tui.recorded import RecordedConversation, Step, ask, make_app
from tests.tui.screen.twin import RendersTwice, resize_event
from tests.tui.transcript.samples import DIFF
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport

T = "t1"
ANSWER = """Look at **`slug`** first, 漢字 🎉 included.

1. Read the test
2. Fix `normalise`

```python
def normalise(text: str) -> str:
    return unicodedata.normalize("NFKD", text)  # ünïcode
```

| case | before | after |
|---|---|---:|
| `Ärger` | ärger | aerger |

> 引用 and a long line that has to be wrapped at nearly every width there is, twice or three times.
"""
KEYS = (
    "a", "b", "好", "space", "backspace", "left", "up", "down", "pageup", "pagedown", "ctrl+o",
    "ctrl+t", "shift+tab", "ctrl+l", "home", "ctrl+end", "enter", "alt+enter", "1", "n",
)  # fmt: skip
SIZES = ((80, 24), (120, 40), (40, 12), (20, 5), (3, 2), (1, 1))


class TwinAgentApp(RendersTwice[ExitReport], AgentApp):
    """The product, compared with itself on stock output."""

    def position(self) -> str:
        return str(self.parts.transcript.viewport.top)


@pytest.fixture(autouse=True)
def _truecolor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


class Gate:
    """Lets a script go on one step at a time."""

    def __init__(self) -> None:
        self.steps = asyncio.Semaphore(0)

    def wait(self, _: RecordedConversation) -> Awaitable[object]:
        return self.steps.acquire()


def script(dice: random.Random, gate: Gate) -> list[Step]:
    """Return a turn with every kind of block, its text in pieces of random length."""
    steps: list[Step] = [ThinkingDelta(T, "m1", 0, "Umlauts are kept. "), gate.wait]
    position = 0
    text = ANSWER * 3
    while position < len(text):
        length = dice.randrange(1, 60)
        steps += [TextDelta(T, "m1", 1, text[position : position + length]), gate.wait]
        position += length
    output = "F....\nE  assert 'arger' == 'aerger'\n1 failed, 4 passed"
    return [
        *steps,
        Complete(T, "m1", "tool_use", Usage()),
        ToolDispatch(T, "u1", "Bash", {}, "Bash pytest -q"),
        *(ToolProgress(T, "u1", f"line {n} 好\n") for n in range(12)),
        gate.wait,
        ToolResult(
            T, "u1", "Bash", output, True, 2.4, "failed", "Bash pytest -q",
            CommandDisplay("pytest -q", output, 1),
        ),
        gate.wait,
        ToolDispatch(T, "u2", "Edit", {}, "Edit src/slug.py"),
        ToolResult(T, "u2", "Edit", "done", False, 0.01, "ok", "Edit src/slug.py", DIFF),
        UsageUpdate(T, Usage(), Usage(12_000, 900), 0.0423, 48_200, 200_000),
        gate.wait,
        ask(BASH, PENDING),
    ]  # fmt: skip


async def act(app: TwinAgentApp, pilot: Pilot[ExitReport], dice: random.Random, gate: Gate) -> None:
    """Do one random thing that the agent, the user or the window could do."""
    match dice.randrange(10):
        case 0 | 1 | 2 | 3:
            for _ in range(dice.randrange(1, 8)):
                gate.steps.release()
            await pilot.pause()
            app.parts.bridge.flush()
        case 4 | 5 | 6:
            # Enter in the palette could leave the program.
            is_covered = len(app.screen_stack) > 1
            await pilot.press(dice.choice(("a", "down", "backspace") if is_covered else KEYS))
        case 7:
            # Above the rows until it is closed. Not for a moment: the timer of a toast that is
            # mounted after its time never ends.
            app.notify("a toast 好", timeout=600)
            if dice.random() < 0.5:
                await pilot.pause()
                app.clear_notifications()
        case 8:
            await pilot.press("escape" if len(app.screen_stack) > 1 else "ctrl+p")
        case _:
            size = dice.choice([*SIZES, (dice.randrange(1, 130), dice.randrange(1, 45))])
            app.post_message(resize_event(*size))


@pytest.mark.parametrize("seed", range(60 if IS_SOAK else len(SIZES)))
async def test_every_frame_of_the_app_equals_textuals_own(seed: int) -> None:
    dice = random.Random(seed)
    gate = Gate()
    app = make_app(
        RecordedConversation([script(dice, gate) for _ in range(4)]),
        theme=dice.choice(["dark", "light", "high-contrast"]),
        kind=TwinAgentApp,
        suggest_grants=lambda _request, _decision: (OFFER,),
    )
    assert isinstance(app, TwinAgentApp)
    async with app.run_test(size=SIZES[seed % len(SIZES)], notifications=True) as pilot:
        await pilot.pause()
        app.parts.submission.submit("Fix the slugs, 漢字 too")
        for _ in range(60 if IS_SOAK else 40):
            await act(app, pilot, dice, gate)
            await pilot.pause()
            app.compare_now()
            assert app.differences == []
    assert app.frames > 20
    assert app._uses_cells
