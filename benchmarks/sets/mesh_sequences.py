"""Clips whose shapes are given frame by frame: the mesh of dem-bones, and a simulated cow moved by handles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import posespace as ps
from sets.data_set import DataSet, Offer, parted

CHUNK = 60
"""Frames of dem-bones that follow one another in time; the file lacks those between two chunks."""

FAR = (20, 40)
"""The unseen frames of each chunk, from the first to before the second."""

BLOCK = 10
"""Frames of a block, and of a run."""


def offers(data: Path) -> Iterator[Offer]:
    """The data sets of the sequences that are in the folder `data`."""
    if (data / "meshseq-dembones").is_dir():
        yield "dem-bones, far stretches", partial(far_stretches, data)
        yield "dem-bones, blocks", partial(blocks, data)
    if (data / "meshseq-spot").is_dir():
        yield "spot", partial(spot, data)


def far_stretches(data: Path) -> DataSet:
    """dem-bones, with the middle third of each chunk unseen: the frames in it are far from those to fit on."""
    examples = dem_bones(data)
    place = np.arange(len(examples)) % CHUNK
    low, high = FAR
    split = f"chunks of {CHUNK} frames in a row: {low} to {high - 1} of each unseen"
    return parted("dem-bones, far stretches", examples, (place >= low) & (place < high), split)


def blocks(data: Path) -> DataSet:
    """dem-bones in short blocks: most unseen frames have fitted ones close by in time."""
    examples = dem_bones(data)
    odd = np.arange(len(examples)) // BLOCK % 2 == 1
    return parted("dem-bones, blocks", examples, odd, f"blocks of {BLOCK} frames: the 2nd, 4th, ... unseen")


def dem_bones(data: Path) -> ps.Examples:
    """Return the 300 frames of dem-bones, which linear blending of its 6 joints cannot reproduce."""
    found = dict(np.load(data / "meshseq-dembones" / "bone_train.npz"))
    rig = ps.Rig.from_arrays(
        found["rest_verts"],
        found["tris"],
        found["weights"],
        found["bone_parents"],
        found["rest_bone_world"],
        found["bone_names"].tolist(),
    )
    motion = ps.Motion.from_world(rig.skeleton, found["bone_world"])
    return ps.Examples.from_shapes(rig, motion, found["verts"])


def spot(data: Path) -> DataSet:
    """A cow that 15 handles shift: each handle is a root joint that never turns.

    The rows of its weights sum to 0.85 to 1; a rig scales them to one.
    """
    found = dict(np.load(data / "meshseq-spot" / "spot.npz"))
    shapes, handles = found["verts"], found["handles"].astype(np.float64)
    count, joints = handles.shape[:2]
    rest_world = np.tile(np.eye(4), (joints, 1, 1))
    rest_world[:, :3, 3] = handles[0]
    names = [f"handle{k}" for k in range(joints)]
    rig = ps.Rig.from_arrays(
        shapes[0], found["triangles"], found["weights"], np.full(joints, -1, np.int32), rest_world, names
    )
    still = np.tile([0.0, 0.0, 0.0, 1.0], (count, joints, 1))
    examples = ps.Examples.from_shapes(rig, ps.Motion(still, handles - handles[0]), shapes)
    fourth = np.arange(count) // BLOCK % 4 == 3
    return parted("spot", examples, fourth, f"runs of {BLOCK} frames: every fourth unseen")
