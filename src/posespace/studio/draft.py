"""Drafts: strokes that were not defined as a sculpt yet, kept in the project's folder so that no crash loses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files
from posespace.formats.checked_json import Fields
from posespace.studio.frames import MOST_BYTES

_FILE = "draft.safetensors"


class Drafts:
    """The draft of a project.

    Parameters
    ----------
    folder : the project's; None: drafts are not kept
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / _FILE

    def keep(self, name: str, pose: dict[str, Any], points: Floats) -> None:
        """Keep points (N, 3), as the page has them, that were sculpted at a pose."""
        if self._file is None:
            return
        about = np.frombuffer(json.dumps({"name": name, "pose": pose}).encode(), np.uint8)
        with files.atomic_write(self._file) as temporary:
            temporary.write_bytes(save({"points": np.ascontiguousarray(points, np.float32), "about": about}))

    def drop(self) -> None:
        """Forget the draft."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def take(self, vertices: int) -> tuple[str, dict[str, Any], Floats]:
        """Return the name, the pose and the points (N, 3) of the draft; raise unless it fits so many vertices."""
        if self._file is None or not self._file.is_file():
            raise InputError("draft: there is none")
        about, arrays = self._read(self._file)
        with files.naming(self._file):
            if "points" not in arrays:
                raise InputError("is damaged (it has no points); remove it")
            points = check.floats("points", arrays["points"], (vertices, 3), check.LARGEST)
        return about.text("name"), about.part("pose").values, points

    def describe(self) -> dict[str, Any] | None:
        """Return the name of the draft, as the page shows it; None where there is none that can be read."""
        if self._file is None or not self._file.is_file():
            return None
        try:
            return {"name": self._read(self._file)[0].text("name")}
        except InputError:
            return None

    @staticmethod
    def _read(file: Path) -> tuple[Fields, dict[str, Any]]:
        content = files.read_bytes(file, MOST_BYTES)
        try:
            arrays = load(content)
            about = json.loads(arrays["about"].tobytes())
        except (SafetensorError, KeyError, ValueError, RecursionError) as error:
            raise FileError(file, f"is damaged ({str(error)[:80]}); remove it") from error
        with files.naming(file):
            return Fields(about, "draft"), arrays
