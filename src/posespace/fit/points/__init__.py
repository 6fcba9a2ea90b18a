"""Control points: bones and relief that follow a few points of the surface."""
