"""Teams: a leader that delegates and workers that report, over mailboxes on the disk."""
