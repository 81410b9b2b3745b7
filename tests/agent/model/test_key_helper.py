"""Keys printed by a command."""

from __future__ import annotations

import os

import pytest

from agent.model.client import ModelError
from agent.model.key_helper import read_helper_key


async def test_the_first_line_is_the_key() -> None:
    assert await read_helper_key("echo ' key '; echo more", env=os.environ) == "key"


@pytest.mark.parametrize("command", ["echo secret; exit 3", "true", "no-such-program-here"])
async def test_failures_do_not_repeat_the_output(command: str) -> None:
    with pytest.raises(ModelError) as caught:
        await read_helper_key(command, env=os.environ)
    assert caught.value.kind == "not_configured"
    assert "secret" not in str(caught.value)
