"""Earlier sessions: listed, found by name or words, shown, exported."""
