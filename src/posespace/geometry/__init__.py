"""Triangles and tetrahedra as plain arrays: edges, normals, closest points, remeshing. One of each."""
