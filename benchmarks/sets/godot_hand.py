"""A game's hand, with shapes by simulation: its own chains of joints, and the same joints all hanging from the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.cli.printing import warn
from posespace.formats.store.example_store import ExampleStore
from sets.data_set import DataSet, LeftOutError, Offer, parted

ELEMENTS = 8000
ORDER = 1
STORE = f"hand-godot-xr, order {ORDER}, {ELEMENTS} elements.examples"


def offers(data: Path, cache: Path | None) -> Iterator[Offer]:
    """The data sets, where the folder `data` has the hand; `cache` is where its simulated shapes are kept."""
    folder = data / "hand-godot-xr"
    if folder.is_dir():
        yield "godot hand, flat", partial(hand, "godot hand, flat", folder, cache, True)
        yield "godot hand, hierarchy", partial(hand, "godot hand, hierarchy", folder, cache, False)


def hand(name: str, folder: Path, cache: Path | None, flat: bool) -> DataSet:
    """The poses of the file, simulated; the first is the rest pose."""
    if cache is None:
        raise LeftOutError("its shapes are simulated; say with --cache FOLDER where to keep them")
    examples = simulated(folder, cache)
    fourth = np.arange(len(examples)) % 4 == 3
    return parted(name, flattened(examples) if flat else examples, fourth, "simulated poses: every fourth unseen")


def simulated(folder: Path, cache: Path) -> ps.Examples:
    """Return the simulated poses: from the store in `cache` if it is complete, else simulated now and kept there."""
    from posespace.simulation.run import simulate
    from posespace.simulation.settings import Settings, Tissue

    path = cache / STORE
    if not _complete(path):
        cache.mkdir(parents=True, exist_ok=True)
        rig, poses = folder / "hand_l.gltf", folder / "poses_left.json"
        settings = Settings(poses, elements=ELEMENTS, tissue=Tissue(ORDER))
        simulate(rig, path, settings, resume=path.exists(), warn=warn)
    return ps.Examples.open(path)


def flattened(examples: ps.Examples) -> ps.Examples:
    """Return the same shapes and joints, in the same places, with every joint a child of the root."""
    rig, motion = examples.rig, examples.motion
    skeleton = rig.skeleton
    root = skeleton.order[0]
    parents = np.where(np.arange(len(skeleton)) == root, -1, root)
    flat = ps.Skeleton.from_world(skeleton.names, parents, np.linalg.inv(rig.inverse_bind))
    world = skeleton.world(motion.rotations, motion.translations)
    return replace(
        examples,
        rig=replace(rig, skeleton=flat),
        motion=ps.Motion.from_world(flat, world, motion.times, motion.names),
    )


def _complete(path: Path) -> bool:
    """Whether a store is there and each of its poses has a shape, or a reason why it could not be made."""
    if not path.exists():
        return False
    store = ExampleStore.open(path)
    return int(store.finished().sum()) + len(store.failures()) == len(store)
