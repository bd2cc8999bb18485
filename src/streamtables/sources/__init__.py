"""Where changes come from: which version a source stands at, and what changed between two."""
