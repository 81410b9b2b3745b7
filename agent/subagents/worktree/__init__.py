"""Git worktrees that agents work in: made, and what becomes of them."""
