"""Where conversations are stored between runs."""
