"""The configured servers, whether they may start, and the user's approvals."""
