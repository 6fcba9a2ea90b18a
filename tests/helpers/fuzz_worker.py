"""Reads bad copies of one sample file after the other, in a process whose memory and time are limited.

Called by fuzz.py: python -m helpers.fuzz_worker SAMPLE HOW COUNT SEED FOLDER. Prints what happened as JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import traceback
import warnings
from pathlib import Path

from posespace.cli.app import app
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.formats import files, load, pose_json
from posespace.formats.usd import process
from posespace.markers.gaps import filled
from posespace.report import info
from posespace.skeleton import Skeleton
from posespace.skin import Skin

MEMORY = 500_000_000
SECONDS = 2.0


class TooLongError(Exception):
    pass


def use(path: Path, skeleton: Skeleton | None) -> None:
    """Do with a file what a user would: look at it, then pose what it holds."""
    if path.suffix == ".npy":
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
                rig.skin(motion[0])
        if contents.markers is not None:
            with files.naming(path):
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
    """Return None if the file was read, else the one line; anything but the one line raises."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        use(path, skeleton)
        check_children(before)
        return None
    except InputError as error:
        line = str(error)
        line.encode()
        if "\n" in line or path.name not in line:
            raise AssertionError(f"not one line that names the file: {line!r}") from error
        check_children(before)
        return line
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def check_children(before: resource.struct_rusage) -> None:
    """Hold a reader that works in a child process to the same limits."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime > SECONDS:
        raise TooLongError
    if now.ru_maxrss * 1024 > MEMORY:
        raise MemoryError(f"a child process took {now.ru_maxrss} kB")


def too_long(*_: object) -> None:
    raise TooLongError


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def main() -> None:
    sample, how, count, seed, folder = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], Path(sys.argv[5])
    write = importlib.import_module(f"helpers.{how}").write
    rigged = folder / "rig.skin"
    skeleton = Skin.load(rigged).rig.skeleton if rigged.exists() else None
    use(sample, skeleton)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, too_long)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    if sample.suffix == ".usda":
        # A child process would inherit limits; the one that reads USD limits itself.
        process.run_child = run_forked
    else:
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    target = folder / f"mutant{sample.suffix}"
    read, lines, failures = 0, [], []
    for number in range(count):
        remove(target)
        write(random.Random(f"{seed} {number}"), sample, target)
        try:
            line = attempt(target, skeleton)
        except BaseException:
            failures.append(f"mutant {number}: {traceback.format_exc()}")
            continue
        read += line is None
        lines += [line] if line is not None else []
    remove(target)
    print(json.dumps({"read": read, "refused": len(lines), "lines": lines, "failures": failures}))


main()
