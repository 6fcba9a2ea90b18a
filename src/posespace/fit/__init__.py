"""Offline: Examples in, Skin out. One folder per method; nothing here is needed to play a skin."""
