"""A service account of Google's cloud, and a server on loopback that gives tokens for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

PROJECT = "a-project"
Asked = list[Mapping[str, list[str]]]


@asynccontextmanager
async def service_account(path: Path, key: rsa.RSAPrivateKey) -> AsyncIterator[Asked]:
    """Write the account's file; yield what is asked of the server, while it runs."""
    asked: Asked = []

    async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        asked.append(parse_qs((await reader.readexactly(length)).decode()))
        body = json.dumps({"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"})
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        writer.write(f"{head}content-type: application/json\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    tokens = await asyncio.start_server(give, "127.0.0.1", 0)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    account = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "1",
        "private_key": pem,
        "client_email": f"agent@{PROJECT}.example",
        "client_id": "1",
        "token_uri": f"http://127.0.0.1:{tokens.sockets[0].getsockname()[1]}/token",
    }
    path.write_text(json.dumps(account))
    async with tokens:
        yield asked
