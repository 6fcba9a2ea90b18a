"""Skinning weights: by distance, by the nearest bone, or fitted to examples."""
