"""The command line: parses arguments, runs a command and prints its result.

Exit statuses: 0 success, 1 a finding, 2 a fault in usage or input, 3 the output was made with
other versions of the tools, 141 the reader of the output has exited.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import click

from sessiongen import __version__
from sessiongen.config.reader import load
from sessiongen.diagnostics import Diagnostic, InputError, failed
from sessiongen.cli.options import Command, Options, current, pass_options, shared, without_format
from sessiongen.cli.running import load_config, run
from sessiongen.cli.sources import sdk_sources
from sessiongen.cli.vocabulary import vocabulary
from sessiongen.result import FINDING, SUCCESS, INPUT_ERROR, Result

_no_cache = click.option("--no-cache", is_flag=True, help="Ignore the cache, as CI should.")
_descriptor_set = click.option(
    "--descriptor-set",
    type=click.Path(path_type=Path),
    help="Read this FileDescriptorSet instead of the configured input.",
)


@click.group("sessiongen", cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@shared
@click.version_option(__version__, prog_name="sessiongen")
def main() -> None:
    """Generates typed code from a protocol of requests, responses and events."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Comments and file names may have characters that the terminal cannot encode.
        sys.stdout.reconfigure(errors="backslashreplace")


@main.command()
@_no_cache
@_descriptor_set
@shared
@pass_options
def generate(options: Options, no_cache: bool, descriptor_set: Path | None) -> None:
    """Writes the generated files; removes those that are no longer generated."""
    from sessiongen.generate import generate

    run(options, lambda: generate(load_config(options, descriptor_set), not no_cache))


@main.command()
@_no_cache
@_descriptor_set
@click.option("--full-diff", is_flag=True, help="Show the whole difference, as a patch.")
@shared
@pass_options
def check(options: Options, no_cache: bool, descriptor_set: Path | None, full_diff: bool) -> None:
    """Compares the generated files with the protocol; writes nothing."""
    from sessiongen.check import check

    run(options, lambda: check(load_config(options, descriptor_set), not no_cache, full_diff))


def _arms(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Returns the arms that a shell may complete to; none if the protocol is invalid."""
    from sessiongen import pipeline

    try:
        config = load(current(context).existing_config)
        unions = pipeline.model(config).protocol.unions
    except (InputError, OSError, RecursionError, UnicodeEncodeError):
        return []
    names = {arm.name for union in unions for arm in union.arms}
    return sorted(name for name in names if name.startswith(incomplete))


@main.command()
@click.argument("target", type=click.Path(path_type=Path))
@shared
@pass_options
def descriptors(options: Options, target: Path) -> None:
    """Writes the protocol to TARGET as a FileDescriptorSet, for other generators."""

    def write() -> Result:
        from sessiongen import descriptors as writing

        return Result(lines=writing.write(load_config(options, None), target))

    run(options, write)


@main.command()
@click.argument("arm", shell_complete=_arms)
@_descriptor_set
@shared
@pass_options
def explain(options: Options, arm: str, descriptor_set: Path | None) -> None:
    """Shows where ARM is declared and what is generated for it. ARM is a name or Message.name."""

    def entries() -> Result:
        from sessiongen import explain as explaining
        from sessiongen import pipeline

        config = load_config(options, descriptor_set)
        matches = explaining.explain(arm, pipeline.model(config), config)
        if options.format == "json":
            return Result(detail=json.dumps([item.record() for item in matches], indent=2) + "\n")
        return Result(detail="\n\n".join("\n".join(item.lines()) for item in matches) + "\n")

    run(options, entries, document=True)


@main.command()
@click.argument("proto", type=click.Path(path_type=Path), required=False)
@click.option(
    "-I",
    "--include",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An include path; by default the folder of PROTO.",
)
@click.option(
    "--descriptor-set", type=click.Path(path_type=Path), help="Read this FileDescriptorSet."
)
@click.option("--messages", help="Read this installed Python module of messages.")
@click.option("--preset", help="Write this prepared configuration for published messages.")
@shared
@pass_options
def init(
    options: Options,
    proto: Path | None,
    include: tuple[Path, ...],
    descriptor_set: Path | None,
    messages: str | None,
    preset: str | None,
) -> None:
    """Infers the roles of PROTO and writes a codegen.toml."""
    if sum(item is not None for item in (proto, descriptor_set, messages, preset)) != 1:
        raise click.UsageError("give exactly one of PROTO, --descriptor-set, --messages, --preset")

    def write() -> Result:
        from sessiongen.init import scaffold as initializing

        if preset is not None:
            lines, undecided = _preset(preset, options)
        else:
            source = initializing.ProtocolInput(proto, descriptor_set, messages)
            lines, undecided = initializing.write(source, include, options.config)
        return Result(INPUT_ERROR if failed(undecided) else SUCCESS, lines, undecided)

    run(options, write)


def _preset(name: str, options: Options) -> tuple[list[str], list[Diagnostic]]:
    """Writes the configuration of a preset."""
    from sessiongen.init import preset

    if name not in preset.names():
        raise click.UsageError(f"no preset {name!r}; presets: {', '.join(preset.names())}")
    return preset.write(name, options.config)


@main.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "markdown", "github", "sarif"]),
    help="The form of the matrix; by default that of diagnostics.",
)
@click.option(
    "--all", "all_rows", is_flag=True, help="Show rows without differences in text as well."
)
@click.option(
    "--declare", is_flag=True, help="Add undeclared differences to the gap files, without a reason."
)
@click.option("--prune", is_flag=True, help="Remove gaps that no longer exist from the gap files.")
@click.option("--since", metavar="REF", help="Show only what changed since this commit.")
@sdk_sources
@without_format
@pass_options
def parity(
    options: Options,
    format_: str | None,
    all_rows: bool,
    declare: bool,
    prune: bool,
    since: str | None,
    sources: dict[str, str | Path],
) -> None:
    """Compares the protocol with each SDK.

    The vocabulary files are compared. An SDK whose source is given is read instead; its
    vocabulary file stays as it is.
    """
    form = format_ or options.format
    # SARIF has the diagnostics in it, as JSON does.
    is_document = form in ("json", "sarif")
    diagnostics_format = {"markdown": "text", "sarif": "json"}.get(form, form)

    def matrix() -> Result:
        from sessiongen import parity as comparing
        from sessiongen.vocabulary import configured

        config = load_config(options, None)
        configured.require_sdk(config)
        result = comparing.run(config, sources, since)
        unread = failed(result.reading)
        if unread and (prune or declare):
            # Gap files must not be changed by what was read in part.
            raise InputError(result.reading)
        lines = comparing.prune(result) if prune else []
        lines += comparing.declare(result) if declare else []
        if lines:
            result = comparing.run(config, sources, since)
        status = INPUT_ERROR if unread else FINDING if result.diagnostics else SUCCESS
        text = comparing.render(result, form, all_rows)
        return Result(status, lines, [*result.reading, *result.diagnostics], text)

    # --quiet hides the matrix, except where it contains the diagnostics.
    print_document = not options.quiet or is_document
    run(replace(options, format=diagnostics_format), matrix, document=print_document)


@main.command()
def include() -> None:
    """Prints the include path of sessiongen/annotations.proto, for protoc, buf and editors."""
    from sessiongen.resources import include_dir

    click.echo(include_dir())


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Prints the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(main, {}, "sessiongen", "_SESSIONGEN_COMPLETE").source())


main.add_command(vocabulary)
