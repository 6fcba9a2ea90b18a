"""Scores, pictures and the accuracy report of a skin, and what is in a file. Fitting and playing need none of it."""
