"""The audit log and its replay: one whole line per decision, no secret, and no decision held up."""

from __future__ import annotations

import json
import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from permissions.base.text.named_secrets import (
    is_secret_name,
    may_name_secrets,
    without_named_secrets,
)
from permissions.confinement import Confinement
from permissions.decision import Behavior, Decision, DecisionSource
from permissions.evaluate.cascade import decide
from permissions.explain.audit_log import MAX_VALUE_CHARS, AuditLog
from permissions.explain.audit_reader import logged_calls
from permissions.explain.decision_history import RuleUse, read_usage
from permissions.explain.replay import Difference, replay
from permissions.grants.advice import Advice, advise
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import denied_without_user, user_decision
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import NOTHING, Engine

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def bash(command: str) -> PermissionRequest:
    return PermissionRequest("Bash", {"command": command}, request_id="r1", tool_use_id="t1")


class Book:
    """An audit log in a folder, and a short way to decide and log."""

    def __init__(self, engine: Engine, directory: Path) -> None:
        self.engine = engine
        self.directory = directory
        self.path = directory / "2026-01.jsonl"
        self.mode = Mode.DEFAULT
        self.told: list[str] = []
        self.at = NOW
        self.log = AuditLog(
            self.path,
            session_id="s1",
            redact=lambda text: text.replace("hunter2", "[redacted]"),
            mode=lambda: str(self.mode),
            cwd=lambda: engine.root,
            directory=engine.root,
            now=lambda: self.at,
            notify=self.told.append,
        )

    def decided(self, command: str, answer: Decision | None = None, **rules: Any) -> Decision:
        """Judge a command, resolve an ask with `answer`, and log it."""
        request = bash(command)
        decision = decide(request, self.engine.context(mode=self.mode, **rules))
        if decision.behavior is Behavior.ASK:
            answer = answer or denied_without_user(decision)
            decision = replace(answer, trace=decision.trace, parts=decision.parts)
        self.log.write(decision, request)
        return decision

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines() if line]

    def replayed(self, since: str | None = None, **rules: Any) -> list[Difference]:
        return list(replay(self.directory, self.engine.context(**rules), earliest=since))


@pytest.fixture
def book(engine: Engine, tmp_path: Path) -> Book:
    return Book(engine, tmp_path / "audit")


# -- the log ------------------------------------------------------------------------------------


def test_a_line_holds_the_call_the_answer_and_how_it_came_about(book: Book) -> None:
    book.decided("git push", deny=["Bash(git push)"])
    (line,) = book.lines()
    keys = ("v", "at", "session_id", "tool_use_id", "mode", "tool", "input")
    assert {key: line[key] for key in keys} == {
        "v": 1,
        "at": "2026-01-31T12:00:00.000+00:00",
        "session_id": "s1",
        "tool_use_id": "t1",
        "mode": "default",
        "tool": "Bash",
        "input": {"command": "git push"},
    }  # fmt: skip
    assert (line["behavior"], line["source"], line["reason"], line["checked"]) == (
        "deny", "userSettings", "deny_rule", "deny",
    )  # fmt: skip
    assert line["rule"]["text"] == "Bash(git push)"
    assert {step["step"] for step in line["trace"]} == {"scope", "deny"}
    assert (line["folder"], line["cwd"]) == (str(book.engine.root), str(book.engine.root))


def test_an_event_has_a_line_that_no_replay_reads(book: Book) -> None:
    book.log.write_event("host", {"host": "a.example", "port": 443, "reason": "not hunter2"})
    book.decided("ls")
    event, decision = book.lines()
    assert (event["kind"], event["host"], event["port"]) == ("host", "a.example", 443)
    assert (event["session_id"], event["at"]) == (decision["session_id"], decision["at"])
    assert event["reason"] == "not [redacted]"
    (call,) = logged_calls(book.directory, book.engine.root)
    assert call.request.tool == "Bash"


def test_no_secret_is_kept_wherever_it_stands(book: Book) -> None:
    request = PermissionRequest(
        "mcp__db__query",
        {"sql": "x", "auth": {"hunter2": ["pass hunter2"]}},
    )
    book.log.write(user_decision(Behavior.DENY, feedback="not with hunter2"), request)
    book.decided("curl -u me:hunter2 https://a.example", deny=["Bash(curl *)"])
    assert "hunter2" not in book.path.read_text()
    assert book.path.read_text().count("[redacted]") >= 4


SECRET = "hunter3hunter3"


@pytest.mark.parametrize(
    "command",
    [
        f"curl -H 'Authorization: Bearer {SECRET}' https://example.com",
        f'curl -H "X-Api-Key: {SECRET}" -H "Cookie: a={SECRET}; b=1" https://example.com',
        f"curl -u me:{SECRET} https://example.com/?access_token={SECRET}&page=2",
        f"git clone https://{SECRET}{SECRET}@example.com/x.git",
        f"API_KEY={SECRET} DB_PASSWORD='{SECRET} {SECRET}' make deploy",
        f'export AWS_SECRET_ACCESS_KEY="{SECRET}"',
        f"mysql --password {SECRET} --host db; mysql --password={SECRET}",
        f"""curl -d '{{"password": "{SECRET}", "user": "me"}}' https://example.com""",
        f"kubectl create secret generic x --from-literal=db-password={SECRET}",
    ],
    ids=lambda command: command[:24],
)
def test_a_secret_is_recognized_by_the_name_before_it(book: Book, command: str) -> None:
    book.decided(command, allow=[f"Bash({command})"])
    line = book.path.read_text()
    assert SECRET not in line
    kept = json.loads(line)["input"]["command"]
    assert kept.replace("REDACTED", "") != ""
    assert kept.split()[0] == command.split()[0].replace(SECRET, "REDACTED")


def test_a_field_whose_name_suggests_a_secret_is_removed(book: Book) -> None:
    given = {"apiKey": SECRET, "nested": {"user_password": SECRET}, "key": "PROJ-12", "token": ""}
    request = PermissionRequest("mcp__a__b", given)
    book.log.write(decide(request, book.engine.context()), request)
    kept = json.loads(book.path.read_text())["input"]
    assert kept == {
        "apiKey": "REDACTED",
        "nested": {"user_password": "REDACTED"},
        "key": "PROJ-12",
        "token": "",
    }


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn password= src",
        "git push origin token",
        "TOKEN=$GITHUB_TOKEN gh api",
        "X=$(cat token.txt) make",
        "cat secrets/token.txt",
        "npm test -- --token-limit 300",
        "keyboard=us monkey=banana make",
        "ssh -p 22 git@example.com",
        "pip install 'x @ https://example.com/x.whl'",
    ],
)
def test_what_only_speaks_of_secrets_is_kept(book: Book, command: str) -> None:
    book.decided(command)
    assert json.loads(book.path.read_text())["input"]["command"] == command


@given(
    st.lists(st.sampled_from(
        ["PASSWORD", "api_key", "dsn", "=", ": ", '"', "'", "--token ", "-u me:", SECRET, "\\"]
    )).map("".join),
    st.booleans(),
)  # fmt: skip
def test_a_line_that_is_written_as_it_is_holds_no_named_secret(text: str, is_name: bool) -> None:
    line = json.dumps({text: "x"} if is_name else {"x": text})
    if not may_name_secrets(line):
        assert without_named_secrets(text) == text
        assert not is_secret_name(text)


def test_it_is_its_owner_s_alone(book: Book) -> None:
    book.decided("ls")
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(book.directory.stat().st_mode) == 0o700


def test_long_and_deep_inputs_are_cut_and_marked(book: Book) -> None:
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    request = PermissionRequest(
        "mcp__x__y", {"text": "x" * 20_000, "deep": deep, "many": [1] * 5_000}
    )
    book.log.write(user_decision(Behavior.ALLOW), request)
    (line,) = book.lines()
    assert line["input"]["text"].endswith(f"… ({20_000 - MAX_VALUE_CHARS} more)")
    assert line["input"]["many"][-1] == "… (4000 more)"
    assert "nested too deeply" in json.dumps(line["input"]["deep"], ensure_ascii=False)


def test_half_a_surrogate_pair_is_no_trouble(book: Book) -> None:
    book.decided("echo \ud83d")
    assert len(book.lines()) == 1


def test_sessions_that_write_at_once_never_mix_their_lines(book: Book) -> None:
    def write() -> None:
        for number in range(20):
            book.log.write(user_decision(Behavior.ALLOW), bash(f"echo {number} " + "x" * 5_000))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(book.lines()) == 80


def test_a_torn_line_does_not_spoil_the_next(book: Book) -> None:
    book.decided("ls")
    with book.path.open("a") as stream:
        stream.write('{"half":')
    Book(book.engine, book.directory).decided("pwd")
    whole = [json.loads(line) for line in book.path.read_text().splitlines()[::2]]
    assert [line["input"]["command"] for line in whole] == ["ls", "pwd"]


@pytest.mark.parametrize("obstacle", ["folder", "link", "pipe", "file above"])
def test_a_log_that_cannot_be_written_is_reported_once_and_holds_nothing_up(
    book: Book, obstacle: str
) -> None:
    if obstacle == "file above":
        book.directory.write_text("a file")
    else:
        book.directory.mkdir()
        if obstacle == "folder":
            book.path.mkdir()
        elif obstacle == "link":
            book.path.symlink_to(book.directory / "elsewhere")
        else:
            os.mkfifo(book.path)
    book.decided("ls")
    book.decided("pwd")
    assert len(book.told) == 1
    assert str(book.path) in book.told[0]
    assert book.log.problem == book.told[0]


def test_the_use_of_rules_is_read_from_all_logs(book: Book) -> None:
    rules: dict[str, Any] = {"allow": ["Bash(npm test)"], "deny": ["Bash(rm *)"]}
    book.decided("npm test && rm x", **rules)
    book.at = NOW.replace(day=3)
    book.decided("npm test", **rules)
    with book.path.open("a") as stream:
        stream.write('no JSON\n{"at": 3}\n{"at": "2026-01-01", "trace": []}\n')
    assert read_usage(book.directory) == {
        ("allow", "userSettings", "Bash(npm test)"): RuleUse(2, NOW),
        ("deny", "userSettings", "Bash(rm *)"): RuleUse(1, NOW),
    }
    assert read_usage(book.directory / "missing") == {}


# -- the replay ---------------------------------------------------------------------------------


def test_only_what_today_s_rules_answer_otherwise_is_a_change(book: Book) -> None:
    yes = user_decision(Behavior.ALLOW)
    book.decided("git push", yes)
    book.decided("npm test", allow=["Bash(npm test)"])
    book.decided("rm -r x", deny=["Bash(rm *)"])
    book.decided("make")
    found = book.replayed(allow=["Bash(git push)"], deny=["Bash(make *)"])
    assert [(d.call, d.old_behavior, d.now) for d in found if d.is_changed] == [
        ("Bash(git push)", "allow", "allow"),
        ("Bash(npm test)", "allow", "ask"),
        ("Bash(rm -r x)", "deny", "ask"),
        ("Bash(make)", "deny", "deny"),
    ]
    same = book.replayed(allow=["Bash(npm test)"], deny=["Bash(rm *)"])
    assert [d.is_changed for d in same] == [False] * 4


def test_what_a_hook_or_the_classifier_said_is_no_change_of_rules(book: Book) -> None:
    request = bash("npm test")
    context = book.engine.context(allow=["Bash(npm test)"])
    by_hook = replace(decide(request, context), behavior=Behavior.DENY, source=DecisionSource.HOOK)
    book.log.write(by_hook, request)
    assert [d.is_changed for d in book.replayed(allow=["Bash(npm test)"])] == [False]


def test_calls_are_judged_in_their_mode_and_directory(book: Book, engine: Engine) -> None:
    book.mode = Mode.ACCEPT_EDITS
    book.decided("touch a")
    book.mode = Mode.BYPASS
    book.decided("make")
    elsewhere = Book(engine, book.directory)
    elsewhere.log = AuditLog(book.path, session_id="s2", directory=Path("/elsewhere"))
    elsewhere.decided("make")
    assert [(d.call, d.now, d.is_changed) for d in book.replayed()] == [
        ("Bash(touch a)", "allow", False),
        ("Bash(make)", "allow", False),
    ]


def test_since_leaves_out_what_is_older(book: Book) -> None:
    book.decided("old")
    book.at = NOW.replace(month=2, day=1)
    book.decided("new")
    assert [d.call for d in book.replayed(since="2026-02-01")] == ["Bash(new)"]


def test_what_cannot_be_judged_again_is_skipped(book: Book) -> None:
    book.decided("echo " + "x" * 20_000)
    bad: list[object] = [3, [], {}, {"at": 1, "tool": "Bash", "input": 3}, {"at": "a", "tool": "b"}]
    with book.path.open("a") as stream:
        stream.write("\n".join(json.dumps(line) for line in bad) + "\nno JSON\n")
    book.decided("ls")
    assert [d.call for d in book.replayed()] == ["Bash(ls)"]


def test_a_change_is_reported_in_one_line_and_in_json(book: Book, engine: Engine) -> None:
    book.decided("make", user_decision(Behavior.ALLOW))
    (change,) = book.replayed(deny=["Bash(make *)"])
    assert change.describe().startswith(
        "2026-01-31T12:00:00.000+00:00  Bash(make): allow by user → deny ("
    )
    assert json.loads(change.to_json())["checked"] == "ask"


# -- advice --------------------------------------------------------------------------------------


def advised(book: Book, **rules: Any) -> Advice:
    usage = read_usage(book.directory)
    calls = logged_calls(book.directory, book.engine.root)
    return advise(calls, book.engine.context(**rules), usage)


YES = user_decision(Behavior.ALLOW)
NO = user_decision(Behavior.DENY)


def test_questions_are_counted_by_their_cause(book: Book) -> None:
    for hours, command in enumerate(["make", "make x", "git push", "cat /etc/hosts"]):
        book.at = NOW + timedelta(hours=hours)
        book.decided(command, YES, ask=["Bash(git push *)"])
    book.decided("npm test", allow=["Bash(npm test)"])
    found = advised(book)
    assert (found.decisions, found.question_count, found.hours) == (5, 4, 3.0)
    assert dict(found.causes) == {
        "no rule matched": 2, "ask rule Bash(git push *)": 1, "the scope asked": 1,
    }  # fmt: skip
    assert found.per_hour == pytest.approx(4 / 3)


def test_a_rule_is_proposed_with_the_questions_it_would_have_spared(book: Book) -> None:
    for command in ["npm test", "npm test -- -w", "make", "make", "make", "git status && make"]:
        book.decided(command, YES)
    assert [(one.rules, one.spares) for one in advised(book).proposals] == [
        (("Bash(make)",), 3), (("Bash(npm test *)",), 2),
    ]  # fmt: skip
    assert [one.rules for one in advised(book, allow=["Bash(make)"]).proposals] == [
        ("Bash(npm test *)",)
    ]


def test_no_rule_is_proposed_that_would_have_run_what_was_refused(book: Book) -> None:
    book.decided("git push origin main", YES)
    book.decided("git push", YES)
    book.decided("git push --force", NO)
    assert advised(book).proposals == ()


def test_rules_that_never_decided_are_named(book: Book) -> None:
    texts = [
        RuleText(text, RuleBehavior.ALLOW, RuleSource.USER, "/s.json", line)
        for line, text in enumerate(["Bash(make)", "Bash(tox)"], 3)
    ]
    book.decided("make", texts=texts)
    assert [rule.text for rule in advised(book, texts=texts).unused_rules] == ["Bash(tox)"]


def test_an_empty_log_has_no_advice(book: Book) -> None:
    assert advised(book) == Advice(0, 0, 0.0, (), ())


def test_a_line_names_the_confinement_and_what_was_opened(engine: Engine, tmp_path: Path) -> None:
    book = Book(engine, tmp_path)
    place = str(engine.root.parent / "outside")
    book.decided("make", allow=["Bash(make *)"], sandbox=NOTHING)
    yes = replace(user_decision(Behavior.ALLOW), confinement=Confinement.NONE, write_dirs=(place,))
    book.decided(f"touch {place}/x", yes)
    book.decided("rm x", deny=["Bash(rm *)"])
    lines = [json.loads(line) for line in book.path.read_text().splitlines()]
    assert [line["confinement"] for line in lines] == ["project_files", "none", None]
    assert [line["write_dirs"] for line in lines] == [[], [place], []]
    assert [entry["held"] for entry in lines[0]["trace"] if "held" in entry] == [False]
