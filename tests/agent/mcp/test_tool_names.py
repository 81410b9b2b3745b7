"""A rule about a server is about no other one, however that one is named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.mcp.tool_names import full_name, server_key, split_name
from permissions.rule import RuleBehavior
from permissions.rules.grammar import ParsedRule, parse_rule
from permissions.tool_names import is_mcp_name

NAMES = st.text("ab_.- é", min_size=1, max_size=8)


@given(NAMES, NAMES, NAMES)
def test_a_rule_for_a_server_covers_its_tools_alone(server: str, other: str, tool: str) -> None:
    name = full_name(other, tool)
    assert is_mcp_name(name)
    is_same = server_key(server) == server_key(other)
    for text in (f"mcp__{server_key(server)}", f"mcp__{server_key(server)}__*"):
        rule = parse_rule(text, RuleBehavior.ALLOW)
        assert isinstance(rule, ParsedRule)
        assert rule.tool.matches(name) is is_same
    assert (split_name(name, [server]) is not None) is is_same
