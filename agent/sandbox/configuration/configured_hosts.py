"""The hosts that settings and permission rules allow and deny, as one value."""

from __future__ import annotations

from collections.abc import Iterator

from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.network.host_name import InvalidHost
from agent.sandbox.network.host_rules import HostRule, HostRules, parse_host_rule
from permissions.rule import RuleBehavior, RuleSet, RuleSource
from permissions.rules.grammar import DomainPattern


def configured_hosts(sandbox: SandboxSettings, rules: RuleSet) -> HostRules:
    """Return the lists in force; `WebFetch(domain:…)` rules count as entries without a port."""
    allow = tuple(_of_rules(rules, RuleBehavior.ALLOW))
    if sandbox.managed_domains_only:
        allow = tuple(rule for rule in allow if rule.source is RuleSource.POLICY)
    deny = tuple(_of_rules(rules, RuleBehavior.DENY))
    return HostRules((*sandbox.hosts.allow, *allow), (*sandbox.hosts.deny, *deny))


def _of_rules(rules: RuleSet, behavior: RuleBehavior) -> Iterator[HostRule]:
    for rule in rules.rules:
        pattern = rule.specifier
        if rule.behavior is not behavior or not isinstance(pattern, DomainPattern):
            continue
        if not rule.tool.matches("WebFetch"):
            continue
        try:
            hosts = parse_host_rule(pattern.host).hosts
        except InvalidHost:
            if behavior is RuleBehavior.ALLOW:
                continue
            hosts = pattern
        yield HostRule(rule.text, hosts, source=rule.source)
