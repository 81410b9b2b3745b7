"""Text made safe: control sequences, secrets, strict JSON, star patterns."""
