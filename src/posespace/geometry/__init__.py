"""Triangles as plain arrays: edges, normals, closest points, remeshing, subdivision. One of each, used by all rooms."""
