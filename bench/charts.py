"""Draws the figures beside those of their peers, as an SVG.

Each chart has a bar for ours and one for each peer, on a scale of its own. The colours follow the
reader's light or dark mode, and the text is as wide as the reader's font makes it: no label depends
on its width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from measure import Row, Value

_WIDTH = 760
_LABELS, _BARS = 210, 400
_BAR, _STEP = 14, 19
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.heading { font-size: 16px; font-weight: 600; }
.title { font-weight: 600; }
.label { text-anchor: end; }
.ours { fill: #2f7d5b; }
.peer { fill: #9aa4ae; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .ours { fill: #4fb286; }
  .peer { fill: #6e7781; }
}
"""


def draw(rows: Sequence[Row]) -> str:
    """Returns the SVG."""
    parts, y = list[str](), 24
    for heading, rate in (("Time: less is better", False), ("Rate: more is better", True)):
        parts.append(_text(0, y, heading, "heading"))
        y += 28
        for title, bars in _charts(rows, rate):
            parts += _chart(title, bars, y)
            y += 28 + _STEP * len(bars)
        y += 8
    size = f'width="{_WIDTH}" height="{y}" viewBox="0 0 {_WIDTH} {y}"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f"<title>Ours beside each peer</title>\n<style>{_STYLE}</style>\n{body}\n</svg>\n"
    )


def _charts(rows: Sequence[Row], rate: bool) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yields the title and the bars of each chart; rows with one title share a chart."""
    drawn = [row for row in rows if row.chart and row.ours.rate == rate]
    for title in dict.fromkeys(row.chart for row in drawn):
        chart = [row for row in drawn if row.chart == title]
        peers = dict(row.peer for row in chart if row.peer)
        yield title, {"ours": chart[0].ours, **peers}


def _chart(title: str, bars: dict[str, Value], top: int) -> Iterator[str]:
    """Yields the elements of one chart."""
    yield _text(0, top, title.replace("`", ""), "title")
    longest = max(value.number for value in bars.values())
    for index, (name, value) in enumerate(bars.items()):
        y = top + 8 + index * _STEP
        width = max(1, round(_BARS * value.number / longest))
        kind = "ours" if index == 0 else "peer"
        yield _text(_LABELS - 8, y + 11, name, "label")
        yield f'<rect class="{kind}" x="{_LABELS}" y="{y}" width="{width}" height="{_BAR}" rx="2"/>'
        yield _text(_LABELS + width + 8, y + 11, value.text, "value")


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
