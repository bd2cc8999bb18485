"""A stream table's changes for others: who takes them, how far each is, and how they get there."""
