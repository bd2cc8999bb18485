"""The faults that tests cause on purpose, and the page that lists them."""
