"""Requests leave, and errors are read, as with the vendor's SDK, which only the tests have."""

from __future__ import annotations

import json

import httpx2
import pytest

from agent.messages import user_message
from agent.model.anthropic import make_client
from agent.model.client import ModelError, ModelRequest
from agent.model.failures import from_status

BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "Too busy."}}
CODED = {"error": {"type": "x", "message": "m", "details": {"error_code": "spend_limit"}}}


class Recorder:
    """A transport that keeps requests and answers 529."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []
        self.http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(529, json=BUSY)


def headers_of(request: httpx2.Request) -> dict[str, str]:
    # What the SDK says about itself is not part of the request.
    mute = ("x-stainless-", "content-length")
    return {name: value for name, value in request.headers.items() if not name.startswith(mute)}


@pytest.mark.parametrize("key_header", [False, True], ids=["bearer", "x-api-key"])
async def test_a_request_has_the_headers_and_the_body_of_the_sdk(
    monkeypatch: pytest.MonkeyPatch, key_header: bool
) -> None:
    import anthropic  # here: it takes as long as all other imports of a test

    ours, theirs = Recorder(), Recorder()
    monkeypatch.setattr("agent.model.connection.http_client", lambda _: ours.http)
    client = make_client(
        base_url="http://127.0.0.1:9/base", api_key="secret", headers={"X-Mine": "yes"}
    )
    if key_header:
        await client._pool.renew(key_header=True)
    request = ModelRequest(
        model="claude-sonnet-5",
        system=({"type": "text", "text": "Be brief."},),
        tools=(),
        messages=[user_message("größe")],
        max_tokens=100,
        betas=("one-2026", "two-2026"),
    )
    with pytest.raises(ModelError):
        async for _ in client.stream(request):
            pass
    sent = ours.requests[0]
    headers: dict[str, str | anthropic.Omit] = {"User-Agent": "agent-tui", "X-Mine": "yes"}
    if key_header:
        headers |= {"Authorization": anthropic.Omit(), "x-api-key": "secret"}
    sdk = anthropic.AsyncAnthropic(
        api_key="secret",
        base_url="http://127.0.0.1:9/base",
        default_headers=headers,  # type: ignore[arg-type]
        max_retries=0,
        http_client=theirs.http,
    )
    with pytest.raises(anthropic.APIStatusError):
        await sdk.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            body=json.loads(sent.content),
            options={"headers": {"anthropic-beta": "one-2026,two-2026"}},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
    assert (sent.method, sent.url) == (theirs.requests[0].method, theirs.requests[0].url)
    assert headers_of(sent) == headers_of(theirs.requests[0])
    assert json.loads(sent.content) == json.loads(theirs.requests[0].content)
    await client.aclose()


@pytest.mark.parametrize("body", [BUSY, CODED, {"message": "no"}, "text", [], None], ids=str)
async def test_an_error_is_read_as_the_sdk_reads_it(body: object) -> None:
    import anthropic

    response = httpx2.Response(
        529,
        json=body,
        headers={"request-id": "req_1"},
        request=httpx2.Request("POST", "http://127.0.0.1/v1/messages"),
    )
    theirs = anthropic.APIStatusError("", response=response, body=body)
    ours = from_status(response, response.content)
    assert ours.kind == (theirs.error_code or theirs.type or "http_529")
    assert (ours.status, ours.request_id) == (theirs.status_code, theirs.request_id)
    if theirs.api_message:
        assert str(ours) == theirs.api_message
