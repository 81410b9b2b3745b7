"""A rule about a server is about no other one, however that one is named."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.mcp.tool_names import full_name, server_key, split_name
from agent.permission_config.denied_tools import denied_tools
from agent.subagents.agent_tools import may_have, tools_of_servers
from agent.subagents.definition import AgentDefinition
from hooks.config.match import covers, parse_matcher
from permissions.decision import Behavior
from permissions.mode import Mode
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.rules.grammar import ParsedRule, parse_rule
from permissions.tool_names import is_mcp_name
from tests.permissions.engine import Engine, make_engine

NAMES = st.text("ab_.- é", min_size=1, max_size=8)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return make_engine(tmp_path_factory.mktemp("engine"))


TRICKY_SERVERS = ("my__server", "srv_", "a..b", "__x", "x__", "_", "!!", "é", "a b", "github")


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


def claude_name(server: str) -> str:
    """Return Claude Code's name for a server in rules."""
    return f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', server)}"


def rules_in_claude_spelling(server: str, tool: str) -> tuple[str, ...]:
    whole = claude_name(server)
    tool_part = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    return whole, f"{whole}__*", f"{whole}__{tool_part}"


def build(text: str, behavior: RuleBehavior) -> RuleSet:
    return RuleSet.build([RuleText(text, behavior, RuleSource.POLICY)])[0]


@given(st.one_of(NAMES, st.sampled_from(TRICKY_SERVERS)), NAMES)
def test_a_deny_in_another_spelling_denies_wherever_it_is_written(server: str, tool: str) -> None:
    name = full_name(server, tool)
    for text in rules_in_claude_spelling(server, tool):
        rules = build(text, RuleBehavior.DENY)
        assert not rules.warnings, text
        assert denied_tools(rules, [name]) == {name}, text
        for entry in (text, f"{text}()"):
            agent = AgentDefinition(name="x", description="", disallowed_tools=(entry,))
            assert not may_have(agent, name), text
    regular = f"{re.escape(claude_name(server))}__.*"
    for matcher in (regular, rules_in_claude_spelling(server, tool)[-1]):
        assert covers(parse_matcher(matcher), name), matcher


@pytest.mark.parametrize("server", TRICKY_SERVERS)
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_a_call_is_denied_or_asked_about_in_either_spelling(
    engine: Engine, server: str, mode: Mode
) -> None:
    name = full_name(server, "do.it")
    allow = [f"mcp__{server_key(server)}"]
    for text in chain(rules_in_claude_spelling(server, "do.it"), (f"{name}", *allow)):
        denied = engine.call(name, {}, deny=[text], allow=allow, mode=mode)
        assert denied.behavior is Behavior.DENY, text
        asked = engine.call(name, {}, ask=[text], allow=allow, mode=mode)
        assert asked.behavior is Behavior.ASK, text
    parameter = f"{rules_in_claude_spelling(server, 'do.it')[-1]}(target:prod)"
    for value, behavior in (("prod", Behavior.DENY), ("test", Behavior.ALLOW)):
        tool_input = {"target": value}
        decision = engine.call(name, tool_input, deny=[parameter], allow=allow, mode=mode)
        assert decision.behavior is behavior, parameter


def test_an_allow_in_another_spelling_covers_no_server(engine: Engine) -> None:
    for server, other in (("my__server", "my"), ("my__server", "my_server_"), ("srv_", "srv")):
        name = full_name(server, "tool")
        full_name(other, "server__tool")
        for text in rules_in_claude_spelling(server, "tool"):
            if text not in rules_in_claude_spelling(server_key(server), "tool"):
                assert engine.call(name, {}, allow=[text]).behavior is Behavior.ASK, text


def test_a_deny_of_one_server_leaves_its_neighbors(engine: Engine) -> None:
    for server, other in (("my__server", "my"), ("github", "github_x"), ("a", "a-b")):
        full_name(server, "tool")
        name = full_name(other, "tool")
        allow = [f"mcp__{server_key(other)}"]
        for text in rules_in_claude_spelling(server, "tool"):
            decision = engine.call(name, {}, deny=[text], allow=allow)
            assert decision.behavior is Behavior.ALLOW, text


def test_an_agent_has_the_tools_of_its_own_servers() -> None:
    for server in TRICKY_SERVERS:
        agent = AgentDefinition(name="x", description="", tools=(), mcp_servers=(server,))
        assert may_have(agent, full_name(server, "tool")), tools_of_servers(agent)
