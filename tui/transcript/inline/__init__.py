"""The transcript in the inline mode: what is finished goes to the scrollback of the terminal."""
