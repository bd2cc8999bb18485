"""When a stream table is due, and what holds it back."""
