"""Requests to clouds carry what the clouds ask for: a signature of AWS, a token of Google."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from agent.model.clouds.cloud_client import CloudClient
from agent.model.dialects.provider import Provider
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from tests.agent.model.providers.service_account import PROJECT, service_account
from tests.agent.model.providers.test_clouds import ask

HELLO = Scenario(turns=(Turn((Text("Hello."),)),))
SECRET = "a-secret-of-a-test"


def signed(request: RecordedRequest, fields: Mapping[str, str]) -> str:
    """Return the signature that AWS would compute for a request ("Signature Version 4")."""
    body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()
    names = fields["SignedHeaders"].split(";")
    lines = [f"{name}:{' '.join(request.headers[name].split())}\n" for name in names]
    path = quote(unquote(request.path), safe="/-_.~")
    parts = (request.method, path, "", "".join(lines), ";".join(names))
    canonical = "\n".join((*parts, hashlib.sha256(body).hexdigest()))
    _, *scope = fields["Credential"].split("/")
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(("AWS4-HMAC-SHA256", request.headers["x-amz-date"], "/".join(scope), hashed))
    key = f"AWS4{SECRET}".encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


async def test_bedrock_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3", reason="needs the extra `bedrock`")
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-session")
    async with ScriptedServer(HELLO) as server:
        options = {"region": "eu-central-1"}
        provider = Provider(
            name="bedrock", speaks="bedrock", base_url=server.base_url, options=options
        )
        client = CloudClient(provider, {})
        try:
            assert (await ask(client)).message().text == "Hello."
        finally:
            await client.aclose()
    request = server.requests[0]
    kind, _, rest = request.headers["authorization"].partition(" ")
    fields = dict(each.strip().split("=", 1) for each in rest.split(","))
    assert kind == "AWS4-HMAC-SHA256"
    assert fields["Credential"].startswith("AKIATEST/")
    assert fields["Credential"].endswith("/eu-central-1/bedrock-mantle/aws4_request")
    assert {"host", "x-amz-date", "x-amz-security-token"} <= set(fields["SignedHeaders"].split(";"))
    assert fields["Signature"] == signed(request, fields)


async def test_vertex_asks_for_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.auth", reason="needs the extra `vertex`")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.delenv("ANTHROPIC_VERTEX_PROJECT_ID", raising=False)
    async with (
        service_account(tmp_path / "account.json", key) as asked,
        ScriptedServer(HELLO) as server,
    ):
        options = {"region": "europe-west1", "project": PROJECT}
        base_url = f"{server.base_url}/v1"
        provider = Provider(name="vertex", speaks="vertex", base_url=base_url, options=options)
        client = CloudClient(provider, {})
        try:
            assert (await ask(client)).message().text == "Hello."
        finally:
            await client.aclose()
    assert server.requests[0].headers["authorization"] == "Bearer a-token"
    assert server.requests[0].body["model"] == "claude-sonnet-5-5"
    assertion = asked[0]["assertion"][0]
    text, _, signature = assertion.rpartition(".")
    raw = base64.urlsafe_b64decode(f"{signature}==")
    key.public_key().verify(raw, text.encode(), padding.PKCS1v15(), hashes.SHA256())
    assert asked[0]["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
