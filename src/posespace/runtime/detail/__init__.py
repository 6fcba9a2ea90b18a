"""The last stage of a player, compiled: subdivision, heights along normals, and normals of the surface."""
