"""What a running process tells of itself: metrics, notices, logs and traces.

The rooms above report here what they did; nothing here asks a catalog, a source or Spark.
"""
