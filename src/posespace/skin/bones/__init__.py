"""Bones that control points drive: their rotations and positions."""
