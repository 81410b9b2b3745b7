"""A server that wants a sign-in, and the authorization server it names, on this machine."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

Answer = tuple[int, dict[str, str], bytes]


class SignInServer:
    """Both servers, each answering at two ports; what they do can be changed while they run."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        """Requests by what they are for."""
        self.valid: set[str] = set()
        self.refresh_tokens: set[str] = set()
        self.clients: set[str] = set()
        self.secrets: dict[str, str] = {}
        """Of clients that have one, by their names."""
        self.expires_in = 3_600
        self.resource: str | None = None
        self.methods: list[str] | None = ["S256"]
        self._codes: dict[str, str] = {}
        self._count = 0
        self._servers: list[asyncio.Server] = []
        self.base = self.other_base = ""
        self.issuer = self.endpoints = ""
        """Where the authorization server is said to be, and its endpoints."""

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    async def __aenter__(self) -> SignInServer:
        for _ in range(2):
            self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.base, self.other_base = (
            f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in self._servers
        )
        self.issuer = self.endpoints = self.base
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().splitlines()
                method, target, _ = first.split(" ")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status, more, data = self._answer(method, target, headers, body)
                more = {"content-length": str(len(data)), **more}
                head_lines = "".join(f"{name}: {value}\r\n" for name, value in more.items())
                writer.write(f"HTTP/1.1 {status} X\r\n{head_lines}\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    def _answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        path = urlsplit(target).path
        self.seen[f"{method} {path}"] += 1
        match path:
            case "/mcp":
                return self._mcp(method, headers, body)
            case "/.well-known/oauth-protected-resource/mcp":
                return _json(
                    {"resource": self.resource or self.url, "authorization_servers": [self.issuer]}
                )
            case "/.well-known/oauth-authorization-server":
                return _json(self._metadata())
            case "/register":
                self._count += 1
                client = f"client-{self._count}"
                self.clients.add(client)
                return _json({**json.loads(body), "client_id": client}, 201)
            case "/authorize":
                return self._authorize(
                    {k: v[0] for k, v in parse_qs(urlsplit(target).query).items()}
                )
            case "/token":
                form = {k: v[0] for k, v in parse_qs(body.decode()).items()}
                return self._token(form, headers.get("authorization", ""))
            case _:
                return 404, {}, b""

    def _metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.endpoints}/authorize",
            "token_endpoint": f"{self.endpoints}/token",
            "registration_endpoint": f"{self.endpoints}/register",
            "response_types_supported": ["code"],
        }
        if self.methods is not None:
            metadata["code_challenge_methods_supported"] = self.methods
        return metadata

    def _authorize(self, query: Mapping[str, str]) -> Answer:
        assert query["resource"] == self.url
        self._count += 1
        code = f"code-{self._count}"
        self._codes[code] = query["code_challenge"]
        back = urlencode({"code": code, "state": query["state"]})
        return 302, {"location": f"{query['redirect_uri']}?{back}"}, b""

    def _token(self, form: Mapping[str, str], authorization: str) -> Answer:
        assert form["resource"] == self.url
        secret = self.secrets.get(form["client_id"])
        pair = base64.b64encode(f"{form['client_id']}:{secret}".encode()).decode()
        is_known = form["client_id"] in self.clients
        if not is_known or (secret is not None and authorization != f"Basic {pair}"):
            return _json({"error": "invalid_client"}, 401)
        if form["grant_type"] == "refresh_token":
            self.seen["refresh"] += 1
            if form["refresh_token"] not in self.refresh_tokens:
                return _json({"error": "invalid_grant"}, 400)
            self.refresh_tokens.discard(form["refresh_token"])
        else:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            assert self._codes.pop(form["code"]) == challenge
        self._count += 1
        access, refresh = f"access-{self._count}", f"refresh-{self._count}"
        self.valid.add(access)
        self.refresh_tokens.add(refresh)
        return _json(
            {
                "access_token": access,
                "token_type": "Bearer",
                "expires_in": self.expires_in,
                "refresh_token": refresh,
            }
        )

    def _mcp(self, method: str, headers: Mapping[str, str], body: bytes) -> Answer:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            metadata = f"{self.base}/.well-known/oauth-protected-resource/mcp"
            return 401, {"www-authenticate": f'Bearer resource_metadata="{metadata}"'}, b""
        if method != "POST":
            return 405, {}, b""
        request = json.loads(body)
        self.seen[request["method"]] += 1
        match request["method"]:
            case "initialize":
                result: dict[str, Any] = {
                    "protocolVersion": request["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "guarded", "version": "1"},
                }
            case "tools/list":
                tool = {"name": "echo", "inputSchema": {"type": "object"}}
                result = {"tools": [tool]}
            case "tools/call":
                result = {"content": [{"type": "text", "text": "done"}]}
            case _ if "id" in request:
                error = {"code": -32601, "message": "unknown"}
                return _json({"jsonrpc": "2.0", "id": request["id"], "error": error})
            case _:
                return 202, {}, b""
        return _json({"jsonrpc": "2.0", "id": request["id"], "result": result})


def _json(value: object, status: int = 200) -> Answer:
    return status, {"content-type": "application/json"}, json.dumps(value).encode()
