"""Joint limits read from any file that has a rig, and written into a copy of it."""

from __future__ import annotations

import warnings
from pathlib import Path

from posespace.errors import FileError
from posespace.formats import load, registry
from posespace.formats.files import naming, require_path_last
from posespace.formats.registry import LIMITED, LIMITS
from posespace.skeleton import Ranges, Skeleton


def load_limits(path: str | Path) -> Ranges:
    """Return the joint limits of a file: JSON, a rig, a skin or an example store."""
    file = Path(path)
    if registry.reads(file, LIMITS):
        ranges: Ranges = registry.reader(file, LIMITS).read(file)
        return ranges
    return _limited_joints(file)[0].ranges


def save_limits(ranges: Ranges, source: str | Path, path: str | Path) -> None:
    """Write a copy of a rig or skin whose joints have these limits and no others, or the limits alone.

    Parameters
    ----------
    ranges : by joint and axis, the lowest and the highest angle in degrees, see `Skeleton.with_ranges`
    source : a glTF file or a skin file; for limits alone, any file with a rig, or an example store
    path : a file of the same ending, or `.json` for the limits alone
    """
    require_path_last("save_limits(ranges, source, path)", ranges)
    rig_file, file = Path(source), Path(path)
    with naming(rig_file):
        skeleton, still = _limited_joints(rig_file)
        limited = skeleton.with_ranges(ranges)
    if ignored := [joint for joint in ranges if joint in still]:
        problem = f"control points only translate; limits of {', '.join(ignored)} are ignored"
        warnings.warn(f"{rig_file}: {problem}", stacklevel=2)
    if file.suffix.lower() in registry.written_endings(LIMITS):
        registry.writer(file, LIMITS, "limits are written").write(file, limited.ranges)
        return
    copied = registry.written_endings(LIMITED)
    if rig_file.suffix.lower() not in copied:
        kinds = " ".join(copied)
        raise FileError(file, f"cannot be written from {rig_file.name}; {kinds} keep limits, each in its own ending")
    registry.writer(rig_file, LIMITED, "limits are written").write(rig_file, file, limited.ranges)


def _limited_joints(path: Path) -> tuple[Skeleton, tuple[str, ...]]:
    """The skeleton of a file, and the joints whose limits do nothing."""
    if path.is_dir():
        from posespace.formats.store.example_store import ExampleStore

        return ExampleStore.open(path).rig.skeleton, ()
    if load.is_skin_file(path):
        skin = load.load_skin(path)
        return skin.rig.skeleton, skin.bones.joints_without_rotation(skin.rig)
    return load.load_rig(path).skeleton, ()
