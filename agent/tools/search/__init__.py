"""ripgrep, which Grep and Glob use."""
