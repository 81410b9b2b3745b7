"""Secrets do not reach the disk; ordinary text does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.base.text.redactor import Redactor, is_secret, secrets_of

KEY = "sk-ant-" + "a1B2" * 8


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-proj-" + "x" * 30,
        "ghp_" + "A" * 36,
        "github_pat_" + "A1_" * 12,
        "glpat-" + "x" * 20,
        "AKIA" + "A" * 16,
        "AIza" + "b" * 35,
        "xoxb-123456789012-abcdef",
        "npm_" + "a" * 36,
        "hf_" + "a" * 34,
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiIx.c2lnbmF0dXJl",
    ],
    ids=lambda s: s[:8],
)
def test_formats_of_keys_are_taken_out(secret: str) -> None:
    out = Redactor().text(f"before {secret} after")
    assert secret not in out
    assert out.startswith("before [redacted: ")
    assert out.endswith("] after")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://user:hunter22@example.org/x", "https://[redacted"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest", "rest"),
    ],
)
def test_only_the_secret_part_goes(text: str, kept: str) -> None:
    out = Redactor().text(text)
    assert kept in out
    assert "hunter22" not in out
    assert "MII" not in out


@pytest.mark.parametrize(
    "text",
    ["task-force sk-short", "https://example.org:8080/a@b", "a_b", "eyJ", "bearer of news", "glx-"],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_known_values_go_by_name_the_longer_one_first() -> None:
    redactor = Redactor({"SHORT_KEY": "abcdefgh", "LONG_KEY": "abcdefghij"})
    out = redactor.text("abcdefghij abcdefgh")
    assert out == "[redacted: LONG_KEY] [redacted: SHORT_KEY]"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MY_API_KEY", "a8d7f6a8sd7f", True),
        ("DB_PASSWORD", "correct-horse", True),
        ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1", False),
        ("PWD", "/home/me/project1", False),
        ("KEYBOARD", "qwertzuiop", False),
        ("TOKEN", "short", False),
        ("AUTH_ENABLED", "true", False),
    ],
)
def test_variables_are_judged_by_name_and_value(name: str, value: str, expected: bool) -> None:
    assert is_secret(name, value) is expected
    assert (name in secrets_of({name: value})) is expected


def test_signatures_and_pictures_are_left_alone() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": KEY}
    image = {"type": "image", "source": {"type": "base64", "data": KEY}}
    message = {"content": [block, image]}
    assert Redactor().json(message) is message


@pytest.mark.parametrize("name", ["data", "signature", "encrypted_content"])
def test_a_parameter_of_a_tool_is_text_whatever_its_name(name: str) -> None:
    call = {"type": "tool_use", "name": "mcp__x__send", "input": {name: KEY}}
    assert KEY not in Redactor().line(json.dumps({"content": [call]}))


def test_names_of_fields_are_cleaned() -> None:
    assert KEY not in Redactor().line(json.dumps({"input": {"headers": {KEY: "x"}}}))


def test_json_is_cleaned_at_any_depth() -> None:
    value = {"a": [{"b": ("x", KEY)}], "n": 1}
    assert Redactor().json(value) == {"a": [{"b": ("x", "[redacted: Anthropic key]")}], "n": 1}


# -- finished lines -----------------------------------------------------------------------------

ODD = 'p"a\\s\ns-wörd🙂\\\\"x'
KNOWN = Redactor({"ODD": ODD, "PLAIN": "hunter2hunter2"})
PIECES = st.sampled_from(
    [
        *(ODD, json.dumps(ODD), json.dumps(json.dumps(ODD, ensure_ascii=False)), "hunter2hunter2"),
        *(KEY, "AKIA" + "A" * 16, "Bearer abcdefghijklmnop1234", "-----BEGIN PRIVATE KEY-----\nx"),
        *(
            "://",
            "user",
            ":",
            "pass word",
            "@",
            "p\"ss'w",
            "\n",
            "\t",
            "\\",
            '"',
            "é",
            "x",
            "_",
            " ",
        ),
        *("\ud83d", "\x00", "task-", "{", "}"),
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
NAMES = st.sampled_from(["a", "data", "signature", "content", 'q"'])
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.booleans(), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_a_finished_line_loses_what_each_field_would(
    value: object, ascii_only: bool, separators: tuple[str, str]
) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    assert json.loads(KNOWN.line(line)) == KNOWN.json(value)


@given(st.integers(0, 3), st.booleans(), TEXTS)
def test_a_known_value_is_found_in_its_json_form(depth: int, ascii_only: bool, text: str) -> None:
    value = ODD
    for _ in range(depth):
        value = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
    assert value not in KNOWN.text(f"{text} {value} {text}")


def test_a_line_without_secrets_is_the_same_text() -> None:
    line = json.dumps({"a": "see https://example.org/x:y and task-force"})
    assert KNOWN.line(line) is line


def test_a_line_that_is_no_json_is_read_as_text() -> None:
    assert KNOWN.line(f"12:00 {KEY}") == "12:00 [redacted: Anthropic key]"
