"""`workflows`: limits of fan-outs and scripts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class WorkflowsSection(BaseModel):
    """`workflows`: how many agents of a run work at once, and start in a session."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    maxConcurrent: Annotated[int, Field(ge=1, le=64)] | None = None
    maxAgents: Annotated[int, Field(ge=1, le=10_000)] | None = None
