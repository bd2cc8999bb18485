"""Microbenchmarks that hold a change to the speed of the commit before it, on one machine."""
