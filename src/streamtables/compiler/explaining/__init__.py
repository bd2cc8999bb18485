"""What a compiled plan says about itself: how, why so, what it costs, and what would help."""
