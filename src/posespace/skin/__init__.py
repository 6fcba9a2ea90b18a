"""Skin, what every fit returns, and its parts: layers, bases, bounds, learned bones, edits and provenance."""
