"""Programs that run other programs."""
