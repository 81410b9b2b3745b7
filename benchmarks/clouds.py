"""Settings and credentials for measuring the program with Claude on cloud providers.

The addresses of the clouds are those of the scripted model; a local server issues Google's tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLOUDS: Final = {
    "Bedrock": "bedrock/benchmark",
    "Vertex": "vertex/benchmark",
    "Foundry": "foundry/benchmark",
}
_TOKEN: Final = {"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}


def cloud_providers(base_url: str) -> dict[str, Mapping[str, object]]:
    """Return the `providers` settings for clouds at `base_url`."""
    return {
        "bedrock": {"baseUrl": base_url, "options": {"region": "eu-central-1"}},
        "vertex": {
            "baseUrl": f"{base_url}/v1",
            "options": {"region": "europe-west1", "project": "a-project"},
        },
        "foundry": {"baseUrl": f"{base_url}/"},
    }


@contextmanager
def cloud_credentials(home: Path) -> Iterator[dict[str, str]]:
    """Yield the variables with credentials; the token server runs until the context ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Tokens)
    Thread(target=server.serve_forever, daemon=True).start()
    account = home / "account.json"
    account.write_text(json.dumps(_account(f"http://127.0.0.1:{server.server_port}/token")))
    try:
        yield {
            "AWS_ACCESS_KEY_ID": "AKIATEST",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "ANTHROPIC_FOUNDRY_API_KEY": "key",
            "GOOGLE_APPLICATION_CREDENTIALS": str(account),
        }
    finally:
        server.shutdown()
        server.server_close()


class _Tokens(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.dumps(_TOKEN).encode()
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing, because the benchmark's table goes to the same place."""


def _account(token_uri: str) -> dict[str, str]:
    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "project_id": "a-project",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "agent@a-project.example",
        "client_id": "1",
        "token_uri": token_uri,
    }
