"""One refresh: decide, bind, compute, apply, record."""
