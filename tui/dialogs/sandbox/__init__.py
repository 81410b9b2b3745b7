"""Questions about the sandbox: hosts, refusals, and whether to work inside it."""
