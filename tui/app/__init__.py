"""The running screen: wiring, keys, frames."""
