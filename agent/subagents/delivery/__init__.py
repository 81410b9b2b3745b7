"""Reports of agents that worked in the background: delivered once, also after a kill."""
