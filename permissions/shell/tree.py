"""What more than one reader knows about the trees of tree-sitter-bash."""

from __future__ import annotations

import re

from tree_sitter import Node as TreeNode

WORDS = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "array",
        "test_operator",
        "semgrep_metavariable",
    }
)
"""What stands for one word of a command, or for a piece of one."""

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})

_LOST_DASH = re.compile(rb"[ \t]+-[ \t]+")


_PLAIN = rb"[A-Za-z0-9_./:@%+-]"
_PLAIN_REST = rb"(?: (?:-[A-Za-z0-9_./:@%+=-]*+|(?!-)" + _PLAIN + rb"++))*+"
PLAIN_COMMAND = re.compile(_PLAIN + rb"++" + _PLAIN_REST)
"""The text of a simple command that can be read in one way only: words with a blank between each
two, and in them no character that means anything to the shell. Where the tree says that a command
has such a text, nothing below its node has to be looked at."""


def raw_text(source: bytes, node: TreeNode) -> str:
    """Return the piece of `source` (UTF-8) that `node` was read from, as written."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def is_lost_dash(gap: bytes) -> bool:
    """Is this the lone `-` before a here-document, which the grammar drops?"""
    return _LOST_DASH.fullmatch(gap) is not None
