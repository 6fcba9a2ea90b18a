"""A file or folder opened as a project; what cannot be edited is shown, and says how to make what can."""

from __future__ import annotations

from pathlib import Path

from posespace.errors import FileError
from posespace.examples import Examples
from posespace.fit.psd.sculpts import Sculpts
from posespace.formats import load
from posespace.motion import Motion
from posespace.skin.skin import Skin
from posespace.studio.project import Project

STORE = "zarr.json"
_REST = "rest"


def opened(path: Path) -> Project:
    """Return the project of an example store, a folder that holds one, a skin or a rig."""
    if not path.exists():
        raise FileError(path, "does not exist; to begin with a rig: posespace studio --new RIG")
    if path.is_dir():
        store = _store_in(path)
        session = Sculpts.open(store)
        return Project(store, Skin(session.rig), session)
    if load.is_skin(path):
        remedy = f"{path.name} is a fitted skin; open its examples to sculpt: posespace studio X.examples"
        return Project(path, load.load_skin(path), remedy=remedy)
    remedy = f"{path.name} is a rig without a project; to sculpt: posespace studio --new {path.name}"
    return Project(path, Skin(load.load_rig(path)), remedy=remedy)


def made(rig: Path, folder: Path | None) -> Project:
    """Return a new project of a rig: an example store with the rest shape, beside nothing that exists."""
    target = Path(f"{rig.stem}.examples") if folder is None else folder
    if target.exists():
        raise FileError(target, f"exists already; open it: posespace studio {target}")
    loaded = load.load_rig(rig)
    rest = Motion.from_poses([loaded.rest], [_REST])
    Examples.from_shapes(loaded, rest, loaded.mesh.points[None]).save(target)
    return opened(target)


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
