"""Reads damaged copies of one sample file after the other, in a process whose memory and time are limited.

Called by fuzz.py: python -m helpers.fuzz_worker SAMPLE COUNT SEED FOLDER. Prints what happened as JSON.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import sys
import traceback
import warnings
from pathlib import Path

from helpers import mutate

from posespace.errors import InputError
from posespace.examples import Examples
from posespace.formats import load, pose_json
from posespace.report import info
from posespace.skeleton import Skeleton
from posespace.skin import Skin

MEMORY = 500_000_000
SECONDS = 2.0


class TooLongError(Exception):
    pass


def use(path: Path, skeleton: Skeleton | None) -> None:
    """Do with a file what a user would: look at it, then pose what it holds."""
    if path.suffix != ".usda":
        # Each look at a USD file starts a process: one is enough.
        info.describe(path)
    if path.suffix == ".json":
        assert skeleton is not None
        pose_json.read(path).motion(skeleton)
    elif path.suffix == ".skin":
        skin = Skin.load(path)
        skin.pose(skin.rig.rest)
    elif path.is_dir():
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


def write_mutant(sample: Path, target: Path, rng: random.Random) -> None:
    if sample.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        files = {path.relative_to(sample): path.read_bytes() for path in sample.rglob("*") if path.is_file()}
        for path, content in mutate.folder(rng, files).items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content)
    else:
        content = rng.choice(mutate.KINDS[sample.suffix])(rng, sample.read_bytes())
        target.write_bytes(content)


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


def main() -> None:
    sample, count, seed, folder = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    rigged = folder / "rig.skin"
    skeleton = Skin.load(rigged).rig.skeleton if rigged.exists() else None
    use(sample, skeleton)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, too_long)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    if not sample.suffix.startswith(".usd"):
        # A child process would inherit this; the one that reads USD limits itself.
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    target = folder / f"mutant{sample.suffix}"
    read, lines, failures = 0, [], []
    for number in range(count):
        write_mutant(sample, target, random.Random(f"{seed} {number}"))
        try:
            line = attempt(target, skeleton)
        except BaseException:
            failures.append(f"mutant {number}: {traceback.format_exc()}")
            continue
        read += line is None
        lines += [line] if line is not None else []
    print(json.dumps({"read": read, "refused": len(lines), "lines": lines, "failures": failures}))


main()
