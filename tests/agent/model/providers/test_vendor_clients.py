"""The vendors' own clients as referees: they read our server, and their types take our requests.

If they and our client understand the same server, server and client do not share one error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from pydantic import TypeAdapter

from agent.messages import user_message
from agent.model.scripted.faults import Status
from agent.model.scripted.scenario import Scenario, Text, Thinking, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.agent.model.providers.conftest import Serve, results

if TYPE_CHECKING:
    # Imported by what uses it: that takes as long as all other imports of a test.
    import openai
    from google.genai import types

BOTH = Turn(
    (
        Thinking("Two files are needed."),
        Text("I read both."),
        ToolCall("Read", {"path": "a.py"}),
        ToolCall("Read", {"path": "b.py"}),
    ),
    name="both",
)
DONE = Turn((Text("Done, both read."),), name="done")
TOOL: Any = {
    "type": "function",
    "strict": False,
    "name": "Read",
    "parameters": {"type": "object", "properties": {}},
}
FUNCTION: Any = {"name": "Read", "parameters": {"type": "object", "properties": {}}}


@asynccontextmanager
async def openai_client(*turns: Turn) -> AsyncIterator[tuple[openai.AsyncOpenAI, ScriptedServer]]:
    import openai

    async with ScriptedServer(Scenario(turns=turns)) as server:
        address = f"{server.base_url}/v1"
        async with openai.AsyncOpenAI(api_key="k", base_url=address, max_retries=0) as client:
            yield client, server


async def test_openais_client_reads_responses() -> None:
    async with (
        openai_client(BOTH) as (client, _),
        client.responses.stream(
            model="gpt-5",
            input="read both",
            store=False,
            tools=[TOOL],
        ) as stream,
    ):
        seen = [event.type async for event in stream]
        final = await stream.get_final_response()
    assert [item.type for item in final.output] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]
    assert final.output_text == "I read both."
    calls = [item for item in final.output if item.type == "function_call"]
    assert [json.loads(call.arguments) for call in calls] == [{"path": "a.py"}, {"path": "b.py"}]
    assert final.status == "completed"
    assert final.usage is not None
    assert "response.reasoning_summary_text.delta" in seen


async def test_openais_client_reads_an_unstreamed_response() -> None:
    async with openai_client(DONE) as (client, _):
        answer = await client.responses.create(model="gpt-5", input="hi", store=False)
    assert answer.output_text == "Done, both read."


async def test_openais_client_reads_chat_completions() -> None:
    async with (
        openai_client(BOTH) as (client, _),
        client.chat.completions.stream(
            model="m",
            messages=[{"role": "user", "content": "read both"}],
            stream_options={"include_usage": True},
            tools=[{"type": "function", "function": FUNCTION}],
        ) as stream,
    ):
        async for _event in stream:
            pass
        final = await stream.get_final_completion()
    message = final.choices[0].message
    assert message.content == "I read both."
    assert message.tool_calls is not None
    assert [json.loads(call.function.arguments) for call in message.tool_calls] == [
        {"path": "a.py"},
        {"path": "b.py"},
    ]
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage is not None


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "AuthenticationError"),
        (404, "NotFoundError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
    ],
)
async def test_openais_client_reads_errors(status: int, expected: str) -> None:
    import openai

    async with openai_client(Turn(fault=Status(status, message="no"))) as (client, _):
        with pytest.raises(getattr(openai, expected), match="no"):
            await client.responses.create(model="gpt-5", input="hi", store=False)


async def test_googles_client_reads_generated_content() -> None:
    from google import genai
    from google.genai import types

    async with ScriptedServer(Scenario(turns=(BOTH, DONE))) as server:
        http = httpx2.AsyncClient()
        options = types.HttpOptions(
            base_url=server.base_url, api_version="v1beta", httpx_async_client=http
        )
        client = genai.Client(api_key="k", http_options=options).aio
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="read both")])]
        parts: list[types.Part] = []
        async for chunk in await client.models.generate_content_stream(
            model="gemini-3-pro", contents=contents
        ):
            for candidate in chunk.candidates or []:
                parts += (candidate.content.parts or []) if candidate.content else []
        calls = [part.function_call for part in parts if part.function_call]
        assert [call.args for call in calls] == [{"path": "a.py"}, {"path": "b.py"}]
        assert [part.text for part in parts if part.thought] == ["Two files are needed."]
        contents.append(types.Content(role="model", parts=[p for p in parts if not p.thought]))
        answers = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"output": "x"}
                )
            )
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=answers))
        last = await client.models.generate_content(model="gemini-3-pro", contents=contents)
        assert last.text == "Done, both read."
        assert [each.problem for each in server.requests] == ["", ""]
        await http.aclose()


async def ours(serve: Serve, dialect: str) -> dict[str, Any]:
    """Return the body of a request of ours with everything in it."""
    stage = await serve(Scenario(turns=(BOTH, DONE)))
    first = (await stage.ask(dialect, user_message("read both"))).message()
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    history = [user_message("read both"), first, results(first)]
    await stage.ask(dialect, *history, effort="high", output_schema=schema)
    return stage.server.requests[1].body


async def test_openais_types_take_our_responses_request(serve: Serve) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    body = await ours(serve, "openai")
    TypeAdapter(ResponseCreateParamsStreaming).validate_python(body, strict=False)
    unknown = set(body) - set(ResponseCreateParamsStreaming.__annotations__)
    assert unknown - known_of(ResponseCreateParamsStreaming) == set()


async def test_openais_types_take_our_chat_request(serve: Serve) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    body = await ours(serve, "chat")
    TypeAdapter(CompletionCreateParamsStreaming).validate_python(body)
    assert set(body) - known_of(CompletionCreateParamsStreaming) == set()


def known_of(params: Any) -> set[str]:
    """Return all keys of a typed dictionary, those of its bases included."""
    return set(params.__required_keys__) | set(params.__optional_keys__)


async def test_googles_types_take_our_request(serve: Serve) -> None:
    from google.genai import types

    body = await ours(serve, "gemini")
    for content in body["contents"]:
        types.Content.model_validate(content)
    for tool in body["tools"]:
        types.Tool.model_validate(tool)
    types.Content.model_validate(body["systemInstruction"])
    types.ToolConfig.model_validate(body["toolConfig"])
    types.GenerationConfig.model_validate(body["generationConfig"])
    assert set(body) <= {
        "contents",
        "tools",
        "systemInstruction",
        "toolConfig",
        "generationConfig",
    }
