"""A file or folder opened as a project, with clips to play; what cannot be edited says how to make what can."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posespace.errors import FileError
from posespace.examples import Examples
from posespace.fit.psd.sculpts import Sculpts
from posespace.formats import load
from posespace.formats.skin_motions import with_beta_for
from posespace.motion import Motion
from posespace.skin.skin import Skin
from posespace.studio.clips import ClipFiles
from posespace.studio.project import Project

STORE = "zarr.json"
_REST = "rest"


def opened(path: Path, clips: ClipFiles | None = None, note: Callable[[str], None] | None = None) -> Project:
    """Return the project of an example store, a folder that holds one, a skin or a rig.

    `clips` are played; `note` is called with a line about what was chosen of them.
    """
    project = _opened(path, clips or ClipFiles())
    if not len(project.skin.rig.mesh.triangles):
        raise FileError(path, "expected a mesh with triangles to show, got points alone")
    if clips is not None:
        project.clips = clips.load(project.skin, note)
    return project


def _opened(path: Path, clips: ClipFiles) -> Project:
    if not path.exists():
        raise FileError(path, "does not exist; to begin with a rig: posespace studio --new RIG")
    if path.is_dir():
        store = _store_in(path)
        session = Sculpts.open(store)
        return Project(store, Skin(session.rig), session)
    if load.is_skin(path):
        remedy = f"{path.name} is a fitted skin; open its examples to sculpt: posespace studio X.examples"
        return Project(path, with_beta_for(load.load_skin(path), clips.motions), remedy=remedy)
    remedy = f"{path.name} is a rig without a project; to sculpt: posespace studio --new {path.name}"
    return Project(path, Skin(load.load_rig(path)), remedy=remedy)


def made(rig: Path, folder: Path | None) -> Path:
    """Make an example store of a rig with its rest shape, where nothing is yet; return its folder."""
    target = Path(f"{rig.stem}.examples") if folder is None else folder
    if target.exists():
        raise FileError(target, f"exists already; open it: posespace studio {target}")
    loaded = load.load_rig(rig)
    rest = Motion.from_poses([loaded.rest], [_REST])
    Examples.from_shapes(loaded, rest, loaded.mesh.points[None]).save(target)
    return target


def _store_in(folder: Path) -> Path:
    """The example store that a folder is, or holds."""
    if (folder / STORE).is_file():
        return folder
    stores = sorted(path.parent for path in folder.glob(f"*/{STORE}"))
    if len(stores) == 1:
        return stores[0]
    if not stores:
        raise FileError(folder, "holds no example store; make one: posespace studio --new RIG")
    names = ", ".join(store.name for store in stores[:4])
    raise FileError(folder, f"holds {len(stores)} example stores ({names}); open one of them")
