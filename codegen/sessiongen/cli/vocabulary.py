"""The commands of the group `vocabulary`, which read SDKs."""

from __future__ import annotations

from pathlib import Path

import click

from sessiongen.cli.options import Options, pass_options, shared, without_format
from sessiongen.cli.running import load_config, run
from sessiongen.cli.sources import sdk_sources
from sessiongen.diagnostics import failed
from sessiongen.paths import display
from sessiongen.result import FINDING, INPUT_ERROR, SUCCESS, Result


@click.group()
@shared
def vocabulary() -> None:
    """Updates or checks the vocabularies, the facts about SDKs that `parity` compares."""


@vocabulary.command()
@sdk_sources
@shared
@pass_options
def update(options: Options, sources: dict[str, str | Path]) -> None:
    """Reads SDK packages and writes their vocabularies; nothing is installed or executed.

    Without an option, every SDK that the configuration names is updated to its newest version.
    """

    def write() -> Result:
        from sessiongen import pipeline
        from sessiongen.vocabulary import commands as vocabularies
        from sessiongen.vocabulary import configured

        config = load_config(options, None)
        configured.require_sdk(config)
        sdks = configured.configured_sdks(config, pipeline.roles(config))
        updated = vocabularies.update(configured.selected(config, sdks, sources))
        lines = [f"wrote {display(path)}" for path in updated.written]
        status = INPUT_ERROR if failed(updated.diagnostics) else SUCCESS
        if status == SUCCESS and not lines:
            lines = ["nothing changed"]
        return Result(status, lines, updated.diagnostics)

    run(options, write)


@vocabulary.command()
@shared
@pass_options
def watch(options: Options) -> None:
    """Compares the vocabularies with the newest published SDKs."""

    def compare() -> Result:
        from sessiongen import pipeline
        from sessiongen.vocabulary import commands as vocabularies
        from sessiongen.vocabulary import configured

        config = load_config(options, None)
        configured.require_sdk(config)
        versions, diagnostics = vocabularies.new_versions(
            configured.configured_sdks(config, pipeline.roles(config))
        )
        lines = [f"new version: {item.sdk} {item.pinned} -> {item.newest}" for item in versions]
        status = INPUT_ERROR if failed(diagnostics) else FINDING if versions else SUCCESS
        diff = "".join(item.diff for item in versions)
        return Result(status, lines or ["no SDK has a new version"], diagnostics, diff)

    run(options, compare)


@vocabulary.command()
@click.argument("list_file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--version", help="The version to read; default: the one in the list.")
@click.option("--path", type=click.Path(path_type=Path), help="A folder or archive to read.")
@shared
@pass_options
def messages(options: Options, list_file: Path, version: str | None, path: Path | None) -> None:
    """Reads again which messages, fields and values an npm package has, and writes LIST_FILE."""

    def write() -> Result:
        from sessiongen import pipeline
        from sessiongen.vocabulary import published_messages

        schema = pipeline.read_input(load_config(options, None))[2]
        changed = published_messages.update_list(list_file, path or version, schema)
        return Result(lines=[f"{'wrote' if changed else 'unchanged'} {display(list_file)}"])

    run(options, write)


@vocabulary.command()
@click.argument("sdk")
@click.argument("first")
@click.argument("last")
@click.option(
    "--archives",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Read the archives in this folder instead of downloading them.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    show_default=True,
    help="The form of the history.",
)
@without_format
@pass_options
def history(
    options: Options, sdk: str, first: str, last: str, archives: Path | None, format_: str
) -> None:
    """Shows which version of SDK, from FIRST to LAST, brought or dropped which fact."""

    def read() -> Result:
        from sessiongen import pipeline
        from sessiongen.vocabulary import configured
        from sessiongen.vocabulary import history as histories

        config = load_config(options, None)
        sdks = configured.configured_sdks(config, pipeline.roles(config))
        [(chosen, _)] = configured.selected(config, sdks, {sdk: ""})
        item = histories.history(chosen.scope, first, last, archives)
        render = histories.as_json if format_ == "json" else histories.as_markdown
        return Result(detail=render(item))

    run(options, read, document=True)


@vocabulary.command()
@shared
@pass_options
def packages(options: Options) -> None:
    """Reads which messages the SDKs' protobuf packages have, at the lowest version and the newest.

    The lowest version is the one that an SDK's vocabulary says it requires.
    """

    def write() -> Result:
        from sessiongen import pipeline
        from sessiongen.vocabulary import commands as vocabularies
        from sessiongen.vocabulary import configured

        config = load_config(options, None)
        configured.require_sdk(config)
        sdks = configured.configured_sdks(config, pipeline.roles(config))
        updated = vocabularies.update_packages(sdks, pipeline.read_input(config)[2])
        lines = [f"wrote {display(path)}" for path in updated.written] or ["nothing changed"]
        return Result(
            INPUT_ERROR if failed(updated.diagnostics) else SUCCESS, lines, updated.diagnostics
        )

    run(options, write)
