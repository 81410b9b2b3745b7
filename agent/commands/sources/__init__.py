"""Command and skill files: where they are, how they are read and watched."""
