"""The running screen: its parts, keys and frames."""
