"""`agents`: how many agents there may be, and what they may use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_Count = Annotated[int, Field(gt=0)]
_Usd = Annotated[float, Field(gt=0)]


class AgentsSection(BaseModel):
    """`agents`: limits of a session; at one the user is asked."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    maxConcurrent: Annotated[int, Field(ge=1, le=100)] | None = None
    maxDepth: Annotated[int, Field(ge=0, le=10)] | None = None
    """0: no agents at all."""
    maxStarts: _Count | None = None
    maxTokens: _Count | None = None
    maxUsd: _Usd | None = None
    maxTokensEach: _Count | None = None
    maxUsdEach: _Usd | None = None
    stallSeconds: Annotated[float, Field(gt=0)] | None = None
    onFailure: Literal["continue", "cancel", "retry"] | None = None
