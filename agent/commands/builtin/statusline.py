"""`/statusline`: instructions for the model to set up a status line command."""

from __future__ import annotations

from typing import Final

BODY: Final = """Set up a status line for this program: a command that reads one JSON object on \
standard input and prints the line shown below the prompt.

The JSON has: model.id, model.display_name, cwd, workspace.current_dir, workspace.project_dir, \
workspace.git_worktree, workspace.repo.name, cost.total_cost_usd, cost.total_duration_ms, \
cost.total_lines_added, cost.total_lines_removed, context_window.used_percentage, \
context_window.current_usage (null before the first answer), context_window.context_window_size, \
effort.level, thinking.enabled, vim.mode, permission_mode, session_id, session_name, \
transcript_path, version. The command may print up to three lines \
with ANSI colors and OSC 8 links; it should end within a second.

1. If nothing is requested below, ask what the line should show, or take over the shell prompt \
(PS1) of the user if they want that.
2. Write the script to ~/.agent/statusline.sh and make it executable. Use only programs that are \
installed; jq may be missing, python3 -c is a way without it.
3. Try it with a sample object, and correct it.
4. Add to ~/.agent/settings.json, keeping everything else in it: \
"statusLine": {"type": "command", "command": "~/.agent/statusline.sh"}

What it should show: $ARGUMENTS"""
