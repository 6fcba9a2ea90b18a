"""Loads, poses, compiles and plays tampered copies of a skin, one after the other, in a process with little memory.

Called by tests: python -m helpers.tamper_worker SAMPLE COUNT SEED FOLDER. Prints what happened as JSON; the number of
the file at work is the last line on stderr, for one that ends the process.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from helpers.tamper import tampered

from posespace.errors import FileError, InputError
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.report import info
from posespace.rig import BLENDINGS, Rig
from posespace.skin import Skin

MEMORY = 500_000_000
SECONDS = 2.0


def poses(rig: Rig, names: tuple[str, ...], rng: np.random.Generator) -> list[Pose]:
    """The rest pose, one of ordinary size, one far off, and one with all that a pose may have."""
    joints = len(rig.skeleton)
    turn, shift = rng.normal(size=(joints, 4)), rng.normal(size=(joints, 3))
    far = dict.fromkeys(names, 1e4)
    return [
        rig.rest,
        Pose(turn, 0.1 * shift, dict.fromkeys(names, 0.5)),
        Pose(-turn, 1e4 * shift, far),
        Pose(turn, np.full((joints, 3), 1e10), dict.fromkeys(names, -1e10)),
    ]


def require_finite(what: str, *arrays: np.ndarray | None) -> None:
    for array in arrays:
        if array is not None and not np.isfinite(array).all():
            raise AssertionError(f"{what} gave NaN or infinity")


def tried(work: Callable[[], object]) -> str | None:
    """Return None if it worked, else the one line; anything but one line raises."""
    try:
        work()
    except InputError as error:
        if "\n" in str(error):
            raise AssertionError(f"not one line: {error}") from error
        str(error).encode()
        return str(error)
    return None


def use(path: Path, number: int) -> str | None:
    """Do with a skin what a program would; return why it was refused, or None."""
    try:
        skin = Skin.load(path)
    except FileError as error:
        line = tried(lambda: Skin.load(path))
        if line is None or path.name not in line:
            raise AssertionError(f"not one line that names the file: {line!r}") from error
        return line
    json.dumps(info.describe(path), ensure_ascii=False).encode()
    skin.save(path.with_name("again.skin"))
    blending = list(BLENDINGS)[number % 2]
    skin = replace(skin, rig=replace(skin.rig, blending=blending))
    return tried(lambda: play(skin, number))


def play(skin: Skin, number: int) -> None:
    wanted = poses(skin.rig, skin.control_names, np.random.default_rng(number))
    # The reference and the player agree on which poses are too large.
    player = skin.compile(normals=number % 3 > 0)
    for pose in wanted:
        refused = tried(lambda pose=pose: require_finite("skin.pose", *skin.pose(pose)))  # type: ignore[misc]
        said = tried(lambda pose=pose: require_finite("play", *player(pose)))  # type: ignore[misc]
        if (refused is None) != (said is None):
            raise AssertionError(f"skin.pose: {refused}; play: {said}")
    motion = Motion.from_poses(wanted[:2])
    tried(lambda: [require_finite("play.many", *shape) for shape in player.many(motion)])
    tried(lambda: require_finite("play.drive", player.drive(wanted[1])[0]))


def attempt(path: Path, number: int) -> str | None:
    """Use a file within the time allowed.

    One that takes longer is tried again: loops may have been compiled for types not met before, and are kept from then.
    """
    for turn in range(2):
        before = time.process_time()
        line = use(path, number)
        took = time.process_time() - before
        if took <= SECONDS:
            return line
        if turn:
            raise AssertionError(f"took {took:.1f} s")
    raise AssertionError


def main() -> None:
    sample, count, seed, folder = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    warnings.simplefilter("ignore")
    for number in range(6):
        refused = use(sample, number)
        assert refused is None, refused
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    content, target = sample.read_bytes(), folder / "tampered.skin"
    played, lines, failures = 0, [], []
    for number in range(count):
        print(number, file=sys.stderr, flush=True)
        target.write_bytes(tampered(random.Random(f"{sample.name} {seed} {number}"), content))
        try:
            line = attempt(target, number)
        except Exception:
            failures.append(f"{sample.name}, file {number}: {traceback.format_exc()}")
            continue
        played += line is None
        lines += [line] if line is not None else []
    print(json.dumps({"played": played, "lines": lines, "failures": failures}))


main()
