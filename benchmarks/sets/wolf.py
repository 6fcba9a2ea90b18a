"""A wolf in 15 poses whose shapes come from other weights than those of the rig that is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from sets.data_set import DataSet, Offer, parted

NAME = "wolf, other weights"


def offers(data: Path) -> Iterator[Offer]:
    """The data set, where the folder `data` has the wolf."""
    if (data / "meshposes-wolf").is_dir():
        yield NAME, partial(wolf, data / "meshposes-wolf")


def wolf(folder: Path) -> DataSet:
    """The shapes of the file, which are linear blending by its weights, on a rig with weights by distance."""
    mesh = ps.load_mesh(folder / "wolf_rest.obj")
    skeleton = skeleton_of(folder / "wolf.tgf")
    rig = ps.Rig(mesh, skeleton, *ps.distance_weights(mesh, skeleton))
    files = sorted((folder / "poses").glob("*.Tmat"))
    moved = np.tile(np.eye(4), (len(files), len(skeleton), 1, 1))
    moved[:, :, :3] = np.stack([bone_transforms(file, len(skeleton)) for file in files])
    names = [file.stem for file in files]
    motion = ps.Motion.from_world(skeleton, moved @ skeleton.rest_world, names=names)
    shapes = [ps.load_mesh(file.with_suffix(".obj")).points for file in files]
    examples = ps.Examples.from_shapes(rig, motion, shapes)
    split = f"{len(files)} poses, each of one joint that no other pose turns: every fifth unseen, few as they are"
    return parted(NAME, examples, np.arange(len(files)) % 5 == 4, split)


def bone_transforms(path: Path, count: int) -> NDArray[np.float64]:
    """Return the bone transforms (J, 3, 4) of a pose, from rest; the file has them transposed."""
    return np.swapaxes(np.loadtxt(path).reshape(count, 4, 3), 1, 2)


def skeleton_of(path: Path) -> ps.Skeleton:
    """Return the skeleton of a file of points and bones: a joint where each bone begins, four of them roots."""
    points, bones = (part.strip().splitlines() for part in path.read_text().split("#")[:2])
    places = {words[0]: [float(word) for word in words[1:4]] for words in map(str.split, points)}
    ends = [(start, end) for start, end in map(str.split, bones)]
    bone_at = {end: number for number, (_, end) in enumerate(ends)}
    rest_world = np.tile(np.eye(4), (len(ends), 1, 1))
    rest_world[:, :3, 3] = [places[start] for start, _ in ends]
    names = [f"{start} to {end}" for start, end in ends]
    return ps.Skeleton.from_world(names, [bone_at.get(start, -1) for start, _ in ends], rest_world)
