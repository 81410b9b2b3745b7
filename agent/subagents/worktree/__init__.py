"""Git worktrees that agents work in: created, merged, kept or removed."""
