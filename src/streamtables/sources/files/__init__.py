"""Folders of files as sources: new files are rows that came, and each is taken once."""
