"""Spark Declarative Pipelines taken over: their files read, judged, and written as definitions."""
