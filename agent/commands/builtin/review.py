"""`/review`: instructions for the model to review changes."""

from __future__ import annotations

from typing import Final

BODY: Final = """Review changes to this project and report what is wrong with them. Do not edit \
anything.

1. Find the changes. If nothing is named below, take what is not committed yet (git status, \
git diff HEAD, new files); if there is nothing, the commits of this branch that the default branch \
does not have. What is named may be a branch, a commit, a range, files, or the number of a pull \
request (gh pr diff, where gh is installed), and may add what to look for, such as security.
2. Read the changed files around each change, and what calls the changed code.
3. Look for defects, missed cases, unsafe handling of input, races, lost data, interfaces that \
break their callers, and tests that are missing or cannot fail. Leave out matters of taste.
4. Check every finding against the code before you report it; drop what you cannot support.

Report the findings by severity, each with path:line, what happens, when it happens, and a fix in \
one sentence. Then say in one sentence whether the changes can be merged. If you found nothing, \
say so plainly.

What to review: $ARGUMENTS"""
