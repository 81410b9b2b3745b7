"""What a conversation of a test is assembled from: a fresh user, and a scripted model."""

from __future__ import annotations

from pathlib import Path

from agent.assembly.assemble import Environment
from agent.model.endpoint import ModelSetup
from agent.model.endpoint_config import Endpoint


def user_at(home: Path, project: Path, **env: str) -> Environment:
    """The environment of a user who has set nothing up."""
    return Environment(
        launch_dir=project,
        home=home,
        agent_home=home / ".agent",
        env={"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", **env},
        uid=1000,
        version="test",
    )


def model_at(
    base_url: str,
    model: str | None = "claude-opus-5-5",
    *,
    small_model: str | None = "claude-haiku-5-5",
    fallback_models: tuple[str, ...] = (),
) -> ModelSetup:
    """The endpoint of a scripted server, with a key that it does not look at."""
    return ModelSetup(
        Endpoint(base_url=base_url, api_key="key"),
        model,
        small_model,
        fallback_models=fallback_models,
        origin="test",
    )
