"""What the dialects of other providers share: the provider as a value, blocks, names, failures."""
