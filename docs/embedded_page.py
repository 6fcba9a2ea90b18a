"""Puts the page that `posespace demo` writes into the documentation, where it has been made: a hook of MkDocs.

The page is built, not committed, so without `demo/hand.html` the documentation shows pictures of it alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

MADE = Path(__file__).parents[1] / "demo" / "hand.html"
PLACE = "<!-- the page -->"
FRAME = '<iframe src="hand.html" title="the built-in hand" width="100%" height="560" loading="lazy"></iframe>'


def on_files(files: Files, config: Any) -> Files:
    """Add the page to what is published."""
    if MADE.is_file():
        files.append(File(MADE.name, str(MADE.parent), config["site_dir"], use_directory_urls=False))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the page where a document has a place for it."""
    return markdown.replace(PLACE, FRAME if MADE.is_file() else "")
