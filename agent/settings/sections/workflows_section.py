"""`workflows`: limits of fan-outs and scripts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class WorkflowsSection(BaseModel):
    """`workflows`: how many agents of a run work at once, and what runs of a session may use."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    maxConcurrent: Annotated[int, Field(ge=1, le=64)] | None = None
    maxAgents: Annotated[int, Field(ge=1, le=10_000)] | None = None
    maxTokens: Annotated[int, Field(ge=1)] | None = None
    maxUsd: Annotated[float, Field(gt=0)] | None = None
    waitSeconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
    """How long a run without a screen waits for its workflows after its last turn."""
