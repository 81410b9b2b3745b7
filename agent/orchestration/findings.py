"""`report_findings`: how agents of a fan-out report, and how a verdict is read.

Names and fields are those of the reference page `orchestration-mode`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

NAME: Final = "report_findings"
DESCRIPTION: Final = (
    "Hands in what you found. Call it once, as your last action: it ends the subtask, and "
    "nothing else that you write is read."
)
RECORDED: Final = "Findings recorded."
Verdict = Literal["confirmed", "refuted"]


class ReportedFinding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finding."""

    claim: Annotated[str, Meta(description="The finding, in one sentence")]
    evidence: Annotated[
        str, Meta(description="The evidence: file and line, or output of a command")
    ]
    severity: Literal["high", "medium", "low", "info"]


class Findings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Input of the tool."""

    summary: Annotated[str, Meta(description="A summary in two or three sentences")]
    findings: list[ReportedFinding]


def read_verdict(summary: str) -> Verdict:
    """Return a verifier's verdict; anything that is not clearly confirmed is refuted."""
    is_confirmed = summary.lstrip().lower().startswith("confirmed")
    return "confirmed" if is_confirmed else "refuted"
