"""`sandbox`: the keys of Claude Code's sandbox, and which of them apply from a project.

Next: `agent.sandbox.configuration` (how they work together).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, convert

from agent.typed_json.read_record import as_values


class SandboxFilesystemSection(Struct, frozen=True, kw_only=True):
    """`sandbox.filesystem`: paths beside the working directories."""

    allowWrite: list[str] | None = None
    denyWrite: list[str] | None = None
    denyRead: list[str] | None = None
    allowRead: list[str] | None = None
    allowManagedReadPathsOnly: bool | None = None
    disabled: bool | None = None


class SandboxNetworkSection(Struct, frozen=True, kw_only=True):
    """`sandbox.network`: hosts."""

    allowedDomains: list[str] | None = None
    deniedDomains: list[str] | None = None
    strictAllowlist: bool | None = None
    allowManagedDomainsOnly: bool | None = None
    allowUnixSockets: list[str] | None = None
    allowAllUnixSockets: bool | None = None
    allowLocalBinding: bool | None = None
    allowMachLookup: list[str] | None = None
    httpProxyPort: Annotated[int, Meta(ge=1, le=65535)] | None = None
    socksProxyPort: Annotated[int, Meta(ge=1, le=65535)] | None = None
    tlsTerminate: dict[str, Any] | None = None


class SandboxCredentialFile(Struct, frozen=True, kw_only=True):
    """One entry of `sandbox.credentials.files`."""

    path: str
    mode: Literal["deny", "mask"]


class SandboxCredentialVariable(Struct, frozen=True, kw_only=True):
    """One entry of `sandbox.credentials.envVars`."""

    name: str
    mode: Literal["deny", "mask"]


class SandboxCredentialsSection(Struct, frozen=True, kw_only=True):
    """`sandbox.credentials`: files and variables that commands do not see."""

    files: list[SandboxCredentialFile] | None = None
    envVars: list[SandboxCredentialVariable] | None = None
    awsPairs: list[Any] | None = None
    sigv4: Any | None = None
    allowPlaintextInject: bool | None = None


class SandboxSection(Struct, frozen=True, kw_only=True):
    """`sandbox`."""

    enabled: bool | None = None
    failIfUnavailable: bool | None = None
    autoAllowBashIfSandboxed: bool | None = None
    excludedCommands: list[str] | None = None
    hooks: bool | None = None
    allowUnsandboxedCommands: bool | None = None
    landlockGitWrites: bool | None = None
    filesystem: SandboxFilesystemSection | None = None
    network: SandboxNetworkSection | None = None
    credentials: SandboxCredentialsSection | None = None
    ignoreViolations: dict[str, list[str]] | None = None
    enableWeakerNestedSandbox: bool | None = None
    enableWeakerNetworkIsolation: bool | None = None
    allowAppleEvents: bool | None = None
    bwrapPath: str | None = None
    socatPath: str | None = None
    ripgrep: dict[str, Any] | None = None


SANDBOX_PARTS: Final[Mapping[tuple[str, ...], type[Struct]]] = {
    ("sandbox",): SandboxSection,
    ("sandbox", "filesystem"): SandboxFilesystemSection,
    ("sandbox", "network"): SandboxNetworkSection,
    ("sandbox", "credentials"): SandboxCredentialsSection,
}
"""The objects inside `sandbox` by path."""

_TIGHTENING: Final[Mapping[tuple[str, ...], bool | None]] = {
    ("enabled",): True,
    ("failIfUnavailable",): True,
    ("autoAllowBashIfSandboxed",): False,
    ("allowUnsandboxedCommands",): False,
    ("landlockGitWrites",): False,
    ("hooks",): True,
    ("filesystem", "denyWrite"): None,
    ("filesystem", "denyRead"): None,
    ("network", "deniedDomains"): None,
    ("network", "strictAllowlist"): True,
    ("credentials", "files"): None,
    ("credentials", "envVars"): None,
}
"""Keys that can only restrict, each with the value that does; None for any value."""

Values = dict[str, object]


def tightening_part(
    section: SandboxSection,
) -> tuple[SandboxSection | None, tuple[tuple[str, ...], ...]]:
    """Return the part of a project's section that applies, and the paths of ignored keys."""
    refused_paths: list[tuple[str, ...]] = []
    tightening: Values = {}
    for path, value in _leaves(values_of(section)):
        if path in _TIGHTENING and _TIGHTENING[path] in (None, value):
            level = tightening
            for step in path[:-1]:
                inner = level.setdefault(step, {})
                assert isinstance(inner, dict)
                level = inner
            level[path[-1]] = value
        elif _is_known(path):
            refused_paths.append(path)
    return (convert(tightening, SandboxSection) if tightening else None), tuple(refused_paths)


def add_section(first: SandboxSection, second: SandboxSection) -> SandboxSection:
    """Merge two sections: values of the first take precedence, lists and objects are joined."""
    return convert(_merge_values(values_of(first), values_of(second)), SandboxSection)


def values_of(section: SandboxSection) -> Values:
    """Return the keys that are set, as in the file."""
    return as_values(section)


def _merge_values(first: Values, second: Values) -> Values:
    result = dict(first)
    for key, value in second.items():
        mine = result.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            result[key] = _merge_values(mine, value)
        elif isinstance(mine, list) and isinstance(value, list):
            result[key] = [*mine, *(item for item in value if item not in mine)]
        else:
            result.setdefault(key, value)
    return result


def _leaves(values: Values) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the path and value of each key inside the known objects."""
    for key, value in values.items():
        if ("sandbox", key) in SANDBOX_PARTS and isinstance(value, dict):
            for inner, part in value.items():
                yield (key, inner), part
        else:
            yield (key,), value


def _is_known(path: tuple[str, ...]) -> bool:
    """Return whether the key is known; unknown keys are reported elsewhere."""
    return path[-1] in SANDBOX_PARTS["sandbox", *path[:-1]].__struct_fields__
