"""Scripts run for real, in QuickJS in a process of its own, the hostile ones too."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agent.orchestration.script import script_engine
from agent.orchestration.script.script_engine import (
    Allowed,
    CallRejected,
    Json,
    ScriptCall,
    ScriptPorts,
    Spent,
    has_engine,
    run_script,
)
from agent.orchestration.script.script_meta import ScriptError, read_script
from permissions.base.process.spawn import Launch

pytestmark = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
HEAD = "export const meta = { name: 'x', description: 'd' };\n"


class Host:
    """Answers agent calls with their prompt."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logged: list[tuple[str, str]] = []
        self.launched: list[Launch] = []
        self.third = asyncio.Event()

    async def answer(self, call: ScriptCall) -> Json:
        prompt = str(call.payload.get("prompt"))
        self.asked.append(prompt)
        if len(self.asked) == 3:
            self.third.set()
        await asyncio.sleep(0)
        if prompt == "bad":
            raise CallRejected("no such agent")
        return f"re: {prompt}"

    async def run(self, body: str, args: Json = None) -> Json:
        ports = ScriptPorts(
            self.answer,
            lambda kind, text: self.logged.append((kind, text)),
            lambda: Spent(1.5, 10),
            self.confine,
            Allowed(5.0, 100),
            cpu_s=0.5,
        )
        return await run_script(read_script(HEAD + body), args, ports)

    def confine(self, launch: Launch) -> Launch:
        self.launched.append(launch)
        return launch


@pytest.fixture
def host() -> Host:
    return Host()


async def test_agents_answer(host: Host) -> None:
    assert await host.run("return [await agent('a', {label: 'l'}), args.n]", {"n": [1]}) == [
        "re: a",
        [1],
    ]
    assert host.launched[0].env.keys() == {"PYTHONPATH"}


async def test_a_pipeline_has_no_barrier_and_a_failed_item_is_null(host: Host) -> None:
    body = """phase('Find'); log('begin', {n: 1});
    const named = (answer, item, n) => answer + item + n;
    return await pipeline(['a', 'bad', 'c'], item => agent(item), named)"""
    assert await host.run(body) == ["re: aa0", None, "re: cc2"]
    assert host.logged[:2] == [("phase", "Find"), ("log", 'begin {"n":1}')]
    assert ("log", "item 2: Error: no such agent") in host.logged


async def test_parallel_waits_for_all_and_never_rejects(host: Host) -> None:
    body = "const f = () => { throw new Error('q') };"
    body += "return await parallel([() => agent('1'), f, async () => undefined])"
    assert await host.run(body) == ["re: 1", None, None]


async def test_the_budget_is_seen(host: Host) -> None:
    body = "await agent('a'); const b = budget;"
    body += "return [b, b.usd].flatMap(u => [u.total, u.spent(), u.remaining()])"
    assert await host.run(body) == [100, 10, 90, 5, 1.5, 3.5]


async def test_two_thousand_calls(host: Host) -> None:
    body = "const all = Array.from({length: 2000}, (_, n) => n);"
    body += "return (await pipeline(all, n => agent('n' + n))).length"
    assert await host.run(body) == 2000


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while (true) {}", "processor time"),
        ("while (true) await null", "processor time"),
        ("return /(a+)+$/.test('a'.repeat(40) + 'b')", "processor time"),
        ("const a = []; while (true) a.push(new ArrayBuffer(1000000))", "out of memory"),
        ("const f = () => f(); f()", "call stack"),
        ("await new Promise(() => {})", "never comes"),
        ("return Date.now()", "resume"),
        ("return new Date()", "resume"),
        ("return Math.random()", "resume"),
        ("return await import('fs')", "fs"),
        ("return 'x'.repeat(20000000)", "at once"),
        ("agent('y'.repeat(6000000)); return 1", "at once"),
        ("not a script", r"SyntaxError.*line 2"),
        ("agent = 5", "read-only"),
        ("args.k = 2", "read-only"),
        ("await agent('')", "a prompt"),
        ("await parallel(Array(5000).fill(() => 1))", "4096"),
        ("return 1n", "no JSON"),
        ("throw null", "no memory left"),
        ("throw { get message() { throw 1 } }", "cannot be shown"),
        ("throw new Error('\\ud800 \\u001b[2J')", "Error: \ufffd $"),
        ("let a = []; for (let i = 0; i < 900; i++) a = [a]; return a", "nested too deeply"),
    ],
)
async def test_a_script_that_goes_too_far_ends_with_a_clear_reason(
    host: Host, body: str, reason: str
) -> None:
    with pytest.raises(ScriptError, match=reason):
        await host.run(body, {"k": 1})


@pytest.mark.parametrize(
    "body",
    [
        "Promise.prototype.then = null; Array.prototype.push = null; Map.prototype.get = null;"
        "JSON.stringify = null; JSON.parse = null; return await agent('z')",
        "Object.prototype.kind = 'exec'; Object.prototype.id = 7; return await agent('z')",
        "globalThis.Promise = null; Array.prototype.splice = () => ['{}']; return await agent('z')",
        "Array.prototype.toJSON = () => 'nothing'; return await agent('z')",
        "Object.prototype.toJSON = () => ({ kind: 'log' }); return await agent('z')",
        "Object.defineProperty(Map.prototype, 'size', { get: () => 0 }); return await agent('z')",
        "Object.defineProperty(Object.prototype, 'payload', { set() {} }); return await agent('z')",
    ],
)
async def test_a_script_that_pollutes_built_ins_changes_only_itself(host: Host, body: str) -> None:
    assert await host.run(body) == "re: z"
    assert host.asked == ["z"]


async def test_what_a_script_sends_in_all_is_limited(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_engine, "SENT_BYTES", 10_000)
    with pytest.raises(ScriptError, match="more than 10,000 bytes"):
        await host.run("while (true) await agent('y'.repeat(1000))")
    assert len(host.asked) == 9


async def test_texts_arrive_as_text_that_can_be_stored_and_shown(host: Host) -> None:
    body = "log('\\ud800\\u001b[2J' + 'x'.repeat(9000)); phase('a\\u0007');"
    assert await host.run(body + "return await agent('\\ud800 p')") == "re: \ufffd p"
    assert host.asked == ["\ufffd p"]
    (_, line), (_, title) = host.logged
    assert line.startswith("\ufffdx")
    assert len(line) <= 2_000
    assert title == "a"


async def test_nothing_of_the_host_is_in_reach(host: Host) -> None:
    names = "require fetch process performance std os WeakRef Atomics settle take control".split()
    types = ", ".join(f"typeof {name}" for name in names)
    assert await host.run(f"return [{types}]") == ["undefined"] * len(names)
    assert (
        await host.run("return (function () {}).constructor('return typeof take')()") == "undefined"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_the_process_gives_up_files(tmp_path: Path) -> None:
    from agent.orchestration.script.engine_worker import _deny_files

    kept = tmp_path / "kept"
    kept.write_text("secret")
    child = os.fork()
    if child == 0:
        try:
            _deny_files()
            open(kept).close()
        except PermissionError:
            os._exit(13)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 1 and not Path("/sys/kernel/security/lsm").exists():
        pytest.skip("no Landlock here")
    assert code == 13


async def test_a_cancelled_run_leaves_no_process(host: Host) -> None:
    running = asyncio.ensure_future(host.run("await agent('a'); while (true) await agent('b')"))
    await host.third.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    worker = Path(host.launched[0].argv[-1]).name
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        assert not (worker.encode() in words and parent == str(os.getpid()))
