"""Loads, poses, compiles and plays tampered copies of a skin, one after the other, in a process with little memory.

Called by fuzz.py: python -m helpers.tamper_worker SAMPLE COUNT FOLDER HOW. Prints what happened as JSON.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from helpers.limited import SECONDS, computed, limit_memory, limited, refusal, use_all

from posespace.motion import Motion
from posespace.pose import Pose
from posespace.report import info
from posespace.rig import BLENDINGS, Rig
from posespace.runtime.player import Player
from posespace.skin.skin import Skin

COMPILING = 60.0
"""Seconds that a step may take where loops are compiled in it."""


def poses(rig: Rig, names: tuple[str, ...], rng: np.random.Generator) -> list[Pose]:
    """The rest pose, one of ordinary size, one far off, and one with all that a pose may have."""
    joints = len(rig.skeleton)
    turn, shift = rng.normal(size=(joints, 4)), rng.normal(size=(joints, 3))
    far = dict.fromkeys(names, 1e4)
    return [
        replace(rig.rest, controls=dict.fromkeys(names, 0.0)),
        Pose(turn, 0.1 * shift, dict.fromkeys(names, 0.5)),
        Pose(-turn, 1e4 * shift, far),
        Pose(turn, np.full((joints, 3), 3e9), dict.fromkeys(names, -1e10)),
    ]


def require_finite(what: str, *arrays: np.ndarray | None) -> None:
    for array in arrays:
        if array is not None and not np.isfinite(array).all():
            raise AssertionError(f"{what} gave NaN or infinity")


def step(name: str, work: Callable[[], object]) -> str | None:
    """Return None if a step worked, else the one line that it raised; anything else, or too much time, fails.

    A step that takes too long is done again: loops may have been compiled for types not met before, and are kept then.
    """
    for _ in range(2):
        before = computed()
        with limited(COMPILING):
            line = refusal(work)
        took = computed() - before
        if took <= SECONDS:
            return line
    raise AssertionError(f"{name} took {took:.1f} s")


def use(path: Path, number: int) -> str | None:
    """Do with a skin what a program would; return why it was refused, or None."""
    skins: list[Skin] = []
    refused = step("load", lambda: skins.append(Skin.load(path)))
    if refused is not None:
        assert path.name in refused, f"does not name the file: {refused!r}"
        return refused
    skin = skins[-1]
    assert step("info", lambda: json.dumps(info.describe(path), ensure_ascii=False).encode()) is None
    assert step("save", lambda: skin.save(path.with_name("again.skin"))) is None
    if len(skin.bones.points):
        return play(skin, number)
    blending = list(BLENDINGS)[number % 2]
    return play(replace(skin, rig=replace(skin.rig, blending=blending)), number)


def play(skin: Skin, number: int) -> str | None:
    players: list[Player] = []
    refused = step("compile", lambda: players.append(skin.compile(normals=number % 3 > 0)))
    if refused is not None:
        return refused
    player, wanted = players[-1], poses(skin.rig, skin.control_names, np.random.default_rng(number))
    said: list[str | None] = []
    for pose in wanted:
        said.append(step("pose", lambda pose=pose: require_finite("skin.pose", *skin.pose(pose))))  # type: ignore[misc]
        played = step("play", lambda pose=pose: require_finite("play", *player(pose)))  # type: ignore[misc]
        # The reference and the player agree on which poses are too large.
        assert (said[-1] is None) == (played is None), f"skin.pose: {said[-1]}; play: {played}"
    motion = Motion.from_poses(wanted[:2])
    step("many", lambda: [require_finite("play.many", *shape) for shape in player.many(motion)])
    step("drive", lambda: require_finite("play.drive", player.drive(wanted[1])[0]))
    return said[0]


def main() -> None:
    sample, count, folder, how = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    tampered = importlib.import_module(f"helpers.{how}").tampered
    for number in range(6):
        refused = use(sample, number)
        assert refused is None, refused
    limit_memory()
    content, target = sample.read_bytes(), folder / f"tampered{sample.suffix}"
    use_all(
        target,
        count,
        lambda number: target.write_bytes(tampered(random.Random(f"{sample.name} 2014 {number}"), content)),
        lambda number: use(target, number),
    )


main()
