"""The folder of an output, and the versions of the tools that shape its files."""

from __future__ import annotations

from sessiongen import __version__
from sessiongen.config.model import Output
from sessiongen.output.writer import Folder
from sessiongen.targets import registry


def folder_of(output: Output) -> Folder:
    """Returns the folder of an output, with the mark and suffixes of its generated files."""
    target = registry.get(output.language)
    return Folder(output.folder, target.mark, target.suffixes)


def versions_of(output: Output) -> dict[str, str]:
    """Returns the version of each tool that shapes an output, including the generator."""
    return {"sessiongen": __version__, **registry.get(output.language).tool_versions()}
