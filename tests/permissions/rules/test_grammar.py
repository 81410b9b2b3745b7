"""The documented grammar of rules, tool by tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.confinement import Confinement
from permissions.decision import Behavior
from permissions.evaluate.cascade import decide
from permissions.mode import Mode, next_mode
from permissions.request import PermissionRequest
from permissions.rule import RuleSource, RuleText, matches
from permissions.rules.grammar import MalformedRule, ParsedRule, RuleBehavior, parse_rule
from tests.permissions.engine import Engine

MALFORMED = [
    ("", None), ("Bash(", "Bash"), ("Bash()", "Bash"), ("Bash( )", "Bash"), ("Bash)", "Bash"),
    ("Bash(ls))", "Bash"), ("Bash(ls) x", "Bash"), ("Bash(a\x00b)", "Bash"), ("!x", None),
    ("Read(!x)", "Read"), ("Edit(*/../x)", "Edit"), ("Read(~root/x)", "Read"),
    ("WebFetch(https://x.com/*)", "WebFetch"), ("WebFetch(domain:)", "WebFetch"),
    ("WebFetch(domain:https://x)", "WebFetch"), ("Bash(command:rm *)", "Bash"),
    ("Read(file_path:x)", "Read"), ("mcp__", None),
    ("TodoWrite(x)", "TodoWrite"),
    ("two words", None), ("Bash:*", "Bash"), ("Task:*", "Agent"), ("Edit:x", "Edit"),
    ("mcp__x:*", "mcp__x"), ("mcp__x:y", "mcp__x"), ("mcp__x(", "mcp__x"), ("mcp__:*", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tool"), MALFORMED)
def test_malformed(text: str, tool: str | None) -> None:
    parsed = parse_rule(text, RuleBehavior.DENY)
    assert isinstance(parsed, MalformedRule)
    assert parsed.tool == tool


@pytest.mark.parametrize("rule", ["mcp__gh:*", "mcp__gh(", "mcp__gh:x"])
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_a_deny_that_is_not_understood_asks_about_all_of_a_server(
    engine: Engine, rule: str, mode: Mode
) -> None:
    for tool, behavior in (("mcp__gh__x", Behavior.ASK), ("mcp__ghost__x", Behavior.ALLOW)):
        decision = engine.call(tool, {}, deny=[rule], allow=["mcp__gh", "mcp__ghost"], mode=mode)
        assert decision.behavior is behavior, decision.message


def test_a_deny_of_a_server_whose_name_may_end_with_underscores_denies(engine: Engine) -> None:
    for tool, behavior in (("mcp__gh__x", Behavior.DENY), ("mcp__ghost__x", Behavior.ALLOW)):
        decision = engine.call(tool, {}, deny=["mcp__gh__"], allow=["mcp__gh", "mcp__ghost"])
        assert decision.behavior is behavior, decision.message
    assert isinstance(parse_rule("mcp__gh__", RuleBehavior.ALLOW), MalformedRule)


ALLOW_ONLY_MALFORMED = [
    "*",
    "mcp__*",
    "mcp__g*__x",
    "Bash(timeout:5)",
    "Read(../x)",
    "Agent(model:opus)",
    "B*",
]


@pytest.mark.parametrize("text", ALLOW_ONLY_MALFORMED)
def test_wide_and_parameter_rules_are_for_deny_and_ask(text: str) -> None:
    assert isinstance(parse_rule(text, RuleBehavior.ALLOW), MalformedRule)
    assert isinstance(parse_rule(text, RuleBehavior.DENY), ParsedRule)


@pytest.mark.parametrize(
    "command",
    ["npm run a && npm run b", "make lint | tee out.log; make test", "npm run a 2>&1 | tail -5"],
)
def test_an_exact_rule_for_a_whole_command_allows_that_text_alone(
    engine: Engine, command: str
) -> None:
    allow = [f"Bash({command})"]
    decision = engine.bash(f" {command} ", allow=allow)
    assert decision.behavior is Behavior.ALLOW, decision.message
    assert decision.confinement is Confinement.PROJECT_FILES
    for other in (f"{command} x", f"{command} && ls x", command.replace("a", "c"), command[:9]):
        assert engine.bash(other, allow=allow).behavior is Behavior.ASK, other
    restriction = [f"Bash({command.split()[0]} *)"]
    assert engine.bash(command, allow=allow, deny=restriction).behavior is Behavior.DENY
    assert engine.bash(command, allow=allow, ask=restriction).behavior is Behavior.ASK
    assert engine.bash(command, allow=[f"Bash({command} *)"]).behavior is Behavior.ASK


@pytest.mark.parametrize(
    "command",
    [
        "npm run a && touch /etc/x", "cat x | bash", "npm run a > /etc/x", "make && $X",
        "a; eval $B", "echo ls | xargs sh -c", "npm run a && . ./x; $(cat y)",
    ],
)  # fmt: skip
def test_a_rule_for_a_whole_command_allows_nothing_that_its_text_leaves_open(
    engine: Engine, command: str
) -> None:
    assert engine.bash(command, allow=[f"Bash({command})"]).behavior is Behavior.ASK


PARENTS = [
    ("../outside/secret.txt", "../outside/secret.txt"), ("../outside/**", "../outside/secret.txt"),
    ("./../outside", "../outside/secret.txt"), ("/../outside", "../outside/secret.txt"),
    ("~/../outside", "../outside/secret.txt"), ("../project/.env", ".env"),
    ("src/../.env", ".env"), ("src/x/../../.env", ".env"),
    ("../*/secret.txt", "../outside/secret.txt"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize(("path", "file"), PARENTS)
def test_a_path_with_parents_restricts_that_path_alone(
    engine: Engine, path: str, file: str, kind: str
) -> None:
    behavior = Behavior(kind)
    texts = [RuleText(f"Read({path})", RuleBehavior(kind), RuleSource.PROJECT)]
    context = engine.context(texts=texts, additional_dirs=(engine.root.parent,))
    for path_text in (str(engine.root / file), str((engine.root / file).resolve())):
        request = PermissionRequest("Read", {"file_path": path_text})
        assert decide(request, context).behavior is behavior
    assert (
        decide(PermissionRequest("Bash", {"command": f"cat {file}"}), context).behavior is behavior
    )
    for free in ("src/a.py", "src/secret.txt", "src/.env", "outside", "../home/x"):
        request = PermissionRequest("Read", {"file_path": str(engine.root / free)})
        assert decide(request, context).behavior is Behavior.ALLOW, free


BASH = [
    ("ls *", "ls", True), ("ls *", "ls -la", True), ("ls *", "lsof", False), ("ls*", "lsof", True),
    ("ls:*", "ls -la", True), ("ls:*", "lsof", False), ("ls", "ls", True), ("ls", "ls -la", False),
    ("git * main", "git push origin main", True), ("git * main", "git main", False),
    ("* --version", "node --version", True), ("git:* push", "git push", False),
    ("npm run test:*", "npm run test:unit", False), ("npm run test:*", "npm run test", True),
    ("npm run test*", "npm run test:unit", True), ("echo \\*", "echo '*'", True),
    ("echo \\*", "echo x", False), ('echo "a b"', "echo 'a b'", True),
    ("echo a b", "echo 'a b'", False), ("ls  -la", "ls -la", True), ("ls -la", "ls   -la", True),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "command", "expected"), BASH)
def test_bash_patterns(engine: Engine, pattern: str, command: str, expected: bool) -> None:
    decision = engine.bash(command, allow=[f"Bash({pattern})"])
    assert (decision.behavior is Behavior.ALLOW) is expected


BOMB = ":(){ :|:& };:"
WHOLE = [
    (BOMB, BOMB, True), (BOMB, ": ( ) { : | : & } ; :", True), (BOMB, ":(){ :|:; };:", False),
    ("curl * | sh", "curl x|sh", True), ("curl * | sh", "curl x | shred", False),
    ("curl * | sh *", "curl x | sh", True), ("curl * | sh", "bash -c 'curl x | sh'", True),
    ("curl * | sh", "echo 'curl x | sh'", False),
    ("* > /dev/sda", "echo x >/dev/sda", True), ("* > /dev/sda", "echo x > /dev/sdb", False),
    ("f() { f; }", "f() { f; }", True), ("while true; do *", "while true; do ls; done", True),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "command", "expected"), WHOLE)
def test_deny_rules_may_spell_out_a_whole_command(
    engine: Engine, pattern: str, command: str, expected: bool
) -> None:
    decision = engine.bash(command, deny=[f"Bash({pattern})"], allow=["Bash"])
    assert (decision.reason == "deny_rule") is expected, decision.message


PATHS = [
    # behavior, rule, path, expected
    ("allow", "Edit(src/**)", "src/x/y", True), ("allow", "Edit(src/**)", "a/src/x", False),
    ("deny", "Edit(src/**)", "a/src/x", True), ("deny", "Edit(src/**)", "src/x", True),
    ("allow", "Edit(a.py)", "deep/in/a.py", True), ("allow", "Edit(./a.py)", "deep/a.py", False),
    ("allow", "Edit(./a.py)", "a.py", True), ("allow", "Edit(src/*.py)", "src/a.py", True),
    ("allow", "Edit(src/*.py)", "src/x/a.py", False), ("allow", "Edit(**/*.py)", "x/y/a.py", True),
    ("allow", "Edit(/src/a.py)", "src/a.py", False),
    ("allow", "Edit(src/a/**)", "a/src/a/x", False),
    ("deny", "Edit(src/a/**)", "a/src/a/x", False), ("allow", "Edit(*)", "x", True),
    ("allow", "Edit(src/[ab].py)", "src/a.py", True), ("allow", "Edit(src/?.py)", "src/a.py", True),
    ("allow", "Edit(src/[!a].py)", "src/a.py", False), ("allow", "Write(x)", "x", True),
    ("allow", "Edit(src/\\*.py)", "src/a.py", False), ("allow", "MultiEdit(x)", "x", False),
    ("deny", "Read(x)", "x", True), ("deny", "Write(x)", "x", True),
    ("deny", "Edit(x/)", "x", True),
    ("deny", "NotebookEdit(x)", "x", False), ("ask", "Edit(x)", "x", True),
]  # fmt: skip


@pytest.mark.parametrize(("behavior", "rule", "path", "expected"), PATHS)
def test_path_patterns(engine: Engine, behavior: str, rule: str, path: str, expected: bool) -> None:
    tool_input = {"file_path": path}
    rules = {behavior: [rule]}
    if behavior == "ask":
        rules["allow"] = ["Edit"]
    mode = Mode.ACCEPT_EDITS if behavior == "deny" else Mode.DEFAULT
    context = engine.context(
        allow=rules.get("allow", []),
        ask=rules.get("ask", []),
        deny=rules.get("deny", []),
        mode=mode,
    )
    decision = decide(PermissionRequest("Write", tool_input), context)
    assert (decision.reason == f"{behavior}_rule") is expected, decision.message


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        (RuleSource.PROJECT, "{root}/x", True),
        (RuleSource.LOCAL, "{root}/x", True),
        (RuleSource.CLI, "{root}/x", True),
        (RuleSource.USER, "{root}/x", False),
        (RuleSource.USER, "{home}/.agent/x", True),
        (RuleSource.POLICY, "{root}/x", False),
        (RuleSource.POLICY, "/x", True),
    ],
)
def test_slash_anchors_by_source(
    engine: Engine, source: RuleSource, path: str, expected: bool
) -> None:
    from permissions.evaluate.cascade import decide
    from permissions.request import PermissionRequest

    context = engine.context(deny=["Read(/x)"], source=source)
    place = path.format(root=engine.root, home=engine.home)
    decision = decide(PermissionRequest("Read", {"file_path": place}), context)
    assert (decision.reason == "deny_rule") is expected


@pytest.mark.parametrize(
    ("tool", "tool_input", "rule", "expected"),
    [
        ("Agent", {"subagent_type": "Explore"}, "Agent(Explore)", True),
        ("Task", {"subagent_type": "Explore"}, "Agent(Explore)", True),
        ("Agent", {"subagent_type": "Explore"}, "Task(Explore)", True),
        ("Agent", {"subagent_type": "Explore"}, "Agent(explore)", True),
        ("Agent", {"subagent_type": "explore"}, "Agent(Explore)", True),
        ("Agent", {"model": "opus"}, "Agent(model:opus)", True),
        ("Agent", {}, "Agent(model:opus)", False),
        ("Skill", {"skill": "deploy"}, "Skill(deploy)", True),
        ("Skill", {"skill": "deploy", "args": "prod"}, "Skill(deploy *)", True),
        ("Skill", {"skill": "deployer"}, "Skill(deploy *)", False),
        ("Skill", {"skill": "deploy", "args": "prod"}, "Skill(deploy:*)", True),
        ("Skill", {"skill": "deployer"}, "Skill(deploy:*)", False),
        ("Skill", {"skill": "deploy:staging"}, "Skill(deploy:*)", True),
        ("Skill", {"skill": "deploy:staging"}, "Skill(deploy *)", False),
        ("Skill", {"skill": "/deploy"}, "Skill(/deploy)", True),
        ("Skill", {"skill": "deploy"}, "SlashCommand(/deploy)", True),
        ("Skill", {"skill": "deploy", "args": "prod"}, "SlashCommand(/deploy:*)", True),
        ("Skill", {"skill": "deploy"}, "SlashCommand", True),
        ("Agent", {"subagent_type": "tools:lint"}, "Agent(tools:*)", True),
        ("Bash", {"command": "ls", "timeout": 5}, "Bash(timeout:5)", True),
        ("Bash", {"command": "ls"}, "Bash(timeout:5)", False),
        ("mcp__gh__x", {"level": "high"}, "mcp__gh__x(level:h*)", True),
        ("mcp__gh__x", {}, "mcp__gh", True),
        ("mcp__gh__x", {}, "mcp__gh__*", True),
        ("mcp__ghost__x", {}, "mcp__gh", False),
        ("mcp__gh__x", {}, "*", True),
        ("WebFetch", {"url": "https://a.b.x.com/"}, "WebFetch(domain:*.x.com)", True),
        ("WebFetch", {"url": "https://x.com/"}, "WebFetch(domain:*.x.com)", False),
        ("WebFetch", {"url": "https://a.x.com/"}, "WebFetch(domain:a*.x.com)", True),
        ("WebFetch", {"url": "https://a.b.x.com/"}, "WebFetch(domain:a*.x.com)", False),
        ("WebFetch", {"url": "https://y.com/"}, "WebFetch(domain:*)", True),
        ("Grep", {"pattern": "x", "path": "src"}, "Read(src/**)", True),
        ("Glob", {"pattern": "**/*.py", "path": "src"}, "Read(src/**)", True),
    ],
)  # fmt: skip
def test_deny_of_other_tools(
    engine: Engine, tool: str, tool_input: dict[str, object], rule: str, expected: bool
) -> None:
    decision = engine.call(tool, tool_input, deny=[rule])
    assert (decision.reason == "deny_rule") is expected, decision.message


@pytest.mark.parametrize(
    ("pattern", "tool", "tool_input", "expected"),
    [
        ("Bash(git push *)", "Bash", {"command": "FOO=1 git push x"}, True),
        ("Bash(git push *)", "Bash", {"command": "ls && git push"}, True),
        ("Bash(git push *)", "Bash", {"command": "ls"}, False),
        ("Bash(git push *)", "Bash", {"command": "ls $X"}, True),
        ("Bash(git *)", "Bash", {"command": "ls $X"}, False),
        ("Bash(git push *)", "Bash", {"command": "echo 'unbalanced"}, True),
        ("Bash", "Bash", {"command": "ls"}, True),
        ("Write(src/**/*.ts)", "Write", {"file_path": "src/a/b.ts"}, True),
        ("Write(src/**/*.ts)", "Edit", {"file_path": "src/a/b.ts"}, False),
        ("Edit(src/**)", "Edit", {"file_path": "deep/src/a"}, False),
        ("Edit(**/src/**)", "Edit", {"file_path": "deep/src/a"}, True),
        ("mcp__gh__*", "mcp__gh__x", {}, True),
        ("Bash(", "Bash", {"command": "ls"}, False),
    ],
)  # fmt: skip
def test_a_pattern_as_a_condition(
    pattern: str, tool: str, tool_input: dict[str, object], expected: bool
) -> None:
    place = Path("/project")
    found = matches(pattern, tool, tool_input, cwd=place, project_root=place, home=Path("/h"))
    assert found is expected


def test_the_cycle_of_modes() -> None:
    def cycle(**gates: bool) -> list[Mode]:
        seen = [Mode.DEFAULT]
        while (following := next_mode(seen[-1], **gates)) is not Mode.DEFAULT:
            seen.append(following)
        return seen

    short = [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN]
    assert cycle(bypass_available=False, auto_available=False) == short
    assert cycle(bypass_available=True, auto_available=False) == [*short, Mode.BYPASS]
    assert cycle(bypass_available=False, auto_available=True) == [*short, Mode.AUTO]
    assert cycle(bypass_available=True, auto_available=True) == [*short, Mode.BYPASS, Mode.AUTO]
    assert next_mode(Mode.DONT_ASK, bypass_available=True, auto_available=True) is Mode.DEFAULT


@pytest.mark.parametrize(
    "rule", ["Bash", "Bash(python *)", "Bash(npx *)", "Bash(* x)", "Bash(uv run *)", "Agent"]
)
def test_auto_strips_dangerous_rules(engine: Engine, rule: str) -> None:
    from permissions.matching.effective_rules import without_dangerous

    harmless = RuleText("Bash(git status)", RuleBehavior.ALLOW, RuleSource.USER)
    context = engine.context(allow=[rule], texts=[harmless])
    kept, dropped = without_dangerous(context.rules)
    assert [one.text for one in kept.rules] == ["Bash(git status)"]
    assert [one.text for one in dropped] == [rule]
