"""Pictures that the server draws as SVG: charts, bars of steps, the graph, plans.

Colours come from classes, so that one style sheet paints them in light and dark.
"""
