"""ripgrep behind Grep and Glob."""
