"""Poses, for fits and players: pose spaces, parts of joints, links, mirroring, motion retargeting."""
