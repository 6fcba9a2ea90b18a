"""Pose markers of a glTF animation: names of poses and their times, which programs keep in its `extras`."""

from __future__ import annotations

from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.frames import PoseMarker
from posespace.formats.gltf.buffers import Document

_MOST_MARKERS = 10_000


def read_markers(document: Document, animation: Fields) -> tuple[PoseMarker, ...]:
    """Return the pose markers of an animation, in the order of time, each moment once.

    They are `markers`, an object of seconds by name or a list of objects with `name` and `time`; or `poseNames` and
    `poseTimes`, two lists, as `export` writes them. Extras may be anything: what is no marker is left out with a note.
    """
    extras = animation.values.get("extras")
    if not isinstance(extras, dict):
        return ()
    fields = Fields(extras, f"{animation.where} extras")
    try:
        markers = _listed(fields) if "markers" in fields else _paired(fields)
        if len(markers) > _MOST_MARKERS:
            raise InputError(f"{fields.where}: expected at most {_MOST_MARKERS} pose markers, got {len(markers)}")
    except InputError as error:
        document.note(f"{error}: its pose markers are left out")
        return ()
    # Of two at one moment the first is taken: a motion has each time once.
    by_time = {marker.time: marker for marker in reversed(markers)}
    return tuple(by_time[time] for time in sorted(by_time))


def _listed(fields: Fields) -> list[PoseMarker]:
    if isinstance(fields.values["markers"], dict):
        times = fields.part("markers")
        return [PoseMarker(name, times.number(name)) for name in times]
    entries = fields.parts("markers", f"{fields.where} marker")
    return [PoseMarker(entry.text("name"), entry.number("time")) for entry in entries]


def _paired(fields: Fields) -> list[PoseMarker]:
    names, times = fields.texts("poseNames", ()), fields.numbers("poseTimes", default=())
    if len(names) != len(times):
        raise InputError(f"{fields.where}: expected as many poseTimes as poseNames, got {len(times)} for {len(names)}")
    return [PoseMarker(name, time) for name, time in zip(names, times, strict=True)]
