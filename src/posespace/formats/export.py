"""Skins exported for other programs, by the module that the registry names for the ending."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from posespace import check
from posespace.errors import InputError, quoted
from posespace.examples import Examples
from posespace.formats import registry
from posespace.formats.registry import EXPORT
from posespace.formats.scene import Scene
from posespace.mesh import UNITS
from posespace.motion import Motion
from posespace.skin.provenance import notes_of
from posespace.skin.skin import Skin

COMPRESSIONS = ("none", "quantized", "meshopt")
_NAMED = 6
"""Meshes that a message names where more are left out."""


def export(
    skin: Skin,
    path: str | Path,
    motion: Motion | Mapping[str, Motion] | None = None,
    warn: Callable[[str], None] | None = None,
    rate: float = 30.0,
    unit: str | None = None,
    up: str = "y",
    examples: Examples | None = None,
    compression: str = "none",
) -> None:
    """Write a skin, and motions of it, to a file that other programs play, or to a page that anyone can open.

    Parameters
    ----------
    skin : its rig becomes the file's, its layers morph targets
    path : `.glb`, `.gltf`, or `.html` for a page that needs nothing but a browser
    motion : becomes an animation of the joints and the morphs' weights; several by name become one each, under their
        names; None: the file has none
    warn : called with one line about each thing the format cannot hold; None: these become warnings
    rate : about how many frames per second are written between poses that are farther apart
    unit : the skin's unit of length, "mm", "cm", "m", "in" or "ft"; None: the rig's own, `rig.mesh.unit`
    up : the axis that points up in the skin, "y" or "z"
    examples : poses that a page offers, with the errors there as colours; None: it offers none
    compression : of glTF: "none"; "quantized": whole numbers of 16 bits for positions and normals, with
        KHR_mesh_quantization; "meshopt": these compressed, with EXT_meshopt_compression, needs posespace[meshopt]
    """
    if not isinstance(skin, Skin):
        raise InputError(f"export: expected a Skin, got {type(skin).__name__}")
    clips = _clips(motion)
    if not 0 < check.number("rate", rate) < math.inf:
        raise InputError(f"rate: expected frames per second, above 0, got {rate}")
    metres = None if unit is None else UNITS[check.choice("unit", unit, tuple(UNITS))]
    check.choice("up", up, ("y", "z"))
    check.choice("compression", compression, COMPRESSIONS)
    file = Path(path)
    module = registry.writer(file, EXPORT, "skins are exported")
    scene = Scene(skin, clips, rate, metres, up, compression, examples)
    for note in [*notes_of(skin.about), *_omitted(skin), *module.write(file, scene)]:
        if warn is None:
            warnings.warn(note, stacklevel=2)
        else:
            warn(note)


def _omitted(skin: Skin) -> list[str]:
    """A line on the meshes of the rig's file that the skin does not have, where there are any."""
    names = () if skin.rig.mesh.look is None else skin.rig.mesh.look.omitted
    if not names:
        return []
    shown = ", ".join(map(quoted, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"meshes of the rig's file that its joints do not skin are left out: {shown}{more}"]


def _clips(motion: Motion | Mapping[str, Motion] | None) -> dict[str, Motion]:
    """The motions to play, by name."""
    if motion is None:
        return {}
    clips = dict(motion) if isinstance(motion, Mapping) else {"motion": motion}
    check.names("export: clips", tuple(clips), len(clips))
    for clip in clips.values():
        if not isinstance(clip, Motion):
            remedies = {"Examples": "; pass its .motion", "Pose": "; pass Motion.from_poses([pose])"}
            kind = type(clip).__name__
            raise InputError(f"export: expected a Motion to play, got {kind}{remedies.get(kind, '')}")
    return clips
