"""Which server, key and model the environment and the settings add up to."""

from __future__ import annotations

import pytest

from agent.model.endpoint import (
    DEFAULT_MODEL,
    DEFAULT_SMALL_MODEL,
    ModelSettings,
    ModelSetup,
    Unconfigured,
    resolve_model,
)
from agent.model.endpoint_config import NO_KEY, OFFICIAL_URL, Endpoint


def setup(env: dict[str, str], **options: object) -> ModelSetup:
    resolved = resolve_model(env=env, **options)  # type: ignore[arg-type]
    assert isinstance(resolved, ModelSetup), resolved
    return resolved


def test_nothing_set_says_what_to_set() -> None:
    resolved = resolve_model(env={})
    assert isinstance(resolved, Unconfigured)
    assert "ANTHROPIC_API_KEY" in resolved.reason
    assert "ANTHROPIC_BASE_URL" in resolved.reason


def test_a_key_alone_means_the_vendor_and_the_default_models() -> None:
    found = setup({"ANTHROPIC_API_KEY": " k\n"})
    assert found.endpoint == Endpoint(OFFICIAL_URL, api_key="k")
    assert (found.model, found.small_model) == (DEFAULT_MODEL, DEFAULT_SMALL_MODEL)
    assert found.origin == "ANTHROPIC_API_KEY"


def test_the_key_goes_before_the_token_and_both_before_the_helper() -> None:
    both = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"}
    assert setup(both, helper_key="h").endpoint == Endpoint(api_key="k")
    token = setup({"ANTHROPIC_AUTH_TOKEN": "t"}, helper_key="h")
    assert token.endpoint == Endpoint(auth_token="t")
    helped = setup({}, helper_key="h").endpoint
    assert helped.api_key == "h"
    assert "apiKeyHelper" in helped.key_source
    refused = resolve_model(env={}, helper_key="ü")
    assert isinstance(refused, Unconfigured)
    assert refused.reason.startswith("The key that apiKeyHelper printed contains")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://localhost:11434", "http://localhost:11434"),
        ("localhost:11434/v1/", "http://localhost:11434"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://gateway.example/anthropic/v1", "https://gateway.example/anthropic"),
    ],
)
def test_another_server_needs_no_key_and_no_v1(given: str, url: str) -> None:
    resolved = setup({"ANTHROPIC_BASE_URL": given})
    assert resolved.endpoint == Endpoint(url, auth_token=NO_KEY)
    assert resolved.model is None


@pytest.mark.parametrize("bad", ["ftp://x", "http://", "nonsense", "http://a b", "http://x:99999"])
def test_what_is_no_address_is_reported(bad: str) -> None:
    resolved = resolve_model(env={"ANTHROPIC_BASE_URL": bad, "ANTHROPIC_API_KEY": "k"})
    assert isinstance(resolved, Unconfigured)
    assert bad in resolved.reason


def test_a_key_with_a_line_break_inside_is_not_shown() -> None:
    resolved = resolve_model(env={"ANTHROPIC_API_KEY": "sk-one\nsk-two"})
    assert isinstance(resolved, Unconfigured)
    assert "sk-" not in resolved.reason


def test_the_flag_goes_before_the_variable_and_that_before_settings() -> None:
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "from-env"}
    settings = ModelSettings(model="from-settings", small_model="haiku")
    assert setup(env, settings=settings, flag_model="opus").model == "claude-opus-5-5"
    assert setup(env, settings=settings).model == "from-env"
    del env["ANTHROPIC_MODEL"]
    assert setup(env, settings=settings).model == "from-settings"
    assert setup(env, settings=settings).small_model == "claude-haiku-5-5"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("opus[1m]", "claude-opus-5-5"),
        ("claude-sonnet-5-5[1M]", "claude-sonnet-5-5"),
        ("qwen3:8b", "qwen3:8b"),
    ],
)
def test_the_ending_for_a_large_window_is_no_part_of_a_models_id(name: str, model: str) -> None:
    assert setup({"ANTHROPIC_API_KEY": "k"}, flag_model=name).model == model


def test_custom_headers_are_lines_and_bad_ones_are_not_repeated() -> None:
    env = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: a: b\n\nsecret nonsense\nx y: z",
    }
    resolved = setup(env)
    assert resolved.endpoint.headers == {"X-Team": "a: b"}
    assert len(resolved.warnings) == 2
    assert not any("secret" in warning for warning in resolved.warnings)


def test_secrets_do_not_show_in_the_repr() -> None:
    endpoint = Endpoint(api_key="sk-secret", headers={"x": "sk-secret"})
    assert "sk-secret" not in repr(endpoint)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.9:1", True),
        ("http://localhost", True),
        ("http://[::1]:1", True),
        ("http://127.0.0.1.example.com", False),
        ("http://10.0.0.1", False),
    ],
)
def test_what_counts_as_this_machine(url: str, local: bool) -> None:
    assert Endpoint(url).is_loopback is local
