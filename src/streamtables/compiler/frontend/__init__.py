"""SQL text → algebra: parse, bind names and types, refuse what has no rule."""
