"""The plot of all figures: how far each keeps from its limit.

Comes in: Rows. Goes out: an SVG, with a bar for each figure on a logarithmic scale; what is
left of the line at 1 breaks its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from measure import Row

_GOOD, _BAD = "#2f7d5b", "#b3423a"
_TICKS = (0.5, 1, 2, 5, 10, 100)


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the plot."""
    # Text as text, and the same ids in each run.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "bench"})
    figure = Figure(figsize=(11, 0.34 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    names = [row.what.replace("`", "") for row in rows]
    colours = [_GOOD if row.holds else _BAD for row in rows]
    bars = axes.barh(names, [row.margin - 1 for row in rows], left=1, color=colours)
    labels = [f"{row.ratio:.3g}{row.unit} of {row.bound}" for row in rows]
    axes.bar_label(bars, labels, padding=4, fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(0.4, 4 * max(row.margin for row in rows))
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("times better than its limit")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
