"""Reads bad copies of one sample file after the other, in a process whose memory and time are limited.

Called by fuzz.py: python -m helpers.fuzz_worker SAMPLE COUNT FOLDER HOW. Prints what happened as JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import resource
import shutil
import sys
from pathlib import Path

from helpers.limited import MEMORY, limit_memory, limited, refusal, use_all

from posespace.cli.app import app
from posespace.examples import Examples
from posespace.formats import load, pose_json
from posespace.formats.files import naming
from posespace.formats.usd import process
from posespace.markers.gaps import filled
from posespace.report import info
from posespace.skeleton import Skeleton
from posespace.skin import Skin


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
        pose_json.read(path).motion(skeleton)
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


def gather(shapes: Path) -> None:
    """Make examples of a stack of shapes; its rig and its poses are in the same folder."""
    out = shapes.with_suffix(".examples")
    shutil.rmtree(out, ignore_errors=True)
    words = ["examples", "face.obj", "--poses", "controls.json", "--shapes", shapes.name, "-o", out.name]
    with contextlib.chdir(shapes.parent), contextlib.redirect_stdout(io.StringIO()):
        app(words, standalone_mode=False)


def run_forked(path: Path, seconds: float) -> tuple[int, bytes]:
    """Run the USD child in a process that has its library already: loading it takes longer than 20 small files."""
    from posespace.formats.usd import child

    ending, starting = os.pipe()
    number = os.fork()
    if not number:
        os.close(ending)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(starting, "wb") as stream:
            child.main(path.absolute(), stream)
        os._exit(0)
    os.close(starting)
    with os.fdopen(ending, "rb") as stream:
        output = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), output


def attempt(path: Path, skeleton: Skeleton | None) -> str | None:
    """Return None if the file was read, else the one line that names it; anything else raises."""
    with limited():
        line = refusal(lambda: use(path, skeleton))
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert took <= MEMORY, f"a child process took {took} bytes"
    assert line is None or path.name in line, f"does not name the file: {line!r}"
    return line


def main() -> None:
    sample, count, folder, how = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    write = importlib.import_module(f"helpers.{how}").write
    rigged = folder / "rig.skin"
    skeleton = Skin.load(rigged).rig.skeleton if rigged.exists() else None
    use(sample, skeleton)
    if sample.suffix == ".usda":
        # A child process would inherit limits; the one that reads USD limits itself.
        process.run_child = run_forked
    else:
        limit_memory()
    target = folder / f"mutant{sample.suffix}"
    use_all(
        target,
        count,
        lambda number: write(random.Random(f"2002 {number}"), sample, target),
        lambda _: attempt(target, skeleton),
    )


main()
