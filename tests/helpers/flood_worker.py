"""Uses the files of floods.py one after the other, in a process whose memory and time are limited.

Called by fuzz.py: python -m helpers.flood_worker SAMPLE COUNT FOLDER. Prints what happened as JSON.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from helpers.floods import FLOODS
from helpers.limited import limit_memory, limited, refusal, use_all
from helpers.use_file import use

from posespace.skeleton import Skeleton

JOINTS = 60


def attempt(folder: Path, skeleton: Skeleton) -> str | None:
    """Return None if the file in a folder was read, else the one line that names it; anything else raises."""
    (path,) = folder.iterdir()
    with limited():
        line = refusal(lambda: use(path, skeleton))
    assert line is None or path.name in line, f"does not name the file: {line!r}"
    return line


def main() -> None:
    sample, count, target = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) / "flood"
    skeleton = Skeleton.from_world(
        [f"joint{k}" for k in range(JOINTS)], range(-1, JOINTS - 1), np.tile(np.eye(4), (JOINTS, 1, 1))
    )
    use(sample, skeleton)
    limit_memory()

    def write(number: int) -> None:
        target.mkdir()
        list(FLOODS.values())[number](target)

    use_all(target, count, write, lambda _: attempt(target, skeleton))


main()
