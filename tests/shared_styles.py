"""Parse each stylesheet once per process; Textual parses it for each app."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from textual.css import stylesheet
from textual.css.model import RuleSet
from textual.css.parse import parse
from textual.css.tokenize import tokenize_values
from textual.css.types import CSSLocation

_RULES: dict[tuple[object, ...], list[RuleSet]] = {}


@cache
def _tokens(values: frozenset[tuple[str, str]]) -> dict[str, Any]:
    return tokenize_values(dict(values))


def parse_once(
    scope: str,
    css: str,
    read_from: CSSLocation,
    variable_tokens: dict[str, Any],
    is_default_rules: bool,
    tie_breaker: int,
) -> Iterable[RuleSet]:
    """Return the parsed rules of a text, which are never modified."""
    # `_tokens` returns the same object for the same values, and keeps it alive.
    key = (scope, css, read_from, id(variable_tokens), is_default_rules, tie_breaker)
    if key not in _RULES:
        _RULES[key] = list(
            parse(scope, css, read_from, None, variable_tokens, is_default_rules, tie_breaker)
        )
    return _RULES[key]


@pytest.fixture(scope="session", autouse=True)
def styles_are_parsed_once() -> None:
    """Let the stylesheets of all apps use the cached rules."""
    module: Any = stylesheet
    module.tokenize_values = lambda values: _tokens(frozenset(values.items()))
    module.parse = parse_once
