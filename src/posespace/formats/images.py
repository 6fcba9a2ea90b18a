"""Image files, as far as they are carried along: which kinds, told by their first bytes. None is ever decoded."""

from __future__ import annotations


def kind_of(start: bytes) -> str | None:
    """Return the media type of an image by its first 16 bytes; None for any other file."""
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return None
