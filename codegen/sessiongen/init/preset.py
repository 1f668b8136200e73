"""Presets: configurations for published messages and the SDK that uses them.

A preset is the text of a codegen.toml in the folder `presets`. Files that it names, such as a
contract or a vocabulary, are copied beside the new configuration, with the declared gaps that hold
for it. Annotations of elements that the input does not have are left out, as a preset serves several
versions of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sessiongen import pipeline, resources
from sessiongen.init import scaffold_text
from sessiongen.init.preset_gaps import gaps_for
from sessiongen.config.model import Config
from sessiongen.config.reader import parse
from sessiongen.init.scaffold import check_modules, check_new, open_points, save
from sessiongen.diagnostics import Diagnostic, failed
from sessiongen.frontend.annotations import configured
from sessiongen.frontend.compiler import Compiled
from sessiongen.frontend.elements import elements
from sessiongen.ir.role_inference import search
from sessiongen.parity.compare import compare
from sessiongen.paths import display
from sessiongen.vocabulary.scope import scope_file


def names() -> list[str]:
    """Returns the names of all presets."""
    return sorted(path.stem for path in resources.presets_dir().glob("*.toml"))


def write(name: str, target: Path) -> tuple[list[str], list[Diagnostic]]:
    """Writes the configuration of a preset; returns a summary, and open points as diagnostics.

    Raises:
        InputError: the messages cannot be read, or `target` exists or cannot be written.
    """
    check_new(target)
    source = resources.presets_dir() / f"{name}.toml"
    text = source.read_text(encoding="utf-8")
    config = parse(target.absolute(), text)
    needed = [*config.input.protos, *([config.input.oldest] if config.input.oldest else [])]
    copied = [line for path in needed for line in _copy(path, config.root)]
    compiled, annotated, schema = pipeline.read_input(config)
    check_modules(compiled)
    text = _without_absent(text, config, compiled)
    config = parse(target.absolute(), text)
    annotated = configured(annotated, config)
    lines = [*scaffold_text.summary(search(schema, config, annotated)), *copied]
    for path in _files(config):
        lines += _copy(path, config.root)
    points = open_points(schema, annotated, config)
    if not failed(points):
        lines += _write_gaps(config)
    save(target, text.encode())
    command = f"sessiongen{config.option} generate"
    lines.append(f"wrote {display(target)}; set its paths, and run `{command}`")
    return lines, points


def _without_absent(text: str, config: Config, compiled: Compiled) -> str:
    """Returns the text without the annotations of elements that the input does not have."""
    known = {name for file in compiled.files for name, _, _ in elements(file)}
    absent = {
        config.span(value.key_path).line
        for (element, _), value in config.annotations.items()
        if element not in known
    }
    lines = enumerate(text.splitlines(keepends=True), 1)
    return "".join(line for number, line in lines if number not in absent)


def _files(config: Config) -> Iterator[Path]:
    """Yields the files that a configuration names, other than its protocol."""
    for output in config.outputs:
        yield from output.options.inputs
    for path in config.sdks.vocabularies:
        yield path
        yield scope_file(path)


def _write_gaps(config: Config) -> list[str]:
    """Writes the gap files that do not exist; returns a line for each gap file."""
    model = pipeline.model(config)
    parity = compare(model.protocol, model.annotated, config)
    lines = []
    for sdk, path in parity.gap_files.items():
        if path.exists():
            lines.append(f"kept {display(path)}")
            continue
        texts = [item.read_text(encoding="utf-8") for item in _sources(path, config.root)]
        gaps = gaps_for(parity.undeclared(sdk), texts)
        save(path, f"# Known differences from {sdk}, grouped by reason.\n\n{gaps}".encode())
        lines.append(f"wrote {display(path)}")
    return lines


def _copy(path: Path, root: Path) -> list[str]:
    """Copies a file of the generator to its place below the root, unless there is one.

    Returns a line that says what was done; none for a file that the generator does not have.
    """
    if path.exists():
        return [f"kept {display(path)}"]
    sources = _sources(path, root)
    if not sources:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    save(path, sources[0].read_bytes())
    return [f"wrote {display(path)}"]


def _sources(path: Path, root: Path) -> list[Path]:
    """Returns the files of the generator for a path below the root, those of presets first."""
    presets = resources.presets_dir()
    files = [folder / path.relative_to(root) for folder in (presets, presets.parent)]
    return [file for file in files if file.is_file()]
