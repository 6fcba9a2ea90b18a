"""Requests on what plays: the markers of a take, and the skin with its motions as a file for other programs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.errors import InputError, quoted
from posespace.formats.checked_json import Fields
from posespace.formats.contents import unique
from posespace.formats.export import export
from posespace.motion import Motion
from posespace.skin.edit import with_beta
from posespace.studio.project import Project

Answer = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Arrays = dict[str, NDArray[Any]]

FORMATS = ("skin", "glb", "html")
_KEY_POSES = "key poses"


def markers(opened: Project, fields: Fields, arrays: Arrays) -> Answer:  # noqa: ARG001 - all requests take these
    """Answer with the markers of a take, where they were measured beside the points, and whether each was seen."""
    name = fields.text("clip")
    clip = opened.clips.get(name)
    if clip is None or clip.markers is None:
        raise InputError(f"clip: {quoted(name)} is no take of markers")
    take = clip.markers
    positions = opened.space.of_points(take.positions)
    return {"names": list(take.names), "rate": take.rate}, {"positions": positions, "seen": take.seen.astype(np.uint8)}


def export_skin(opened: Project, fields: Fields, arrays: Arrays) -> Answer:
    """Answer with the current skin as a file; a GLB or a page has the clips, and the frames that are sent."""
    ending = check.choice("format", fields.text("format"), FORMATS)
    skin = with_beta(opened.skin, fields.number("beta")) if "beta" in fields else opened.skin
    left_out: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{opened.path.stem or 'skin'}.{ending}"
        if ending == "skin":
            skin.save(file)
        else:
            export(skin, file, _played(opened, fields, arrays), left_out.append)
        return {"filename": file.name, "left_out": left_out}, {"file": np.frombuffer(file.read_bytes(), np.uint8)}


def _played(opened: Project, fields: Fields, arrays: Arrays) -> dict[str, Motion]:
    """The clips by name; before them the motion that a page has made of its key poses, where it sends one."""
    if "frames" not in arrays:
        return opened.motions
    values = arrays.get("values", np.zeros(0, dtype=np.float32))
    sent = opened.space.motion(arrays["frames"], fields.texts("controls", ()), values, fields.number("rate"))
    names = unique([_KEY_POSES, *opened.motions], "motion")
    return dict(zip(names, [sent, *opened.motions.values()], strict=True))
