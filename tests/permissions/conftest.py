"""One project on disk for the whole run: the engine only looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permissions.engine import Engine, make_engine


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return make_engine(tmp_path_factory.mktemp("engine"))


@pytest.fixture
def own_engine(tmp_path: Path) -> Engine:
    """A project of its own for a test that changes files."""
    return make_engine(tmp_path / "own")
