"""What a user would do with a file, whatever it holds: look at it, then pose what is in it."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

from posespace.cli.app import app
from posespace.examples import Examples
from posespace.formats import limits_json, load, pose_json
from posespace.formats.files import naming
from posespace.markers.gaps import filled
from posespace.report import info
from posespace.skeleton import Skeleton
from posespace.skin.skin import Skin


def use_json(path: Path, skeleton: Skeleton) -> None:
    """Put joint limits or poses onto a skeleton."""
    if limits_json.is_limits(path):
        with naming(path):
            skeleton.with_ranges(limits_json.read(path))
    else:
        pose_json.read(path).motion(skeleton)


def use(path: Path, skeleton: Skeleton | None) -> None:
    """Do with a file what a user would: look at it, then pose what it holds."""
    if path.suffix in (".npy", ".npz"):
        gather(path)
        return
    if path.suffix != ".usda":
        # Each look at a USD file starts a process: one is enough.
        info.describe(path)
    if path.suffix == ".json":
        assert skeleton is not None
        use_json(path, skeleton)
    elif path.suffix == ".skin":
        skin = Skin.load(path)
        skin.pose(skin.rig.rest)
    elif path.suffix == ".examples":
        for _ in Examples.open(path):
            pass
    else:
        contents = load.read(path)
        for rig in contents.rigs.values():
            rig.skin(rig.rest)
        for motion in contents.motions.values():
            if contents.rigs and len(motion):
                rig = next(iter(contents.rigs.values()))
                # As `posespace pose` does; a rig by itself does not know where a pose comes from.
                with naming(path):
                    rig.skin(motion[0])
        if contents.markers is not None:
            with naming(path):
                filled(contents.markers).resampled(30.0)
        if path.suffix in (".gltf", ".glb") and load.is_skin(path):
            skin = Skin.load(path)
            with naming(path):
                skin.pose(skin.rig.rest)


def gather(shapes: Path) -> None:
    """Make examples of a stack of shapes; its rig and its poses are in the same folder."""
    out = shapes.with_suffix(".examples")
    shutil.rmtree(out, ignore_errors=True)
    words = ["examples", "face.obj", "--poses", "controls.json", "--shapes", shapes.name, "-o", out.name]
    with contextlib.chdir(shapes.parent), contextlib.redirect_stdout(io.StringIO()):
        app(words, standalone_mode=False)
