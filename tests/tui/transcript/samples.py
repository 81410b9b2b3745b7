"""View data in every state that a component can be in."""

from __future__ import annotations

from msgspec.structs import replace

from agent.display import (
    CommandDisplay,
    DiffDisplay,
    PlanDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
)
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.mode import Mode
from tui.status_line.status_widget import StatusLineState
from tui.transcript.blocks import (
    Activity,
    AgentActivity,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    HookLine,
    NoticeLine,
    RetryCountdown,
    ThinkingText,
    ToolCard,
    UserMessage,
)

OLD = "def slug(text):\n    text = text.lower()\n    return text\n"
NEW = "def slug(text):\n    text = normalise(text).lower()\n    return text\n\n# 漢字 🎉\n"
DIFF = DiffDisplay("src/slug.py", OLD, NEW)
TODOS = (
    TodoItem("Read the test", "completed"),
    TodoItem("Fix slug", "in_progress", "Fixing slug"),
    TodoItem("Update 更新日志", "pending"),
)
CARD = ToolCard("u1", "Bash", "Bash pytest -q", "running", {}, 0.0)
DENIED = Decision(
    Behavior.DENY,
    DecisionSource.USER,
    ReasonType.USER,
    Reason.USER,
    "The user said no",
    feedback="use uv",
)
OUTPUT = "\n".join(f"line {number}" for number in range(1, 13))

BLOCKS: dict[str, Block] = {
    "person": UserMessage("p", "Fix the failing test, and mind 漢字 and 🎉 in slugs"),
    "person_shell": UserMessage("p", "!git status", "shell"),
    "person_command": UserMessage("p", "/compact the tests", "command"),
    "thinking": ThinkingText("t", "First this.\nThen that.", is_streaming=True),
    "thought": ThinkingText("t", "First this.\nThen that.", is_streaming=False),
    "tool_writing": replace(CARD, identifier="Bash", state="writing"),
    "tool_running": CARD,
    "tool_running_output": replace(CARD, output=OUTPUT, dropped_lines=100),
    "tool_progress_bar": replace(CARD, output="10%\r50%\r100%\n"),
    "tool_asking": replace(CARD, state="asking"),
    "tool_ok": replace(CARD, state="ok", result=OUTPUT, elapsed_s=2.41),
    "tool_ok_command": replace(CARD, state="ok", display=CommandDisplay("pytest -q", OUTPUT, 0)),
    "tool_ok_silent": replace(CARD, state="ok", display=CommandDisplay("true", "", 0)),
    "tool_background": replace(
        CARD, state="ok", display=CommandDisplay("serve", "", background_id="b1")
    ),
    "tool_failed": replace(CARD, state="failed", result="E  assert 1 == 2", elapsed_s=75),
    "tool_denied": replace(CARD, state="denied", decision=DENIED),
    "tool_outside": replace(
        CARD,
        state="denied",
        decision=Decision(
            Behavior.DENY,
            DecisionSource.SCOPE_CHECK,
            ReasonType.SAFETY_CHECK,
            Reason.SCOPE_BOUNDS_VIOLATION,
            "writes /x, outside the working directories",
        ),
    ),
    "tool_allowed_with_a_word": replace(
        CARD, state="ok", result="done", decision=replace(DENIED, behavior=Behavior.ALLOW)
    ),
    "tool_interrupted": replace(CARD, state="interrupted", output="half\n"),
    "tool_invalid": replace(CARD, state="invalid", result="command: Field required"),
    "tool_counted": replace(
        CARD, name="Read", identifier="Read src/a.py:10-40", state="ok", result=OUTPUT
    ),
    "tool_diff": replace(
        CARD, name="Edit", identifier="Edit src/slug.py", state="ok", display=DIFF
    ),
    "tool_todos": replace(
        CARD, name="TodoWrite", identifier="TodoWrite", state="ok", display=TodoDisplay(TODOS)
    ),
    "tool_plan": replace(
        CARD, name="ExitPlanMode", identifier="ExitPlanMode", state="ok",
        display=PlanDisplay("Do it."),
    ),
    "tool_plan_long": replace(
        CARD, name="ExitPlanMode", identifier="ExitPlanMode", state="ok",
        display=PlanDisplay("# Plan\n\n1. Change `slug`\n2. Test it\n3. Say so\n4. Stop\n5. Rest"),
    ),
    "tool_text": replace(
        CARD, name="WebFetch", identifier="WebFetch example.com", state="ok",
        display=TextDisplay("A page."),
    ),
    "tool_mcp": replace(
        CARD, name="mcp__github__get_issue", identifier="mcp__github__get_issue 12", state="ok",
        result="Title: 漢字",
    ),
    "tool_agent": replace(
        CARD, name="Agent", identifier="Agent find callers",
        agent=AgentActivity("a1", 3, "Grep slug(", 900),
    ),
    "tool_agent_done": replace(
        CARD, name="Agent", identifier="Agent find callers", state="ok", result="Two callers.",
        agent=AgentActivity("a1", 3, "Grep slug(", 900),
    ),
    "notice": NoticeLine("n", "info", "Two settings files were read."),
    "warning": NoticeLine("n", "warning", "A rule could not be understood."),
    "hook": HookLine("h", "PostToolUse", "success", ("formatted 2 files",)),
    "hook_failed": HookLine("h", "Stop", "cancelled", ("Stop hook 'x' (user): exit status 1",)),
    "error": ErrorBlock("e", "auth", "The key was refused. Set ANTHROPIC_API_KEY.", "req_12"),
    "compaction": CompactionLine("c", "auto", 150_000, 12_300, "We fixed slugs."),
    "interrupted": EndLine("x", "aborted_streaming", ""),
    "max_turns": EndLine("x", "max_turns", "200 turns"),
}  # fmt: skip

STATUSES: dict[str, StatusLineState] = {
    "start": StatusLineState(directory="~/slugs"),
    "working": StatusLineState(
        Mode.ACCEPT_EDITS, "claude-sonnet-5", "high", 48_200, 200_000, 0.0423, "~/slugs", "main"
    ),
    "demo": StatusLineState(model="demo", directory="~/slugs", branch="main", is_demo=True),
    "nearly_full": StatusLineState(
        Mode.PLAN, "claude-sonnet-5", None, 190_000, 200_000, 12.5, "~/slugs"
    ),
    "hint": StatusLineState(Mode.BYPASS, "m", hint="press ctrl+c again to quit"),
}

ACTIVITIES: dict[str, Activity] = {
    "idle": Activity(),
    "writing": Activity("writing", 10.0, 1_250),
    "asking": Activity("asking", 10.0),
    "hooks": Activity("tools", 10.0, hook="Formatting"),
    "retrying": Activity("retrying", 10.0, 0, "", RetryCountdown(2, 10, 96.0, "overloaded")),
}
