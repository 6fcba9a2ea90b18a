"""From a skin and its bones to tetrahedra, and where in them each skin vertex lies."""
