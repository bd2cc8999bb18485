"""Projects: folders that say which sources, stream tables, views and functions there are."""
