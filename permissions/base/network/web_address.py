"""Web addresses that a browser reads as they are read here."""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

_ADDRESS: Final = compile_late(
    r"https?://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
    r"(?:[/?#][a-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*)?",
    re.IGNORECASE,
)


def web_host(url: str) -> str:
    """Return the host of an http or https address that others made.

    There is one reading of what is returned for: no user name, which can look like the host, no
    backslash, which browsers take for a slash, and no letter that is written from right to left.

    Raises:
        ValueError: it is another address; the text says what is expected.
    """
    match = _ADDRESS.fullmatch(url)
    if match is None:
        raise ValueError(
            "not a plain web address (http or https, a host, and no user name or characters that "
            "have to be escaped)"
        )
    return match["host"].lower()
