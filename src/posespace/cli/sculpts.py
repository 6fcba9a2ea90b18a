"""`posespace sculpts STORE COMMAND`: the sculpts of an example store, changed by commands that can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from posespace.cli.options import FILE, Group, argument, json_option
from posespace.cli.printing import markdown_table, note, print_json, warn
from posespace.errors import InputError

if TYPE_CHECKING:
    from posespace.fit.psd.sculpts import Sculpts

EXAMPLE = "Example: posespace sculpts hand.examples add fist.obj --pose fist --poses poses.json"
_HELP = ("-h", "--help")
_MOVES_SHOWN = 3


class StoreGroup(Group):
    """Commands that come after the store they change."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the words that are no options; `posespace sculpts add --help` needs no store."""
        if args[:1] and args[0] in self.commands and args[1:2] and args[1] in _HELP:
            args = ["STORE", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the words begin with; raise unless the store comes first."""
        if (store := str(ctx.params["store"])) in self.commands and args[0] not in self.commands:
            raise InputError(f"sculpts: expected the store first: posespace sculpts {args[0]} {store}")
        return super().resolve_command(ctx, args)


@click.group(cls=StoreGroup, invoke_without_command=True, subcommand_metavar="COMMAND [ARGS]...", epilog=EXAMPLE)
@argument("store", "The example store.")
@click.pass_context
def sculpts(ctx: click.Context, store: Path) -> None:
    """Add, change and remove the sculpts of an example store.

    Each change is atomic and can be undone. Without a command the sculpts are listed.
    """
    ctx.obj = store
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sculpts, as_json=False)


def _open(store: Path) -> Sculpts:
    from posespace.cli.checks import require_store
    from posespace.fit.psd.sculpts import Sculpts

    require_store(store)
    return Sculpts.open(store)


def _done(store: Path, session: Sculpts, line: str, as_json: bool, **figures: Any) -> None:
    """Print what was done, for people or for programs."""
    muted = sum(sculpt.muted for sculpt in session.sculpts.values())
    if as_json:
        print_json({"file": str(store), "done": line, "sculpts": len(session), "muted": muted, **figures})
    else:
        click.echo(f"{store}: {line}; {len(session)} sculpts{f', {muted} muted' if muted else ''}")


_names_argument = argument(
    "names",
    "The sculpts, by name or quoted pattern; '*' for all.",
    type=str,
    nargs=-1,
    required=True,
    metavar="NAME...",
)


@sculpts.command(epilog=EXAMPLE)
@argument("shape", "The sculpted mesh, in the rig's topology.")
@click.option("--pose", help="Name of the pose it was sculpted at. Default: its file name.")
@click.option(
    "--poses", type=FILE, help="Poses (JSON) or a motion. Default: those that `posespace pose` wrote beside the shape."
)
@click.option("--name", help="The sculpt's name. Default: that of its pose.")
@click.option("--replace", is_flag=True, help="Replace the shape of an existing sculpt; its pose stays.")
@click.option(
    "--unit", default=1.0, help="Scale the shape by this factor, e.g. 0.01 for centimetres if the rig has metres."
)
@click.option("--up", metavar="AXES", help="Axes of the shape, as in `posespace examples`: z for z up, or e.g. x,z,-y.")
@click.option(
    "--match",
    type=click.Choice(["order", "positions"]),
    default="order",
    help="How vertices are matched: by their order, or by their positions.",
)
@json_option
@click.pass_obj
def add(
    store: Path,
    shape: Path,
    pose: str | None,
    poses: Path | None,
    name: str | None,
    replace: bool,
    unit: float,
    up: str | None,
    match: str,
    as_json: bool,
) -> None:
    """Add a sculpt at a pose, or replace the shape of one."""
    from posespace.gathering.conventions import Conventions
    from posespace.gathering.sculpt_file import pose_of, read_sculpt, sculpt_shape

    session, source = _open(store), sculpt_shape(shape)
    known = name or pose or source.name
    if replace:
        at = session[known].pose
    else:
        pose_name, at = pose_of(session.rig, source, poses, pose, note)
        known = name or pose_name
    read = read_sculpt(session.rig, source, known, at, Conventions(unit, up or {}, match))
    if replace:
        session.replace(known, read.shape)
    else:
        session.add(known, read.pose, read.shape)
    finding = read.finding
    far = f"{finding.largest:.2%} of the box from plain skinning at most, near {finding.near}"
    figures = {
        "sculpt": known,
        "rms": finding.rms,
        "largest": finding.largest,
        "near": finding.near,
        "notes": read.notes,
    }
    _done(store, session, f"{session.steps[-1]} from {shape.name}, {far}", as_json, **figures)
    for line in () if as_json else read.notes:
        warn(line)


@sculpts.command(epilog="Example: posespace sculpts hand.examples remove fist 'test*'")
@_names_argument
@json_option
@click.pass_obj
def remove(store: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Remove sculpts."""
    session = _open(store)
    session.remove(*session.chosen(names))
    _done(store, session, session.steps[-1], as_json)


@sculpts.command(epilog="Example: posespace sculpts hand.examples rename fist grip")
@argument("name", "The sculpt.", type=str)
@argument("to", "Its new name.", type=str)
@json_option
@click.pass_obj
def rename(store: Path, name: str, to: str, as_json: bool) -> None:
    """Give a sculpt another name."""
    session = _open(store)
    session.rename(name, to)
    _done(store, session, session.steps[-1], as_json)


@sculpts.command(epilog="Example: posespace sculpts hand.examples mute fist")
@_names_argument
@click.option("--off", is_flag=True, help="Use them in fits again.")
@json_option
@click.pass_obj
def mute(store: Path, names: tuple[str, ...], off: bool, as_json: bool) -> None:
    """Keep sculpts, but leave them out of fits."""
    session = _open(store)
    session.mute(*session.chosen(names), muted=not off)
    _done(store, session, session.steps[-1], as_json)


@sculpts.command(epilog="Example: posespace sculpts hand.examples radius fist 0.6")
@argument("name", "The sculpt.", type=str)
@argument("value", "In radians, or the controls' unit; auto: the radius of its layer.", type=str, metavar="RADIUS|auto")
@json_option
@click.pass_obj
def radius(store: Path, name: str, value: str, as_json: bool) -> None:
    """Set the radius within which one sculpt acts.

    At this distance from its pose the sculpt's effect has fallen to about 60 % (PSD). auto: the radius of its layer.
    """
    session = _open(store)
    session.set_sculpt_radius(name, None if value == "auto" else _number(value))
    _done(store, session, session.steps[-1], as_json)


@sculpts.command("control-radius", epilog="Example: posespace sculpts hand.examples control-radius forearm.z 0.5")
@argument("names", "A joint, JOINT.x, a control, or '*' for all others.", type=str, nargs=-1, metavar="NAME...")
@argument("value", "In radians, or the control's unit; auto: chosen by the fit.", type=str, metavar="RADIUS|auto")
@click.option("--layer", is_flag=True, help="Of the layer that the names span, not of their axes in every layer.")
@json_option
@click.pass_obj
def control_radius(store: Path, names: tuple[str, ...], value: str, layer: bool, as_json: bool) -> None:
    """Set the radius of all sculpts along one axis.

    Fits with PSD use it, unless --radius is given; the radius of a single sculpt comes before.
    """
    if not names or (len(names) > 1 and not layer):
        wanted = "one name and a radius; several names need --layer, the layer that they span"
        raise InputError(f"control-radius: expected {wanted}, got {' '.join([*names, value])[:80]!r}")
    session = _open(store)
    session.set_radius(names if layer else names[0], None if value == "auto" else _number(value))
    _done(store, session, session.steps[-1], as_json)


@sculpts.command(epilog="Example: posespace sculpts body.examples mirror bentL")
@_names_argument
@click.option(
    "--normal",
    help="Normal of the mirror plane: x, y, z or three numbers. Default: found from joints with left and right names.",
)
@click.option(
    "--tolerance",
    default=0.01,
    help="Greatest distance of a mirrored vertex from the surface, as a fraction of the bounding box's diagonal.",
)
@click.option("--replace", is_flag=True, help="Replace existing mirror images.")
@json_option
@click.pass_obj
def mirror(
    store: Path, names: tuple[str, ...], normal: str | None, tolerance: float, replace: bool, as_json: bool
) -> None:
    """Mirror sculpts to the other side of the rig.

    Names change side: bentL becomes bentR. Only the region that a sculpt moves must be symmetric; how well it
    matches is printed. A sculpt at a symmetric pose is kept as it is.
    """
    session = _open(store)
    plane = None if normal is None else _normal(normal)
    mirrored = session.mirror(*session.chosen(names), normal=plane, tolerance=tolerance, replace_known=replace)
    rows = [
        {"sculpt": name, "made": image.name, **vars(image.match), "good": image.match.is_good}
        for name, image in mirrored.made.items()
    ]
    line = session.steps[-1] if rows else "nothing to mirror"
    _done(store, session, line, as_json, mirrored=rows, kept=mirrored.kept)
    if as_json:
        return
    for name, image in mirrored.made.items():
        click.echo(f"  {name} → {image.name}: {image.match}")
        if not image.match.is_good:
            warn(f"{image.name}: the two sides do not match everywhere; check the result, or undo")
    for name, why in mirrored.kept.items():
        click.echo(f"  {name} kept: {why}{'; --replace replaces it' if 'already' in why else ''}")


@sculpts.command("list", epilog="Example: posespace sculpts hand.examples list --json")
@json_option
@click.pass_obj
def list_sculpts(store: Path, as_json: bool) -> None:
    """List the sculpts of the store."""
    from posespace.report.sculpts import describe_sculpts
    from posespace.sculpt import radii_by_label

    session = _open(store)
    rows, radii = describe_sculpts(session), radii_by_label(session.control_radii)
    if as_json:
        changes = {"undo": list(session.steps), "redo": list(session.undone)}
        print_json({"file": str(store), "sculpts": rows, "radius_by_control": radii, **changes})
        return
    click.echo(markdown_table([_short(row) for row in rows]))
    if radii:
        click.echo("\nradius by control: " + ", ".join(f"{name} {radius:g}" for name, radius in radii.items()))
    if session.steps:
        click.echo(f"\nnext to undo: {session.steps[-1]} ({len(session.steps)} steps)")
    if session.undone:
        click.echo(f"\nnext to redo: {session.undone[-1]} ({len(session.undone)} steps)")


@sculpts.command(epilog="Example: posespace sculpts hand.examples undo")
@json_option
@click.pass_obj
def undo(store: Path, as_json: bool) -> None:
    """Undo the last change; the last 50 can be undone."""
    session = _open(store)
    did = session.undo()
    _done(store, session, f"undone: {did}", as_json, left=len(session.steps))


@sculpts.command(epilog="Example: posespace sculpts hand.examples redo")
@json_option
@click.pass_obj
def redo(store: Path, as_json: bool) -> None:
    """Redo the change undone last.

    After a new change nothing is left to redo.
    """
    session = _open(store)
    did = session.redo()
    _done(store, session, f"redone: {did}", as_json, left=len(session.undone))


def _short(row: dict[str, Any]) -> dict[str, Any]:
    moves = row["moves"]
    more = f", ... ({len(moves)})" if len(moves) > _MOVES_SHOWN else ""
    return {
        "sculpt": row["sculpt"],
        "moves": ", ".join(moves[:_MOVES_SHOWN]) + more or "nothing",
        "largest correction": f"{row['largest_correction']:.2%}",
        "radius": "auto" if row["radius"] is None else f"{row['radius']:g}",
        "muted": "muted" if row["muted"] else "",
    }


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"radius: expected a number such as 0.6, or auto, got {text[:40]!r}") from None


def _normal(text: str) -> tuple[float, ...]:
    if text in ("x", "y", "z"):
        return tuple(float(text == axis) for axis in "xyz")
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"--normal: expected x, y, z or three numbers such as 1,0,0.5, got {text[:40]!r}") from None
    return x, y, z
