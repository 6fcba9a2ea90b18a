"""RBF against SciPy's RBFInterpolator: the same values, the time to fit and to evaluate, and samples that lie flat.

Run: uv run python benchmarks/interpolators.py [--json]
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rivals import DATA, frames
from scipy.interpolate import RBFInterpolator
from timing import alternate, report, show, wants_json

import posespace as ps
from posespace.interpolate.rbf import RBF
from posespace.poses.active import changing, whole_space
from posespace.poses.spaces import PoseSpace

Array = NDArray[np.float64]

SCIPY = {
    "gaussian": ("gaussian", 1 / np.sqrt(2), -1),
    "multiquadric": ("multiquadric", 1.0, 0),
    "thin_plate": ("thin_plate_spline", 1.0, 1),
    "linear": ("linear", 1.0, 0),
    "cubic": ("cubic", 1.0, 1),
}


SMOOTHING = 1e-3
"""Of the cubic kernel on clips."""


def clips() -> dict[str, tuple[ps.Examples, ps.Examples]]:
    """Frames of clips to fit on and unseen ones."""
    found = {"arm clip": ps.datasets.arm()}
    data = Path(os.environ.get("POSESPACE_DATA", DATA))
    if (data / "meshseq-dembones").is_dir():
        found["dem-bones"] = frames(data)[1:3]
    return found


def on_clips() -> list[dict[str, object]]:
    """A cubic kernel with smoothing on clips, in spaces that the frames fill and in one where they lie flat."""
    rows: list[dict[str, object]] = []
    for title, (train, unseen) in clips().items():
        rig = train.rig
        skin = ps.PSD("cubic", smoothing=SMOOTHING).fit(train)
        psd = round(ps.evaluate(skin, unseen).rel_err, 4)
        rows.append({"clip": title, "space": "PSD's own layers", "linear tail where samples span": psd})
        spaces = {
            "degrees of freedom": whole_space(rig, train.motion, "freedoms"),
            "quaternions": PoseSpace("quaternions", changing(rig, train.motion)[0]),
        }
        for name, space in spaces.items():
            where, new, rest = (
                space.coordinates(each, rig.skeleton) for each in (train.motion, unseen.motion, rig.rest)
            )
            where = np.vstack([rest, where])
            radius = float(np.linalg.norm(where[:, None] - where, axis=2).max())
            error = partial(_error, train, unseen, where / radius, new / radius)
            rows.append(
                {
                    "clip": title,
                    "space": name,
                    "linear tail where samples span": error(
                        lambda x, y: RBF("cubic", 1.0, smoothing=SMOOTHING).fit(x, y)
                    ),
                    "constant tail": error(lambda x, y: RBF("cubic", 1.0, "constant", SMOOTHING).fit(x, y)),
                    "SciPy, linear tail": error(partial(RBFInterpolator, kernel="cubic", smoothing=SMOOTHING)),
                    "SciPy, constant tail": error(
                        partial(RBFInterpolator, kernel="cubic", smoothing=SMOOTHING, degree=0)
                    ),
                }
            )
    return rows


def _error(
    train: ps.Examples,
    unseen: ps.Examples,
    where: Array,
    new: Array,
    fit: Callable[[Array, Array], Callable[..., Array]],
) -> float | str:
    """The relative error of an interpolant of the residuals, the first sample being the rest pose; or why none is."""
    residuals = np.stack([train.residual(index)[0] for index in range(len(train))])
    values = np.vstack([np.zeros(residuals[0].size), residuals.reshape(len(residuals), -1)])
    try:
        guessed = fit(where, values)(new).reshape(len(new), -1, 3)
    except (np.linalg.LinAlgError, ValueError) as error:
        return f"fails: {error}"
    off = plain = 0.0
    for (pose, shape), displacement in zip(unseen, guessed, strict=True):
        off += float(np.square(unseen.rig.skin(pose, displacement) - shape).sum())
        plain += float(np.square(unseen.rig.skin(pose) - shape).sum())
    return round(float(np.sqrt(off / plain)), 4)


def main() -> None:
    as_json = wants_json()
    show(f"cubic kernel, smoothing {SMOOTHING}, unseen frames", on_clips(), as_json)
    rng = np.random.default_rng(0)
    where, values, queries = rng.normal(size=(60, 3)), rng.normal(size=(60, 50)), rng.normal(size=(200, 3))
    one = queries[:1]
    for kernel, (name, epsilon, degree) in SCIPY.items():
        ours = RBF(kernel, radius=1.0).fit(where, values)
        theirs = RBFInterpolator(where, values, kernel=name, epsilon=epsilon, degree=degree)
        gap = np.abs(ours(queries) - theirs(queries)).max() / np.abs(values).max()
        fitting = {
            "posespace": partial(RBF(kernel, radius=1.0).fit, where, values),
            "scipy": partial(RBFInterpolator, where, values, kernel=name, epsilon=epsilon, degree=degree),
        }
        title = f"{kernel}: fit 60 samples, 50 values (largest difference {gap:.0e})"
        report(title, alternate(fitting), "scipy", as_json)
        asking = {"posespace": partial(ours, one), "scipy": partial(theirs, one)}
        report(f"{kernel}: one query", alternate(asking, 101), "scipy", as_json)


if __name__ == "__main__":
    main()
