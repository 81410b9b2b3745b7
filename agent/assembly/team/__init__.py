"""Teams: the leader's conversation, and those of its workers."""
