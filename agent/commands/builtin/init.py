"""`/init`: instructions for the model to write an AGENTS.md."""

from __future__ import annotations

from typing import Final

BODY: Final = """Write an AGENTS.md for this project: what a coding agent needs to know to work \
here well, and cannot see at a glance.

1. Look first: the README, build and package files, CI configuration, the layout of the source, \
test folders, and instruction files of other agents (CLAUDE.md, GEMINI.md, .cursor/rules, \
.github/copilot-instructions.md).
2. If there is an AGENTS.md already, improve it instead of starting over, and keep what its \
authors wrote.
3. Say, shortly and exactly: the commands to build, lint, format and test, one test alone \
included; the architecture that takes several files to understand; conventions that differ from \
what is usual; traps.
4. Leave out what any developer knows, lists of every file, and anything you have not seen in the \
project. Do not make anything up.
5. Keep it under 100 lines of plain Markdown. Check each command against the files it comes from.

When it is written, tell the user in two or three sentences what is in it and what you were not \
sure about."""
