"""PSD: pose space deformation of examples, as an editing session with all of them that is solved once."""

from __future__ import annotations

from posespace.examples import Examples, require_examples
from posespace.fit.contradictions import warn_of_contradictions
from posespace.fit.duplicate_poses import merge_duplicate_poses
from posespace.fit.psd.sculpts import Sculpts
from posespace.fit.psd.settings import PSDSettings
from posespace.fit.self_check import checked, said
from posespace.poses.links import linked
from posespace.progress import track
from posespace.skin.skin import Skin


class PSD(PSDSettings):  # noqa: D101  # the docstring of its settings, which the command line reads
    __doc__ = PSDSettings.__doc__

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example exactly, and frames of clips approximately."""
        require_examples(examples)
        examples = linked(examples)
        warn_of_contradictions(examples)
        examples = merge_duplicate_poses(examples)
        sculpts = Sculpts(examples.rig, self.with_radii(examples.control_radii))
        for index in track(range(len(examples)), "sculpts"):
            name, (pose, shape) = examples.motion.names[index], examples[index]
            sculpts.add(name, pose, shape, examples.radii.get(name))
        return solved(sculpts, examples)


def solved(sculpts: Sculpts, examples: Examples) -> Skin:
    """Return the skin of an editing session, checked on the session's sculpts as `examples`."""
    skin = sculpts.skin()
    return said(checked(skin, examples, sculpts.residuals))
