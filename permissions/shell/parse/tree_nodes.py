"""Node types and helpers for tree-sitter-bash trees, shared by several readers."""

from __future__ import annotations

from tree_sitter import Node as TreeNode

from permissions.base.text.late_pattern import compile_late

WORDS = frozenset(
    """
    word number string raw_string ansi_c_string concatenation simple_expansion expansion
    command_substitution process_substitution arithmetic_expansion brace_expression array
    test_operator semgrep_metavariable
    """.split()
)
"""Node types for one word of a command, or for a piece of one."""

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})

_LOST_DASH = compile_late(rb"[ \t]+-[ \t]+")


def raw_text(source: bytes, node: TreeNode) -> str:
    """Return the part of `source` (UTF-8) that `node` spans."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def is_lost_dash(gap: bytes) -> bool:
    """Return whether this is the single `-` before a redirection, which the grammar drops."""
    return _LOST_DASH.fullmatch(gap) is not None
