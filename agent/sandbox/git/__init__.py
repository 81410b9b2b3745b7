"""Git in a confined command: it never stops in the middle of a checkout."""
