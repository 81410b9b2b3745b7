"""Run the tests that the Agents SDK carries against this library.

`python -m tests.outside.agents_sdk.referee` fetches the source distribution with pip into
`build/agents_sdk` (nothing of it is part of this tree), replaces its `conftest.py` with one that
puts this library under the name `agents`, and runs a named set of files. It exits 1 when fewer
tests of the core set pass than `FLOOR` says. Arguments: file names, or `--beyond` for the files
beyond the core set.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
BUILD: Final = ROOT / "build" / "agents_sdk"
VERSION: Final = "0.24.0"
FLOOR: Final = 0.9

CORE: Final = {
    "run": (
        "test_run.py test_agent_runner_sync.py test_max_turns.py test_result_cast.py "
        "test_agent_instructions_signature.py test_agent_clone_shallow_copy.py "
        "test_global_hooks.py test_agent_hooks.py test_agent_llm_hooks.py"
    ),
    "streaming": (
        "test_soft_cancel.py test_stream_input_guardrail_timing.py "
        "test_streaming_tool_call_arguments.py"
    ),
    "sessions": "memory/test_session.py memory/test_session_limit.py utils/test_simple_session.py",
    "handoffs": "test_extension_filters.py test_handoff_prompt.py",
    "guardrails": "test_guardrails.py test_tool_guardrails.py",
    "filters": "test_call_model_input_filter.py test_call_model_input_filter_unit.py",
    "errors": "test_run_error_details.py test_exception_exports.py",
    "run state": (
        "test_run_context_wrapper.py test_hitl_session_scenario.py "
        "test_resume_tool_use_behavior.py test_run_state_aliases.py"
    ),
}
BEYOND: Final = (
    "test_run_context_approvals.py test_function_schema.py test_function_tool_decorator.py "
    "test_function_tool.py "
    "test_items_helpers.py test_tool_output_conversion.py test_tool_context.py "
    "test_strict_schema.py test_strict_schema_oneof.py test_output_tool.py test_doc_parsing.py "
    "test_agent_as_tool.py test_handoff_tool.py test_agent_runner_streamed.py test_agent_config.py "
    "test_invalid_final_output_handler.py test_source_compat_constructors.py "
    "test_tool_use_behavior.py test_streamed_terminal_output_backfill.py test_agent_runner.py"
)

_CONFTEST: Final = """
import sys
from pathlib import Path
sys.path[:0] = [{root!r}, {here!r}]
import alias
alias.install(Path({sources!r}))
import pytest
from agent.library.tracing import run_spans
from .testing_processor import SPAN_PROCESSOR_TESTING

run_spans.set_trace_processors([SPAN_PROCESSOR_TESTING])

@pytest.fixture(autouse=True)
def clear_span_processor():
    SPAN_PROCESSOR_TESTING.clear()

@pytest.fixture(autouse=True)
def clear_default_runner():
    from agent.library.running.runner import set_default_agent_runner
    set_default_agent_runner(None)
"""


def fetch() -> Path:
    """Return the directory of the unpacked source distribution, fetched if need be."""
    source = BUILD / f"openai_agents-{VERSION}"
    if not source.is_dir():
        BUILD.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
        download = ["download", "--no-deps", "--no-binary", "openai-agents", "-d", str(BUILD)]
        subprocess.run([*pip, *download, f"openai-agents=={VERSION}"], check=True)
        packages = ["openai==3.54.0"]
        target = ["install", "--no-deps", "--target", str(BUILD / "packages")]
        subprocess.run([*pip, *target, *packages], check=True)
        shutil.unpack_archive(BUILD / f"{source.name}.tar.gz", BUILD)
    return source


def prepare(source: Path) -> Path:
    """Return a directory with the tests and a conftest of ours."""
    work = BUILD / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source / "tests", work / "tests")
    here, sources = str(Path(__file__).parent), str(source / "src" / "agents")
    conftest = _CONFTEST.format(root=str(ROOT), here=here, sources=sources)
    (work / "tests" / "conftest.py").write_text(conftest)
    settings = "[pytest]\nasyncio_mode = auto\ntimeout = 30\naddopts = -p no:cacheprovider\n"
    (work / "pytest.ini").write_text(settings)
    return work


def run(work: Path, files: list[str], extra: list[str]) -> dict[str, tuple[int, int]]:
    """Run the files; return how many passed of how many, by file."""
    report = work / "report.xml"
    env = {**os.environ, "PYTHONPATH": str(BUILD / "packages"), "HOME": str(work)}
    env["OPENAI_API_KEY"] = "none"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}"]
    command += ["--continue-on-collection-errors"]
    named = [f"tests/{each}" for each in files]
    subprocess.run([*command, *extra, *named], cwd=work, env=env, check=False)
    counts: dict[str, tuple[int, int]] = dict.fromkeys(files, (0, 0))
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = str(case.get("classname")).removeprefix("tests.").replace(".", "/")
        file = next((each for each in files if f"{name}/".startswith(f"{each[:-3]}/")), None)
        if file is None or case.find("skipped") is not None:
            continue
        failed = case.find("failure") is not None or case.find("error") is not None
        passed, total = counts[file]
        counts[file] = (passed + (not failed), total + 1)
    return counts


def main(arguments: list[str]) -> int:
    """Run the core set, or what is named."""
    named = [each for each in arguments if each.endswith(".py")]
    extra = [each for each in arguments if not each.endswith(".py") and each != "--beyond"]
    core = [each for files in CORE.values() for each in files.split()]
    files = named or (BEYOND.split() if "--beyond" in arguments else core)
    counts = run(prepare(fetch()), files, extra)
    for file, (passed, total) in counts.items():
        print(f"{passed:4} of {total:4}  {file}")
    passed = sum(each for each, _ in counts.values())
    total = sum(each for _, each in counts.values())
    share = passed / max(1, total)
    print(json.dumps({"passed": passed, "total": total, "share": round(share, 3)}))
    return int(files == core and share < FLOOR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
