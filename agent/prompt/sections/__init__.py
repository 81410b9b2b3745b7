"""The sections that ship: one module each, registered in order by `agent.prompt.builtin`."""
