"""Inputs that nobody would write on purpose, and the promise that each ends in an answer."""
