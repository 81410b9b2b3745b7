"""What the permission mode asks of the model."""

from __future__ import annotations

from typing import Final

from agent.prompt.context import PromptContext

_NOTES: Final = {
    "plan": (
        "Plan mode is on. Change nothing: read, search and run read-only commands only; writes are "
        "refused. Find out what is needed, ask with AskUserQuestion when a choice is the person's, "
        "then present the plan with ExitPlanMode: the files to change, the steps, how it will be "
        "checked, in at most 40 lines. Start on it only after it was approved."
    ),
    "acceptEdits": (
        "Accept-edits mode is on: file edits inside the working folder are applied without "
        "asking. Keep them small and reviewable; other calls still ask."
    ),
    "dontAsk": (
        "Don't-ask mode is on: what no rule allows is refused without a question. Work with what "
        "is allowed, and report what was refused."
    ),
    "bypassPermissions": (
        "Bypass mode is on: nothing inside the working folder asks. Be as careful as if every call "
        "were reviewed, and say before any effect that cannot be undone."
    ),
    "auto": (
        "Auto mode is on: a classifier answers in the person's place. Prefer steps that are easy "
        "to judge, and do not repeat what it refused."
    ),
    "default": "Default mode is on: edits and commands may ask the person first.",
}


def compute(context: PromptContext) -> str | None:
    """Return the note of a mode; None for the default one, which needs none at the start."""
    return None if context.mode == "default" else note(context.mode)


def note(mode: str) -> str:
    """Return what the model is told when this mode begins."""
    return _NOTES.get(mode, f"The permission mode is now {mode}.")
