"""One file per page: what it shows, from facts to template."""
