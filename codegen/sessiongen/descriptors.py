"""The command `descriptors`: the protocol for other generators, without annotations.

Generators such as protoc-gen-es would otherwise import code for the options, too.
"""

from __future__ import annotations

from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from sessiongen import pipeline
from sessiongen.config.model import Config
from sessiongen.paths import display, write_file


def write(config: Config, target: Path) -> list[str]:
    """Writes the protocol's files, and those that they import, with their comments.

    Returns a line that says what was written.

    Raises:
        InputError: the input cannot be read or is not valid, or the file cannot be written.
    """
    compiled, annotated, _ = pipeline.read_input(config)
    data = FileDescriptorSet(file=annotated.files).SerializeToString()
    write_file(target, data, "the descriptors", "name a file in a folder that exists")
    return [f"wrote {display(target)}: {', '.join(compiled.own)}"]
