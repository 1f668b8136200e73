"""What the output folder of a configuration's output is recognized by, and made with."""

from __future__ import annotations

from sessiongen import __version__
from sessiongen.config.model import Output
from sessiongen.output.writer import Folder
from sessiongen.targets import registry


def folder_of(output: Output) -> Folder:
    """Return the folder of an output with the marks of its target."""
    target = registry.get(output.language)
    return Folder(output.folder, target.mark, target.suffixes)


def versions_of(output: Output) -> dict[str, str]:
    """Return the version of each tool that shapes an output, this one included."""
    return {"sessiongen": __version__, **registry.get(output.language).tool_versions()}
