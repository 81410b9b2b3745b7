"""Checks configured hooks before they are needed: shell, program and script.

No configured hook is executed here; the round trip runs `cat` instead.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from hooks.answers.response import first_line
from hooks.config.spec import CommandHandler, HandlerSpec, HttpHandler, is_background
from hooks.events.capabilities import GUARDS
from hooks.execution.environment import fill_placeholders
from hooks.execution.handlers.command import shell_argv
from hooks.missing_programs import MissingPrograms, leading_words
from permissions.base.process.run_program import RunLimits, run_blocking, run_program
from permissions.base.process.spawn import CannotStart, Launch
from permissions.base.text.sanitize import reveal

INTERPRETERS: Final = frozenset({"python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl"})
VARIABLE: Final = "$"
_PROJECT_VARIABLES: Final = ("CLAUDE_PROJECT_DIR", "AGENT_TUI_PROJECT_DIR")
_NOT_ON_PATH: Final = " is not on the PATH of hooks"
_SHARED_PROBLEMS: Final = (" does not exist", " is not executable (chmod +x)")
"""Ends of messages about files that cannot be started, often the same for many handlers."""
SYNTAX_TIMEOUT_S: Final = 30.0


class Finding(Struct, frozen=True):
    """One reason why a handler would not work."""

    spec: HandlerSpec
    message: str


def check_health(
    specs: Sequence[HandlerSpec],
    *,
    env: Mapping[str, str],
    cwd: Path,
    project_dir: Path | None = None,
) -> tuple[Finding, ...]:
    """Return the problems of handlers that can be found without running them.

    `project_dir` is the project's root, `cwd` itself where it is None.
    """
    variables = dict.fromkeys(_PROJECT_VARIABLES, str(project_dir or cwd))
    own_env = {**env, **variables}
    return tuple(
        Finding(spec, message) for spec in specs for message in _check(spec, env=own_env, cwd=cwd)
    )


def start_lines(findings: Sequence[Finding], missing: MissingPrograms) -> Iterator[str]:
    """Yield the lines that a start reports: one for each handler that would fail, or one for a
    problem that several share. `missing` knows what was reported before."""
    findings = [one for one in findings if not missing.is_reported(one.spec)]
    counts = Counter(filter(None, map(_missing_program, findings)))
    shared_problems = Counter(filter(None, map(_shared_problem, findings)))
    for finding in findings:
        kind = _shared_problem(finding)
        if kind is not None:
            missing.add_file(finding.spec)
        if kind is not None and (count := shared_problems[kind]) != 1:
            if count:
                yield _line_of_many(finding, count)
            shared_problems[kind] = 0
            continue
        program = _missing_program(finding)
        spec = finding.spec
        name = f"{spec.event} hook '{reveal(first_line(spec.label)[:80])}' ({spec.where})"
        problem = f"{program}{_NOT_ON_PATH}" if program else finding.message
        line = f"{name} would fail: {problem}"
        if program:
            line = missing.line(program, counts[program], line)
        if line:
            yield line


def _shared_problem(finding: Finding) -> tuple[str, str] | None:
    """Return the problem of the file that a handler starts and the handler's source, or None."""
    problem = next(filter(finding.message.endswith, _SHARED_PROBLEMS), "")
    return (problem, finding.spec.where) if problem else None


def _line_of_many(finding: Finding, count: int) -> str:
    """Return the line for `count` handlers of one source; `finding` is the first."""
    return (
        f"{count} hooks ({finding.spec.where}) would fail: {finding.message}, and so on "
        "(agent-tui doctor names each)"
    )


def _missing_program(finding: Finding) -> str:
    program, separator, _ = finding.message.partition(_NOT_ON_PATH)
    return program if separator else ""


def is_open_guard(spec: HandlerSpec) -> bool:
    """Whether a handler may veto calls, and lets them through when it fails."""
    is_program = isinstance(spec.handler, CommandHandler | HttpHandler)
    waits = is_program and not is_background(spec.handler)
    return spec.event in GUARDS and waits and not spec.blocks_on_failure


async def check_round_trip(
    *, env: Mapping[str, str], cwd: Path, timeout_s: float = 5.0
) -> str | None:
    """Send a payload through the shell hooks use and compare; return what is wrong, or None."""
    payload = json.dumps({"hook_event_name": "Notification", "message": "“ \\ \n 🙂 '"}).encode()
    program = Launch((*shell_argv(env), "cat"), dict(env), cwd, payload)
    try:
        result = await run_program(program, RunLimits(timeout_s, grace_s=1.0))
    except CannotStart as error:
        return f"no command hook can run: {error}"
    if result.timed_out:
        return f"a shell that only runs `cat` did not end within {timeout_s:g} s"
    if result.stdout != payload:
        return (
            "what hooks read and print is changed on the way: is something printing in the shell?"
        )
    return None


def _check(spec: HandlerSpec, *, env: Mapping[str, str], cwd: Path) -> Iterator[str]:
    match spec.handler:
        case CommandHandler() as handler:
            own = dict(env)
            if spec.plugin is not None:
                own["CLAUDE_PLUGIN_ROOT"] = own["AGENT_TUI_PLUGIN_ROOT"] = str(spec.plugin.root)
            if handler.args is not None:
                yield from _check_program((handler.command, *handler.args), own, cwd)
            elif handler.shell == "powershell":
                if shutil.which("pwsh", path=env.get("PATH")) is None:
                    yield "pwsh is not on this PATH"
            else:
                yield from _check_shell(handler.command, own, cwd)
        case HttpHandler() as handler:
            yield from _check_headers(handler, env)
        case _:
            return


def _check_headers(handler: HttpHandler, env: Mapping[str, str]) -> Iterator[str]:
    text = "\n".join(handler.headers.values())
    for name in handler.allowed_env_vars:
        if (f"${name}" in text or f"${{{name}}}" in text) and not env.get(name):
            yield f"the variable {name} of its headers is not set"


def _check_shell(command: str, env: Mapping[str, str], cwd: Path) -> Iterator[str]:
    program = Launch((*shell_argv(env)[:-1], "-n", "-c", command), env)
    try:
        syntax = run_blocking(program, timeout_s=SYNTAX_TIMEOUT_S)
    except CannotStart as error:
        yield f"the shell cannot read this command: {error}"
        return
    if syntax.exit_code != 0:
        lines = syntax.stderr.decode(errors="replace").strip().splitlines()
        yield f"the shell cannot read this command: {lines[0] if lines else 'syntax error'}"
        return
    words = leading_words(command)
    if words:
        yield from _check_program(words, env, cwd)


def _check_program(words: Sequence[str], env: Mapping[str, str], cwd: Path) -> Iterator[str]:
    program = _expand(words[0], env)
    if program is None:
        return
    problem = _program_problem(program, env, cwd)
    if problem:
        yield problem
        return
    if Path(program).name in INTERPRETERS and len(words) > 1 and not words[1].startswith("-"):
        script = _expand(words[1], env)
        if script is not None and not (cwd / script).exists():
            yield f"the script {cwd / script} does not exist"


def _program_problem(program: str, env: Mapping[str, str], cwd: Path) -> str:
    if "/" not in program:
        if shutil.which(program, path=env.get("PATH")) is None and not _is_builtin(program):
            return f"{program}{_NOT_ON_PATH}: {env.get('PATH', 'not set')}"
        return ""
    path = cwd / program
    if not path.exists():
        return f"{path} does not exist"
    return "" if os.access(path, os.X_OK) else f"{path} is not executable (chmod +x)"


def _expand(word: str, env: Mapping[str, str]) -> str | None:
    """Return a word with known variables filled in; None when a variable is left."""
    text = fill_placeholders(word, env)
    for name in (*_PROJECT_VARIABLES, "CLAUDE_PLUGIN_ROOT", "HOME"):
        text = text.replace(f"${name}", env.get(name, f"${name}"))
        text = text.replace(f"${{{name}}}", env.get(name, f"${{{name}}}"))
    if text.startswith("~/") and env.get("HOME"):
        text = env["HOME"] + text[1:]
    return None if VARIABLE in text or "`" in text else text


def _is_builtin(name: str) -> bool:
    return name in {
        ".", ":", "alias", "bg", "break", "cd", "command", "continue", "declare", "echo", "eval",
        "exit", "export", "false", "local", "mapfile", "printf", "pushd", "read", "return", "set",
        "shift", "shopt", "source", "test", "trap", "true", "type", "ulimit", "umask", "unset",
        "wait",
    }  # fmt: skip
