"""Captured markers: takes, their gaps, their rigid alignment, and the motions of control points made from them."""
