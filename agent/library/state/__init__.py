"""Where a run stands, what it returns, and how both are stored."""
