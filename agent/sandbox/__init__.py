"""The kernel enforces what a decision assumed: policies, backends, the probe, what was refused."""
