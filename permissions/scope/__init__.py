"""Working directories and protected paths: checks that no rule overrides."""
