"""Faults of layers that an output requests and that its protocol cannot have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sessiongen.config.model import Output
from sessiongen.config.tables import file_key_span
from sessiongen.diagnostics import Diagnostic, Rule


def layer_faults(output: Output, config: Path, obstacles: Mapping[str, str]) -> list[Diagnostic]:
    """Returns a fault, at its name in `layers`, for each requested layer with an obstacle.

    config: the codegen.toml. obstacles: why the protocol cannot have a layer, or "".
    """
    return [
        Diagnostic(
            file_key_span(config, (*output.key_path, "layers", str(index))),
            Rule.ROLE_SHAPE,
            f"there can be no layer {layer!r}: {obstacles[layer]}",
            f'change the protocol, or remove "{layer}" from the layers of the output',
        )
        for index, layer in enumerate(output.requested_layers)
        if obstacles[layer]
    ]
