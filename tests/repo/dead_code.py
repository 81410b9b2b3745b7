"""Find code that nothing in the product uses, with a reviewed list of what a library uses by name.

`python -m tests.repo.dead_code [PATH]` is part of `make check` and exits 1 when it finds any. What
only tests use counts as dead; so does an entry of the list below that excuses nothing any more.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from vulture import Vulture  # type: ignore[import-untyped]  # it has no types

PATHS: Final = ("agent_tui.py", "agent", "hooks", "permissions", "themes", "tui", "benchmarks")
EXCLUDED: Final = ["*sample*"]

USED_BY_NAME: Final = (
    # (files, names, used by)
    ("*", "_check_protocol", "the type checker: this implementation fits that protocol"),
    ("agent/*", "model_config", "pydantic"),
    ("agent/settings/schema.py", "*", "pydantic; a setting is read by its name in the file"),
    ("agent/settings/sections/*.py", "*", "pydantic; a setting is read by its name in the file"),
    ("agent/mcp/protocol/oauth.py", "*et_*", "the SDK, as its storage of tokens"),
    ("agent/orchestration/findings.py", "*", "`read_record`, as fields of what an agent reports"),
    ("agent/orchestration/journal/journal_records.py", "wish", "msgspec, as a column"),
    ("hooks/events/*.py", "*", "msgspec, as the fields of what a hook reads"),
    ("agent/sandbox/network/proxy.py", "open_connections", "the tests of its limits"),
    ("agent/model/scripted/cache.py", "*", "the JSON of a response, as its keys"),
    ("agent/tools/shell/shell_process.py", "wait_ended", "the tests of what stays behind"),
    ("agent/model/scripted/server.py", "wait_for_hold", "the tests, to wait for a stall"),
    ("permissions/decision.py", "*_SETTINGS", "the names of settings files, as values"),
    ("benchmarks/terminal.py", "*", "pyte, and the tests of the terminal"),
    ("benchmarks/clouds.py", "do_POST", "the HTTP server of the standard library"),
    ("benchmarks/clouds.py", "log_message", "the HTTP server of the standard library"),
    ("agent/__init__.py", "__getattr__", "programs that use the library"),
    ("agent/library/*.py", "*", "programs that use the library"),
    ("hooks/missing_programs.py", "whitespace_split", "shlex"),
    ("agent/permission_config/named_files.py", "whitespace_split", "shlex"),
    ("agent/permission_config/named_files.py", "commenters", "shlex"),
    ("agent/sandbox/configuration/named_paths.py", "whitespace_split", "shlex"),
    ("agent/sandbox/configuration/named_paths.py", "commenters", "shlex"),
    ("tui/*", "PRIVATE_NAMES", "the test of what is overridden in Textual"),
    ("tui/*", "interval", "a protocol, as the name of an argument"),
    ("tui/text/styled_rows.py", "strike", "the palette, which reads styles by name"),
    ("tui/*", "*Host", "the type checker, in a quoted cast"),
    ("tui/*", "on_*", "Textual"),
    ("tui/*", "_on_*", "Textual"),
    ("tui/*", "*CSS", "Textual"),
    ("tui/*", "can_focus", "Textual"),
    ("tui/*", "ALLOW_SELECT", "Textual"),
    ("tui/*", "get_content_*", "Textual"),
    ("tui/app/app.py", "compose", "Textual"),
    ("tui/app/app.py", "ENABLE_COMMAND_PALETTE", "Textual"),
    ("tui/app/app.py", "INLINE_PADDING", "Textual"),
    ("tui/input/driver.py", "run_input_thread", "Textual"),
    ("tui/input/driver.py", "send_message", "Textual"),
    ("tui/input/driver.py", "_mouse", "Textual"),
    ("tui/transcript/inline/inline_transcript.py", "max_height", "Textual"),
    ("tui/input/event.py", "stop_immediate_propagation", "the handlers of a key"),
    ("tui/screen/crash.py", "_fatal_error", "Textual"),
    ("tui/screen/immediate_screen.py", "_full_map_invalidated", "Textual"),
    ("tui/screen/presenter.py", "get_default_screen", "Textual"),
    ("tui/command_line/*.py", "format_*", "click"),
    ("tui/command_line/subcommands/*.py", "*_*", "click, as commands"),
)  # fmt: skip


def find_dead_code(root: Path, excused: Sequence[tuple[str, str, str]] = USED_BY_NAME) -> list[str]:
    """Return the unused code in a checkout, then the entries that excuse nothing."""
    finder = Vulture()
    finder.scavenge([str(root / path) for path in PATHS], exclude=EXCLUDED)
    unused = set(range(len(excused)))
    dead = []
    for item in finder.get_unused_code():
        path = os.path.relpath(item.filename, root)
        excuse = next(
            (
                number
                for number, (files, names, _) in enumerate(excused)
                if fnmatchcase(path, files) and fnmatchcase(item.name, names)
            ),
            None,
        )
        if excuse is None:
            dead.append(f"{path}:{item.first_lineno}: nothing uses the {item.typ} {item.name}")
        else:
            unused.discard(excuse)
    return dead + [f"excuses nothing: {' '.join(excused[number][:2])}" for number in sorted(unused)]


def main() -> int:
    """Print the dead code; return 1 if there is any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="root of a checkout")
    dead = find_dead_code(parser.parse_args().path)
    print("\n".join(dead) or "No dead code.")
    return int(bool(dead))


if __name__ == "__main__":
    sys.exit(main())
