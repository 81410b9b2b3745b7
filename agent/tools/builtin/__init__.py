"""The built-in tools, one module each; `agent.tools.registry` lists them."""
