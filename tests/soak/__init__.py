"""A long run of everything at once: many tables, several leaders, and trouble at random."""
