"""`workflows`: limits of fan-outs and scripts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class WorkflowsSection(Struct, frozen=True, kw_only=True):
    """`workflows`: how many agents of a run work at once, and what runs of a session may use."""

    maxConcurrent: Annotated[int, Meta(ge=1, le=64)] | None = None
    maxAgents: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    maxTokens: Annotated[int, Meta(ge=1)] | None = None
    maxUsd: Annotated[float, Meta(gt=0)] | None = None
    waitSeconds: Annotated[float, Meta(ge=0, le=86_400)] | None = None
    """How long a headless run waits for its workflows after its last turn."""
