"""Measurements of stream tables against full refreshes and a bare Delta MERGE."""
