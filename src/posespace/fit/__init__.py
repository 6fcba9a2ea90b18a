"""Offline: Examples in, Skin out. One method a file; nothing here is needed to play a skin."""
