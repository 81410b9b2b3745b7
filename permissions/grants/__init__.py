"""Rules proposed, written and counted."""
