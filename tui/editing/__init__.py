"""Text editing without a screen: buffer, draft, vim."""
