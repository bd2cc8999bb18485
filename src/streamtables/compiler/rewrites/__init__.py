"""Tree → tree passes; one file is one function."""
