"""The key of a step: a hash of its prompt and the options that change its answer.

Equal calls share a key and differ in their occurrence (reference page `orchestration-mode`,
section on journalling).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

KEYED_OPTIONS: Final = ("agentType", "effort", "findings", "isolation", "model", "schema")
"""Options that are part of the key; labels and phases do not affect the answer."""


def step_key(prompt: str, options: Mapping[str, object] | None = None) -> str:
    """Return 64 hexadecimal digits; the hash of the prompt alone if no such option is set."""
    key_options = {
        name: value
        for name in KEYED_OPTIONS
        if (value := (options or {}).get(name)) not in (None, False, "")
    }
    if not key_options:
        return _digest(prompt)
    return _digest(
        "v1\0" + json.dumps([prompt, key_options], sort_keys=True, separators=(",", ":"))
    )


def script_hash(text: str) -> str:
    """Return the hash by which "don't ask again" identifies a script."""
    return _digest(text)


def _digest(text: str) -> str:
    # A lone surrogate, which JSON allows, must not make a prompt unusable.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
