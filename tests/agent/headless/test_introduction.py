"""What a calling program asks for in `initialize`."""

from __future__ import annotations

from agent.headless.introduction import Request, read_introduction
from agent.options import RunOptions


async def _fire(_name: str, _payload: Request) -> Request | None:
    raise AssertionError("no hook is registered")


def test_texts_of_agents_can_be_asked_for() -> None:
    asked = read_introduction({"subtype": "initialize", "forwardSubagentText": True}, _fire)
    assert asked.applied_to(RunOptions()).forwards_agent_text
    plain = read_introduction({"subtype": "initialize", "forwardSubagentText": False}, _fire)
    assert not plain.applied_to(RunOptions()).forwards_agent_text
    assert plain.applied_to(RunOptions(forwards_agent_text=True)).forwards_agent_text
