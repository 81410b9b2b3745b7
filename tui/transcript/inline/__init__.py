"""The transcript in the inline mode: finished rows go to the terminal's scrollback."""
