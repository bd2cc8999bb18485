"""A definition that changes under its readers: what it does to rows, columns and other tables.

effect.py     pure: nothing, a difference or a rebuild, from two compiled queries
readers.py    what becomes of everything that reads a table whose columns change
learned.py    the same, for columns that only a refresh tells
staging.py    several changes, each on top of those before it, before any is stored
"""
