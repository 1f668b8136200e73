"""docs/configuration.md has every key that the readers know, and no other."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from pages import ROOT
from sessiongen_command import CONFIG, PROTO, project

from sessiongen.config import model, reader
from sessiongen.config.tables import TableReader
from sessiongen.diagnostics import InputError
from sessiongen.targets import registry
from sessiongen.vocabulary.scope import MessageNames

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## ", re.M)


def documented(title: str) -> set[str]:
    """Returns the keys in the tables of a section, named by the first cell of each row."""
    [section] = [part for part in SECTION.split(PAGE) if part.startswith(title)]
    return set(re.findall(r"^\| `([\w.*]+)` \|", section.partition("\n### ")[0], re.M))


def known(monkeypatch: pytest.MonkeyPatch, read: object) -> dict[str, set[str]]:
    """Returns the keys that a reader accepts, by the table they are in."""
    asked: dict[str, set[str]] = {}

    def only(
        _: TableReader, table: object, key_path: tuple[str, ...], names: tuple[str, ...]
    ) -> None:
        asked.setdefault(".".join(key_path), set()).update(names)

    monkeypatch.setattr(TableReader, "only", only)
    assert callable(read)
    read()
    return asked


def test_every_key_of_the_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    annotated = f"{CONFIG}\n[annotations.'small.Empty']\nsdk_class = 'A'\n"
    config = project(tmp_path, PROTO, annotated).config
    asked = known(monkeypatch, lambda: reader.load(config))
    tables = {"input", "output", "roles", "annotations", "sdks"}
    assert asked.pop("") == tables
    assert asked.pop("annotations.small.Empty") == documented_names("Annotations", "annotations.*")
    assert asked.pop("output") >= set(model.Output.__dataclass_fields__) & {"language", "layers"}
    titles = {"input": "`[input]`", "roles": "`[roles]`", "sdks": "`[sdks]`"}
    for table, title in titles.items():
        assert asked.pop(table) == documented_names(title, table)
    assert asked == {}


def documented_names(title: str, table: str) -> set[str]:
    """Returns the documented keys of a section without the name of their table."""
    keys = documented(title)
    assert all(key.startswith(f"{table}.") for key in keys), keys
    return {key.removeprefix(f"{table}.") for key in keys}


def test_every_key_of_an_output() -> None:
    languages = [target for name in registry.languages() if (target := registry.find(name))]
    keys = {key for target in languages for key in target.keys}
    assert documented_names("`[[output]]`", "output") == {"language", "path", "layers"} | keys


def test_every_layer() -> None:
    section = PAGE.partition("### Layers")[2].partition("\n## ")[0]
    tables = re.split(r"^\| layer \|.*$", section, flags=re.M)[1:]
    for language, table in zip(registry.languages(), tables, strict=True):
        target = registry.find(language)
        assert target is not None
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \|(.*)$", table, re.M)
        assert {name: (text, needs.strip(" |")) for name, text, needs in rows} == {
            name: (layer.summary, ", ".join(f"`{need}`" for need in layer.needs))
            for name, layer in target.layers.items()
        }


_NAMED_TABLES = {"parts": ("names", "fields"), "texts": ("definition", "key", "enum")}


def test_every_key_of_a_scope_file() -> None:
    names = {f"messages.{item.name}" for item in fields(MessageNames)}
    classes = {f"classes.{name}" for name in ("session", "host", "driver")}
    plain = {"language", "distribution", "package", "source", "required"}
    plain |= {"messages.module", "messages.name", "messages.distribution"}
    constants = {"constants.NAME", "constants.NAME.definition", "constants.NAME.value"}
    behaviour = {"timeouts.parameter", "timeouts.unit"}
    for table, keys in _NAMED_TABLES.items():
        behaviour |= {f"{table}.NAME", *(f"{table}.NAME.{key}" for key in keys)}
    assert documented("Scope files") == names | classes | plain | constants | behaviour


@pytest.mark.parametrize(
    ("file", "rest"),
    [("scope.toml", "Scope files"), ("gaps.toml", "Gap files")],
)
def test_the_files_beside_a_vocabulary_have_no_other_key(file: str, rest: str) -> None:
    """Every key of this repository's own files is documented."""
    import tomli

    keys: set[str] = set()
    for path in (ROOT / "vocabularies").glob(f"*.{file}"):
        for key, value in tomli.loads(path.read_text(encoding="utf-8")).items():
            tables = value if isinstance(value, list) else [value]
            inner = {f"{key}.{name}" for item in tables if isinstance(item, dict) for name in item}
            # The SDK's maintainer chooses the names in these tables.
            named = key == "constants" or key in _NAMED_TABLES
            keys |= {f"{key}.NAME"} if named else inner or {key}
    assert keys <= documented(rest)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    config = project(tmp_path, PROTO, CONFIG.replace("path =", "paths =")).config
    with pytest.raises(InputError, match="unknown key"):
        reader.load(config)
