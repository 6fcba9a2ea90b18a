"""The command line: parses, calls, prints. No logic lives here; the commands with many options have a file each."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from posespace.cli.bench import bench
from posespace.cli.evaluate import evaluate
from posespace.cli.fit import Methods, require_folder
from posespace.cli.printing import AsJson, complain, print_figures, print_json, print_one
from posespace.cli.retarget import edit, retarget
from posespace.errors import InputError

app = typer.Typer(
    name="posespace",
    help="Learn how a character's skin bends from a few example shapes, and play it back in real time.",
    epilog="Start with: posespace demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(epilog="Example: posespace evaluate hand.skin unseen.examples --report report.html")(evaluate)
app.command(epilog="Example: posespace bench skinning corrections")(bench)
app.command(epilog="Example: posespace retarget thin.skin strong.skin other.skin -o other-strong.skin")(retarget)
app.command(epilog="Example: posespace edit arm.skin --scale 3=0 --exaggerate 1.2 -o edited.skin")(edit)
app.add_typer(
    typer.Typer(
        cls=Methods,
        no_args_is_help=True,
        help="Learn a skin from examples, by one of the methods.",
        epilog="Example: posespace fit psd hand.examples -o hand.skin",
    ),
    name="fit",
)


def _version(wanted: bool) -> None:
    if wanted:
        from posespace import __version__

        print(f"posespace {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Take the options that stand before the command."""


@app.command(epilog="Example: posespace info hand.glb clip.bvh hand.examples")
def info(
    files: Annotated[list[Path], typer.Argument(help="Rigs, meshes, motions, poses, skins or examples.")],
    as_json: AsJson = False,
) -> None:
    """Show what is in a rig, mesh, motion, pose, skin or example file."""
    from posespace.progress import track
    from posespace.report.info import describe

    found, problems = [], []
    for file in track(files, "reading") if len(files) > 4 else files:
        try:
            found.append(describe(file))
        except InputError as error:
            found.append({"file": str(file), "error": str(error)})
            problems.append(str(error))
    if as_json:
        print_json(found)
    else:
        for figures in found:
            if "error" not in figures:
                print_figures(figures.pop("file"), figures)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(2)


@app.command(epilog="Example: posespace examples hand.glb --poses poses.json --shapes 'sculpts/*.obj' -o hand.examples")
def examples(
    rig: Annotated[Path, typer.Argument(help="The rig; a file with a mesh only makes a rig driven by controls.")],
    poses: Annotated[Path, typer.Option(help="Poses (JSON) or a motion (BVH, glTF, USD).")],
    shapes: Annotated[str, typer.Option(help="Shape files, as a quoted pattern, or one .npy of (poses, vertices, 3).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The example store to write.")],
    rest: Annotated[bool, typer.Option(help="Add the rest shape where no pose is at rest.")] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a store that exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Gather a rig, poses and one shape a pose into an example store; shapes match poses by name, or in order."""
    from posespace.formats.gather import collect
    from posespace.report.info import describe

    notes = collect(rig, poses, shapes, out, rest, resume)
    print_one(describe(out) | ({"notes": notes} if notes else {}), as_json)


@app.command(epilog="Example: posespace export hand.skin -o hand.glb --motion clip.bvh")
def export(
    skin: Annotated[Path, typer.Argument(help="The skin.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write: .glb or .gltf.")],
    motion: Annotated[Path | None, typer.Option(help="A motion to play: BVH, glTF, USD, poses or examples.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a skin for other programs: its rig, its displacements as morph targets, and a motion as animation."""
    from posespace.formats.export import export
    from posespace.formats.load import load_motion
    from posespace.report.info import describe
    from posespace.skin import Skin

    require_folder(out)
    loaded = Skin.load(skin)
    clip = None if motion is None else load_motion(motion, loaded.rig.skeleton)
    export(loaded, out, clip, warn=lambda note: complain(f"warning: {note}"))
    print_one(describe(out), as_json)


@app.command(epilog="Example: posespace demo -o demo")
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write to.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Tell the whole story on a built-in hand: plain skinning's faults, two fits, how good they are, a file to play."""
    from posespace.demo.story import run

    print_one(run(out), as_json)


@app.command(epilog="Example: posespace simulate hand -o hand.examples --workers 2")
def simulate(
    body: Annotated[str, typer.Argument(help="hand, arm, or the file of a rig.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The example store to write.")],
    poses: Annotated[Path | None, typer.Option(help="Poses to simulate; else every joint's range.")] = None,
    level: Annotated[int, typer.Option(help="Of the hand's skin: 0, 1 or 2 for 3.5k, 14k or 56k triangles.")] = 1,
    side: Annotated[str, typer.Option(help="Of the hand: right or left.")] = "right",
    elements: Annotated[int, typer.Option(help="About how many tetrahedra.")] = 11_000,
    order: Annotated[int, typer.Option(help="1 for 4-node, 2 for 10-node tetrahedra.")] = 2,
    step: Annotated[float, typer.Option(help="Degrees between the poses of a joint's range.")] = 18.0,
    random: Annotated[int, typer.Option(help="How many random poses of all joints to add.")] = 25,
    seed: Annotated[int, typer.Option(help="Of the random poses.")] = 2002,
    poisson: Annotated[float, typer.Option(help="Poisson's ratio of the tissue.")] = 0.45,
    contact: Annotated[bool, typer.Option("--contact", help="Skin resists skin and bones; slower.")] = False,
    workers: Annotated[int, typer.Option(help="Local processes, one thread each.")] = 1,
    scheduler: Annotated[str | None, typer.Option(help="Address of a running Dask scheduler, for a cluster.")] = None,
    memory: Annotated[str | None, typer.Option(help="Each local process's limit, as 2GB; else its share.")] = None,
    retries: Annotated[int, typer.Option(help="How often a pose is tried again when its process dies.")] = 3,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a store that exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make example poses by nonlinear finite elements: tissue around bones, each pose stored as it finishes."""
    from posespace.simulate.settings import Settings, Tissue, require_extras

    require_extras(body, poses)
    from posespace.simulate.cluster.machines import Machines
    from posespace.simulate.run import simulate
    from posespace.simulate.solver.contact import Contact

    tissue = Tissue(order, poisson=poisson, contact=Contact() if contact else None)
    settings = Settings(body, poses, level, side, elements, step, random, seed, tissue)
    machines = Machines(workers, scheduler, memory, retries)
    found = simulate(settings, out, machines, resume, warn=lambda note: complain(f"warning: {note}"))
    print_one(found, as_json)


def main() -> None:
    """Run the command line: exit code 2 and one line on standard error where the input is at fault."""
    warnings.showwarning = _warn
    try:
        # Without its standalone mode Typer raises usage errors, and returns the code where a command asked to stop.
        code = app(prog_name="posespace", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code)
    except (InputError, TyperException) as error:
        message = error.format_message() if isinstance(error, TyperException) else str(error)
        if "extra argument" in message and "--shapes" in sys.argv:
            message = "--shapes takes one pattern; put it in quotes, so that the shell leaves it alone: 'sculpts/*.obj'"
        if message:
            complain(message)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        print("posespace: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is left to say.
        _silence()
        sys.exit(1)
    except OSError as error:
        _silence()
        complain(f"cannot write the output ({error.strerror})")
        sys.exit(1)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _silence() -> None:
    """Let nothing more be written to standard output, not even when Python flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
