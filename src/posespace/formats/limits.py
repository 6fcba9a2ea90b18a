"""Joint limits read from any file that has a rig, and written into a copy of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from posespace.errors import FileError
from posespace.formats import limits_json, load
from posespace.formats.files import naming
from posespace.skeleton import Ranges, Skeleton

LIMITS_FILES = (".json",)


def load_limits(path: str | Path) -> Ranges:
    """Return the joint limits of a file: JSON, a rig, a skin or an example store."""
    file = Path(path)
    return limits_json.read(file) if file.suffix.lower() in LIMITS_FILES else _skeleton(file).ranges


def save_limits(source: str | Path, out: str | Path, ranges: Ranges) -> None:
    """Write a copy of a rig or skin whose joints have these limits and no others, or the limits alone.

    Parameters
    ----------
    source : a glTF file or a skin file; for limits alone, any file with a rig, or an example store
    out : a file of the same ending, or `.json` for the limits alone
    ranges : by joint and axis, the lowest and the highest angle in degrees, see `Skeleton.with_ranges`
    """
    given, made = Path(source), Path(out)
    skeleton = _skeleton(given)
    with naming(given):
        limited = skeleton.with_ranges(ranges)
    if made.suffix.lower() in LIMITS_FILES:
        limits_json.write(made, limited.ranges)
    elif given.suffix.lower() in load.GLTF:
        from posespace.formats.gltf import limits as gltf_limits

        gltf_limits.write(given, made, limited.ranges)
    elif given.suffix.lower() == load.SKIN_FILE and made.suffix.lower() == load.SKIN_FILE:
        skin = load.load_skin(given)
        rig = replace(skin.rig, skeleton=skin.rig.skeleton.with_ranges(ranges))
        replace(skin, rig=rig).save(made)
    else:
        kinds = " ".join((*load.GLTF, load.SKIN_FILE))
        raise FileError(made, f"cannot be written from {given.name}; {kinds} keep limits, each in its own ending")


def _skeleton(path: Path) -> Skeleton:
    if path.is_dir():
        from posespace.formats.store.example_store import ExampleStore

        return ExampleStore.open(path).rig.skeleton
    if path.suffix.lower() == load.SKIN_FILE:
        return load.load_skin(path).rig.skeleton
    return load.load_rig(path).skeleton
