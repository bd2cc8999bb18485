"""The page of measured performance, made from results: `python -m benchmarks.performance`."""
