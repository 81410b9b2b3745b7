"""A fan-out over subtasks: the model's input, and the text that it gets back.

Shapes, limits and notes are those of the reference page `orchestration-mode`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

SUBTASKS: Final = "subtasks"
"""Kind and name of a run over subtasks."""
MAX_SUBTASKS: Final = 200
BASH_TIMEOUT_S: Final = 60.0
"""Timeout of a command of a fan-out's agent."""
RESULT_MAX_CHARS: Final = 8_000
"""Longest result of such an agent's call; the full result is in a file."""
NOTHING_USABLE: Final = "Workflow error: no usable subtasks were provided."
SYSTEM: Final = (
    "Several agents work in parallel, each on one subtask; yours is the message below. Look into "
    "it yourself, check what you claim with bash instead of assuming it, and end by calling "
    f"report_findings once. A command has {BASH_TIMEOUT_S:.0f} s at most. Report what you found, "
    "not how you found it."
)

_VERIFICATION: Final = "Another agent reported the result below. Your job is to REFUTE it:"
_SUBTASK: Final = "\n\nSubtask: "
_RESULT: Final = "\n\nResult:\n"


class Subtasks(Struct, frozen=True):
    """The subtasks to run, and the number beyond the limit."""

    prompts: tuple[str, ...]
    excess: int = 0


class SubtaskResult(Struct, frozen=True):
    """The result of one subtask."""

    task: str
    result: str
    verdict: str | None = None
    """Text of the verifier, or why there is none; None if results are not verified."""


def read_subtasks(raw: object) -> Subtasks:
    """Return the first 200 subtasks of a list, of a JSON list as text, or of lines."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            assert isinstance(raw, str)
            raw = raw.splitlines() if "\n" in raw else [raw]
    if not isinstance(raw, list):
        return Subtasks(())
    prompts = tuple(task.strip() for task in raw if isinstance(task, str) and task.strip())
    return Subtasks(prompts[:MAX_SUBTASKS], max(0, len(prompts) - MAX_SUBTASKS))


def verification_prompt(task: str, result: str) -> str:
    """Return the prompt of the agent that tries to refute a result."""
    return (
        f"{_VERIFICATION} work out each claim "
        "again with bash, from the source and not from the report, and search for evidence "
        "against it. A claim that you are not sure of is refuted. End with report_findings; its "
        "summary begins with 'refuted: ' or 'confirmed: ', then why, with the file and line or "
        f"the command output that settled it.{_SUBTASK}{task}{_RESULT}{result}"
    )


def verified_subtask(prompt: str) -> str:
    """Return the subtask that a verification prompt is about; "" for any other prompt."""
    is_verification = prompt.startswith(_VERIFICATION)
    return prompt.partition(_SUBTASK)[2].partition(_RESULT)[0] if is_verification else ""


def result_text(results: Sequence[SubtaskResult], excess: int) -> str:
    """Return the results in the order of the subtasks, after a note about those not run."""
    text = "\n\n".join(
        f"[agent {number}: {one.task}]\n{one.result}"
        + (f"\n\n[verify {number}]\n{one.verdict}" if one.verdict is not None else "")
        for number, one in enumerate(results, 1)
    )
    if excess == 0:
        return text
    return (
        f"(note: {excess} subtasks beyond MAX_TOTAL_SUBTASKS={MAX_SUBTASKS} were not run; rerun "
        f"them in a follow-up Workflow call)\n\n{text}"
    )
