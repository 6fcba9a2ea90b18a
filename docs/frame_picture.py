"""The picture of what a frame costs."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from posespace.bench import tables


def frame() -> None:
    """A bar for each way to pose the hand's 27,954 vertices, measured in one run."""
    bars: dict[str, float] = {}
    for row in tables.skinning():
        name = row["what"].split(", ")[-1]
        if "of" not in name.split():
            bars[f"plain skinning, {name}"] = row["microseconds"]
    for row in tables.corrections():
        if "plain" not in row["what"]:
            bars[row["what"].split("vertices, ")[-1]] = row["microseconds"]
    for row in tables.normals():
        bars[row["what"]] = row["microseconds"]
    ordered = sorted(bars, key=lambda name: -bars[name])
    figure = Figure(figsize=(9, 0.42 * len(bars) + 0.9), layout="constrained")
    axes = figure.subplots()
    ours = ["#888888" if any(peer in name for peer in ("NumPy", "UsdSkel", "igl")) else "#2a6f97" for name in ordered]
    drawn = axes.barh(ordered, [bars[name] for name in ordered], color=ours)
    axes.bar_label(drawn, fmt="%.0f", padding=4)
    axes.set_xscale("log")
    axes.set_xlabel("microseconds per frame of 27,954 vertices (logarithmic); posespace on one core")
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_name("img") / "frame.png", dpi=110)
