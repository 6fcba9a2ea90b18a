"""The player on the GPU."""
