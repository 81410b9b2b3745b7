"""Today's date."""

from __future__ import annotations

from agent.prompt.context import PromptContext


def compute(context: PromptContext) -> str:
    """Return the date with its weekday."""
    return f"Today is {context.today:%A}, {context.today.isoformat()}."
