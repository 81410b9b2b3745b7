"""OAuth for one server: decides when the SDK's flow may run, and stores its results.

Unless a user is signing in, tokens are only used and refreshed; if a server requires more,
`NeedsSignIn` is raised.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from ipaddress import ip_address
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec.structs import replace
from pydantic import AnyUrl, BaseModel, ValidationError

from agent.mcp.auth.sign_in_surface import SignInAttempt
from agent.mcp.auth.token_store import Fields, SignIn, TokenStore
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import ConnectFailed, NeedsSignIn
from agent.mcp.protocol.http_traffic import ADDRESSES
from hooks.ports import system_resolve
from permissions.base.network.guarded_connect import check_url
from permissions.base.network.private_addresses import METADATA, literal_address

M = TypeVar("M", bound=BaseModel)

SOON_S: Final = 30.0
"""A token that expires within this many seconds is refreshed first."""
WANTS_SIGN_IN: Final = "it requires you to sign in"
SIGN_IN_OVER: Final = "the sign-in is no longer valid"
WANTS_MORE: Final = "it requires you to sign in again, for more permissions than it gave"
_WELL_KNOWN: Final = (
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
)


class _Storage:
    """Adapts the token store to the SDK, for one server."""

    def __init__(self, store: TokenStore, url: str) -> None:
        self._store = store
        self._url = url

    async def get_tokens(self) -> OAuthToken | None:
        return _model(OAuthToken, (await self.read()).tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires_at = time.time() + tokens.expires_in if tokens.expires_in is not None else None
        await self.change(tokens=_fields(tokens), expires_at=expires_at, wanted_scope=None)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _model(OAuthClientInformationFull, (await self.read()).client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self.change(client=_fields(client_info))

    async def read(self) -> SignIn:
        return await asyncio.to_thread(self._store.read, self._url)

    async def change(self, **parts: Fields | float | str | None) -> None:
        await asyncio.to_thread(
            self._store.change, self._url, lambda entry: replace(entry, **parts)
        )


class ServerAuth(httpx2.Auth):
    """Authorizes the requests of one connection."""

    def __init__(
        self,
        definition: ServerDefinition,
        store: TokenStore,
        attempt: SignInAttempt | None,
        client_metadata_url: str | None,
    ) -> None:
        """`attempt` is the user's sign-in in progress, if there is one."""
        self._definition = definition
        self._store = store
        self._attempt = attempt
        self._storage = _Storage(store, definition.url)
        oauth = definition.oauth
        self._scopes = oauth.scopes if oauth is not None else None
        self._metadata_url = oauth.metadata_url if oauth is not None else None
        redirect = attempt.redirect_uri if attempt is not None else "http://localhost/callback"
        self._provider = OAuthClientProvider(
            server_url=definition.url,
            client_metadata=OAuthClientMetadata(
                client_name="agent-tui",
                redirect_uris=[AnyUrl(redirect)],
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
            ),
            storage=self._storage,
            redirect_handler=self._show,
            callback_handler=self._code_result,
            client_metadata_url=client_metadata_url,
        )
        self._is_loaded = self._wants_more = False
        self._issuer_ports: set[int | None] = set()
        """Loopback ports that served the metadata of an authorization server themselves."""

    @property
    def _user(self) -> SignInAttempt | None:
        attempt = self._attempt
        return None if attempt is None or attempt.is_over else attempt

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with a token; refresh it, or sign in if a user is signing in."""
        await self._load()
        refresh_lock = await self._hold_refresh()
        try:
            flow = _Flow(self._provider, request)
            outgoing: httpx2.Request | None = await flow.begin()
            is_sent = has_registered_again = has_refreshed = False
            while outgoing is not None:
                is_sent = is_sent or outgoing is request
                if outgoing is not request:
                    if is_sent and self._user is None:
                        raise NeedsSignIn(await self._sign_in_reason())
                    outgoing = await self._check_request(outgoing)
                response = yield outgoing
                await self._note_issuer(outgoing, response)
                if outgoing is request:
                    _release(refresh_lock)
                    refresh_lock = None
                    await self._note_scope(response)
                may_register = not (has_registered_again or self._has_own_client)
                if may_register and await _is_unknown_client(outgoing, response):
                    has_registered_again, is_sent = True, False
                    outgoing = await self._register_again(flow)
                elif self._may_refresh(outgoing is request, response) and not has_refreshed:
                    has_refreshed, is_sent = True, False
                    outgoing = await self._refresh_again(flow)
                else:
                    outgoing = await flow.answer(response)
            await self._store_server_metadata()
        finally:
            await flow.aclose()
            _release(refresh_lock)

    async def _load(self) -> None:
        """Load the stored sign-in into the flow, with the authorization server's endpoints."""
        if self._is_loaded:
            return
        self._is_loaded = True
        entry = await self._storage.read()
        if self._has_own_client:
            entry = await self._own_client(entry)
        context = self._provider.context
        context.oauth_metadata = _model(OAuthMetadata, entry.authorization_server)
        if context.oauth_metadata is not None:
            self._issuer_ports.add(_loopback_port(str(context.oauth_metadata.token_endpoint)))
        context.protected_resource_metadata = _model(ProtectedResourceMetadata, entry.resource)
        context.auth_server_url = entry.issuer
        # Read together, as another process may refresh them at any time.
        context.current_tokens = _model(OAuthToken, entry.tokens)
        context.token_expiry_time = entry.expires_at - SOON_S if entry.expires_at else None
        client = entry.client
        uris = _texts(client.get("redirect_uris")) if client is not None else []
        is_elsewhere = self._user is not None and self._user.redirect_uri not in uris
        if uris and is_elsewhere and not self._has_own_client:
            # The client was registered for another port.
            await self._storage.change(client=None)

    @property
    def _has_own_client(self) -> bool:
        """Whether the configuration contains a client id."""
        oauth = self._definition.oauth
        return oauth is not None and oauth.client_id is not None

    async def _own_client(self, entry: SignIn) -> SignIn:
        """Return the stored sign-in, with the configured client id."""
        oauth = self._definition.oauth
        assert oauth is not None
        if entry.client is not None and entry.client.get("client_id") == oauth.client_id:
            return entry
        client: Fields = {"client_id": oauth.client_id, "token_endpoint_auth_method": "none"}
        await self._storage.change(client=client, tokens=None, expires_at=None)
        return await self._storage.read()

    async def _hold_refresh(self) -> AbstractContextManager[None] | None:
        """Hold the refresh lock if a refresh is due; another process may have done it by then."""
        context = self._provider.context
        tokens = context.current_tokens
        if tokens is None or tokens.refresh_token is None or not self._is_expired():
            return None
        refresh_lock = self._store.refreshing(self._definition.url)
        await asyncio.to_thread(refresh_lock.__enter__)
        entry = await self._storage.read()
        fresh = _model(OAuthToken, entry.tokens)
        if fresh is not None and fresh.access_token != tokens.access_token:
            context.current_tokens = fresh
            context.token_expiry_time = entry.expires_at - SOON_S if entry.expires_at else None
        return refresh_lock

    def _is_expired(self) -> bool:
        expires_at = self._provider.context.token_expiry_time
        return expires_at is not None and time.time() > expires_at

    def _may_refresh(self, is_own: bool, response: httpx2.Response) -> bool:
        return (
            is_own
            and response.status_code == 401
            and self._provider.context.can_refresh_token()
            and not self._is_expired()
        )

    async def _refresh_again(self, flow: _Flow) -> httpx2.Request | None:
        """Restart the flow with a refresh, as the server no longer accepts the token."""
        self._provider.context.token_expiry_time = 1.0
        return await flow.restart()

    async def _register_again(self, flow: _Flow) -> httpx2.Request | None:
        """Restart the flow with a new client registration."""
        await self._storage.change(client=None)
        self._provider.context.client_info = None
        return await flow.restart()

    async def _check_request(self, outgoing: httpx2.Request) -> httpx2.Request:
        """Return a request of the flow, checked: not to internal hosts unless the server is
        one, not to a cloud's metadata service, and not in plain text unless the server is
        contacted so."""
        url = outgoing.url
        if self._metadata_url is not None and _asks_for_metadata(outgoing):
            outgoing = httpx2.Request("GET", self._metadata_url, headers=outgoing.headers)
            url = outgoing.url
        self._check_scheme(str(url))
        server = urlsplit(self._definition.url)
        if url.host == server.hostname and _loopback_port(str(url)) is None:
            return outgoing
        verdict = await asyncio.to_thread(check_url, str(url), system_resolve)
        server_verdict = await asyncio.to_thread(check_url, self._definition.url, system_resolve)
        if not verdict.addresses or (not verdict.is_allowed and server_verdict.is_allowed):
            raise ConnectFailed(f"signing in was stopped: {verdict.reason}")
        addresses = {ip_address(one.partition("%")[0]) for one in verdict.addresses}
        if METADATA & addresses:
            raise ConnectFailed(
                f"signing in was stopped: {url.host} gives out the credentials of this machine"
            )
        if any(one.is_loopback for one in addresses) and not self._may_use_port(outgoing):
            raise ConnectFailed(
                f"signing in was stopped: the server leads to {url.host}:{url.port} on this "
                "machine; name that in oauth.authServerMetadataUrl if it is right"
            )
        # Connect to the checked addresses, as the name may resolve differently later.
        outgoing.extensions[ADDRESSES] = verdict.addresses
        return outgoing

    def _may_use_port(self, outgoing: httpx2.Request) -> bool:
        """Return whether the sign-in may use a loopback port.

        A port that the configuration names may be used. Of other ports, a local server may use
        those of authorization servers: each is only asked for its metadata until it serves it.
        """
        port = _loopback_port(str(outgoing.url))
        server_port = _loopback_port(self._definition.url)
        if port is None or port in {server_port, _loopback_port(self._metadata_url or "")}:
            return port is not None
        is_known = port in self._issuer_ports or _asks_for_metadata(outgoing)
        return server_port is not None and is_known

    async def _note_issuer(self, outgoing: httpx2.Request, response: httpx2.Response) -> None:
        """Record the port of an authorization server that serves its metadata."""
        if response.status_code != 200 or not _asks_for_metadata(outgoing):
            return
        try:
            OAuthMetadata.model_validate_json(await response.aread())
        except ValidationError:
            return
        self._issuer_ports.add(_loopback_port(str(outgoing.url)))

    def _check_scheme(self, url: str) -> None:
        server = urlsplit(self._definition.url)
        if server.scheme == "https" and urlsplit(url).scheme != "https":
            host = urlsplit(url).hostname
            raise ConnectFailed(f"signing in was stopped: {host} is not asked over https")

    async def _show(self, url: str) -> None:
        attempt = self._user
        if attempt is None:
            raise NeedsSignIn(await self._sign_in_reason())
        metadata = self._provider.context.oauth_metadata
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise ConnectFailed(
                "signing in was stopped: the authorization server does not declare "
                "support for PKCE (S256)"
            )
        self._check_scheme(url)
        await attempt.show(await self._with_scopes(url))

    async def _with_scopes(self, url: str) -> str:
        """Return the URL with the configured scopes, or with those that the server has required
        since the last sign-in."""
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        scopes = query.get("scope", "").split()
        more_scopes = ((await self._storage.read()).wanted_scope or "").split()
        scope = self._scopes or " ".join(dict.fromkeys([*scopes, *more_scopes]))
        if not scope or scope == query.get("scope"):
            return url
        self._provider.context.client_metadata.scope = scope
        return urlunsplit(parts._replace(query=urlencode(query | {"scope": scope})))

    async def _note_scope(self, response: httpx2.Response) -> None:
        """Store the scopes that are missing, for the next sign-in."""
        if response.status_code != 403 or self._user is not None:
            return
        scope = extract_scope_from_www_auth(response)
        if extract_field_from_www_auth(response, "error") == "insufficient_scope" and scope:
            tokens = self._provider.context.current_tokens
            had = (tokens.scope or "").split() if tokens is not None else []
            self._wants_more = True
            await self._storage.change(wanted_scope=" ".join(dict.fromkeys([*had, *scope.split()])))

    async def _code_result(self) -> AuthorizationCodeResult:
        assert self._user is not None
        result = await self._user.wait_for_return()
        return AuthorizationCodeResult(code=result.code, state=result.state, iss=result.issuer)

    async def _store_server_metadata(self) -> None:
        """Store the authorization server's endpoints for later refreshes."""
        context = self._provider.context
        entry = await self._storage.read()
        if entry.tokens is None or context.oauth_metadata is None:
            return
        metadata = _fields(context.oauth_metadata)
        if entry.authorization_server != metadata:
            resource = context.protected_resource_metadata
            await self._storage.change(
                authorization_server=metadata,
                issuer=context.auth_server_url,
                resource=_fields(resource) if resource is not None else None,
            )

    async def _sign_in_reason(self) -> str:
        if self._wants_more:
            return WANTS_MORE
        # A rejected refresh leaves the stored tokens unchanged.
        has_tokens = (await self._storage.read()).tokens is not None
        return SIGN_IN_OVER if has_tokens else WANTS_SIGN_IN


class _Flow:
    """The SDK's flow for one request, which can be restarted."""

    def __init__(self, provider: OAuthClientProvider, request: httpx2.Request) -> None:
        self._provider = provider
        self._request = request
        self._flow = provider.async_auth_flow(request)

    async def begin(self) -> httpx2.Request | None:
        return await anext(self._flow, None)

    async def answer(self, response: httpx2.Response) -> httpx2.Request | None:
        try:
            return await self._flow.asend(response)
        except StopAsyncIteration:
            return None

    async def restart(self) -> httpx2.Request | None:
        await self._flow.aclose()
        self._flow = self._provider.async_auth_flow(self._request)
        return await self.begin()

    async def aclose(self) -> None:
        await self._flow.aclose()


async def _is_unknown_client(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Return whether an authorization server no longer knows our client registration."""
    if response.status_code not in {400, 401} or request.method != "POST":
        return False
    kind = request.headers.get("content-type", "")
    if not kind.startswith("application/x-www-form-urlencoded"):
        return False
    return b"invalid_client" in await response.aread()


def _asks_for_metadata(request: httpx2.Request) -> bool:
    """Return whether a request is for the metadata of an authorization server."""
    return request.method == "GET" and any(part in request.url.path for part in _WELL_KNOWN)


def _loopback_port(url: str) -> int | None:
    """Return the port of a loopback URL; None for any other URL."""
    parts = urlsplit(url)
    address = literal_address(parts.hostname or "")
    if parts.hostname != "localhost" and (address is None or not address.is_loopback):
        return None
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _release(refresh_lock: AbstractContextManager[None] | None) -> None:
    if refresh_lock is not None:
        refresh_lock.__exit__(None, None, None)


def _fields(model: BaseModel) -> Fields:
    return model.model_dump(mode="json", exclude_none=True)


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _model(kind: type[M], fields: Fields | None) -> M | None:
    if fields is None:
        return None
    try:
        return kind.model_validate(fields)
    except ValidationError:
        return None
