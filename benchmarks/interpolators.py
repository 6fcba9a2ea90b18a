"""RBF against SciPy's RBFInterpolator: the same values, and the time to fit and to evaluate.

Run: uv run python benchmarks/interpolators.py
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.interpolate import RBFInterpolator
from timing import report, take_turns, wants_json

from posespace.interpolate.rbf import RBF

SCIPY = {
    "gaussian": ("gaussian", 1 / np.sqrt(2), -1),
    "multiquadric": ("multiquadric", 1.0, 0),
    "thin_plate": ("thin_plate_spline", 1.0, 1),
    "linear": ("linear", 1.0, 0),
    "cubic": ("cubic", 1.0, 1),
}


def main() -> None:
    as_json = wants_json()
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
        report(title, take_turns(fitting), "scipy", as_json)
        asking = {"posespace": partial(ours, one), "scipy": partial(theirs, one)}
        report(f"{kernel}: one query", take_turns(asking, 101), "scipy", as_json)


if __name__ == "__main__":
    main()
