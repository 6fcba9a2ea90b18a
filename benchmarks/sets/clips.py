"""Every clip of the animated characters at hand, with shapes made by `bulge`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.formats.frames import Wanted
from posespace.formats.load import read
from sets.alike import alike
from sets.bulge import bulging
from sets.data_set import DataSet, LeftOutError, Offer, parted

FILES = {
    "CesiumMan": "gltf-khronos/CesiumMan.glb",
    "RiggedSimple": "gltf-khronos/RiggedSimple.glb",
    "SimpleSkin": "gltf-khronos/SimpleSkin.gltf",
    "rocketbox woman": "humanoid-rocketbox/Female_Adult_01_cheer_03.glb",
    "rocketbox horse": "quadrupeds-rocketbox/Horse_Brown_01.glb",
    "rocketbox camel": "quadrupeds-rocketbox/Camel_OneHump_01.glb",
    "knight": "humanoid-kaykit-knight/Knight.glb",
}

MOST, LEAST = 120, 8
"""Frames of a clip: more are thinned out evenly, a clip with fewer is left out."""

RUNS, UNSEEN = 10, (2, 7)
"""Into how many runs a clip is divided, and which of them are unseen."""


def offers(data: Path) -> Iterator[Offer]:
    """A data set for each clip of the files in the folder `data`; of several in a file, each by its own name."""
    for title, file in FILES.items():
        if (data / file).is_file():
            # The file's own keys: frames between them would bring no pose that they do not already bring.
            contents = read(data / file, Wanted(rate="keys"))
            rig = next(iter(contents.rigs.values()))
            if not contents.motions:
                yield title, _no_clip
            for clip, motion in contents.motions.items():
                name = title if len(contents.motions) == 1 else f"{title}, {clip}"
                yield name, partial(clip_set, name, rig, motion)


def clip_set(name: str, rig: ps.Rig, motion: ps.Motion) -> DataSet:
    """At most `MOST` frames of a clip with made shapes."""
    if len(motion) < LEAST:
        raise LeftOutError(f"fewer than {LEAST} frames: {len(motion)}")
    if alike(rig, motion, motion[:1]).all():
        raise LeftOutError("nothing moves")
    kept = motion[np.linspace(0, len(motion) - 1, min(len(motion), MOST)).round().astype(np.int64)]
    run = np.arange(len(kept)) * RUNS // len(kept)
    split = f"runs of a tenth of {len(kept)} frames: the {UNSEEN[0] + 1}rd and the {UNSEEN[1] + 1}th unseen"
    return parted(name, bulging(rig, kept), np.isin(run, UNSEEN), split)


def _no_clip() -> DataSet:
    raise LeftOutError("its file holds no clip")
