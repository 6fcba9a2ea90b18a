"""Nonlinear finite elements: the material, the elements, the sparse factor, Newton's method."""
