"""`agents`: how many agents there may be, and what they may use."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

_Count = Annotated[int, Meta(gt=0)]
_Usd = Annotated[float, Meta(gt=0)]


class AgentsSection(Struct, frozen=True, kw_only=True):
    """`agents`: limits of a session; at one the user is asked."""

    maxConcurrent: Annotated[int, Meta(ge=1, le=100)] | None = None
    maxDepth: Annotated[int, Meta(ge=0, le=10)] | None = None
    """0: no agents at all."""
    maxStarts: _Count | None = None
    maxTokens: _Count | None = None
    maxUsd: _Usd | None = None
    maxTokensEach: _Count | None = None
    maxUsdEach: _Usd | None = None
    stallSeconds: Annotated[float, Meta(gt=0)] | None = None
    onFailure: Literal["continue", "cancel", "retry"] | None = None
