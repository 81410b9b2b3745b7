"""A run imports the dialect of the provider that answers, no other; a vendor's SDK for clouds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from agent.model.scripted.scenario import Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from tests.agent.model.providers.service_account import PROJECT, service_account
from tests.journeys.forked_program import fork_program
from tests.journeys.program import environment

DIALECTS = {
    "agent.model.openai.responses_reader",
    "agent.model.openai.chat_reader",
    "agent.model.gemini.gemini_reader",
    "agent.model.clouds.cloud_client",
    "agent.model.providers.wire_client",
}
SDKS = {"anthropic", "openai", "google.genai", "google.auth", "boto3", "botocore", "jsonschema"}

# What the process has imported before it is forked would be listed too.
RUN = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from tui.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-5-5", set()),
        (
            "openai/gpt-5",
            {"agent.model.openai.responses_reader", "agent.model.providers.wire_client"},
        ),
        (
            "work/coder",
            {"agent.model.openai.chat_reader", "agent.model.providers.wire_client"},
        ),
        (
            "gemini/gemini-3-pro",
            {"agent.model.gemini.gemini_reader", "agent.model.providers.wire_client"},
        ),
        ("foundry/claude-opus-5-5", {"agent.model.clouds.cloud_client", "anthropic"}),
        ("bedrock/claude-opus-5-5", {"agent.model.clouds.cloud_client", "anthropic"}),
        (
            "vertex/claude-opus-5-5",
            {"agent.model.clouds.cloud_client", "anthropic", "google.auth"},
        ),
    ],
)
async def test_only_what_is_used(
    project: Path, fresh_home: Path, tmp_path: Path, model: str, expected: set[str]
) -> None:
    if "google.auth" in expected:
        pytest.importorskip("google.auth", reason="needs the extra `vertex`")
    account = tmp_path / "account.json"
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    async with (
        service_account(account, key),
        ScriptedServer(Scenario(turns=(Turn((Text("Hi."),)),))) as server,
    ):
        (fresh_home / ".agent").mkdir()
        at = {"baseUrl": server.base_url, "keyVariable": "ANTHROPIC_API_KEY"}
        providers = {
            "openai": at,
            "gemini": at,
            "work": at,
            "foundry": {"baseUrl": f"{server.base_url}/"},
            "vertex": {
                "baseUrl": f"{server.base_url}/v1",
                "options": {"region": "europe-west1", "project": PROJECT},
            },
            "bedrock": {"baseUrl": server.base_url, "options": {"region": "eu-central-1"}},
        }
        settings = {"providers": providers}
        (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
        env = environment(
            fresh_home,
            server.base_url,
            ANTHROPIC_FOUNDRY_API_KEY="key",
            AWS_BEARER_TOKEN_BEDROCK="bearer",
            GOOGLE_APPLICATION_CREDENTIALS=str(account),
        )
        process = await fork_program(["-p", "hi", "--model", model], project, env, code=RUN)
        out, err = await process.communicate()
    assert out.decode() == "Hi.\n"
    assert {*err.decode().split()} & (DIALECTS | SDKS) == expected
