"""Captured markers: what a take holds, its gaps, where it lies, and the motion of control points that it makes."""
