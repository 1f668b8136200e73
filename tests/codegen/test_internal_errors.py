"""Faults of the generator: they name the input and the output, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment
from sessiongen_command import CONFIG, PROTO, Outcome, Project, place_of, project

from sessiongen.targets.python import generation as python_generation
from sessiongen.targets.typescript import generation as typescript_generation

TYPESCRIPT = """
[[output]]
language = "typescript"
path = "web"
module = "@acme/protocol"
"""
BOTH = CONFIG.replace("[output]", '[[output]]\nlanguage = "python"') + TYPESCRIPT


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return project(tmp_path, config=BOTH)


def internal_error(small_project: Project, *command: str) -> dict[str, object]:
    """Runs a command and returns its only diagnostic; it wrote nothing."""
    outcome = small_project.invoke("--format", "json", *(command or ("generate",)))
    assert outcome.status == 2
    assert not any((small_project.root / name).exists() for name in ("out", "web"))
    [record] = outcome.records()
    assert record["rule"] == "SG032"
    assert "nothing was written; please report this with the protocol" in record["help"]
    return record


def place(record: dict[str, object]) -> tuple[object, object, object]:
    return record["file"], record["line"], record["column"]


def spoiled(
    monkeypatch: pytest.MonkeyPatch, generation: object, template: str, old: str, new: str
) -> None:
    """Replaces a text in what one template renders."""
    environment: Callable[..., Environment] = getattr(generation, "environment")

    def changed(*arguments: object, **functions: object) -> Environment:
        result = environment(*arguments, **functions)
        get_template = result.get_template

        def get(name: str, *parent: Any) -> object:
            found = get_template(name, *parent)
            if name != template:
                return found

            class Spoiled:
                def render(self, **values: object) -> str:
                    text = found.render(**values)
                    assert old in text
                    return text.replace(old, new)

            return Spoiled()

        monkeypatch.setattr(result, "get_template", get)
        return result

    monkeypatch.setattr(generation, "environment", changed)


def test_invalid_python_names_the_message_and_the_module(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled(
        monkeypatch, python_generation, "requests.py.j2", "async def ping(self,", "async def (self,"
    )
    record = internal_error(small_project)
    assert place(record) == ("proto/small.proto", *place_of(PROTO, "message Request"))
    message = str(record["message"])
    assert message.startswith("internal error: the module out/small_protocol/requests.py, ")
    assert "generated for small.Request, is not valid code in line " in message
    assert "async def (self," in str(record["help"])


def test_black_rejects_a_module(small_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long line is passed to black, which does not name the module."""
    long = f'    x = [{", ".join(["f(1, 2)"] * 20)}'
    spoiled(
        monkeypatch, python_generation, "errors.py.j2", "class ", f"def f():\n{long}\n\n\nclass "
    )
    record = internal_error(small_project)
    assert "the module out/small_protocol/errors.py, generated for small." in str(record["message"])


def test_invalid_typescript_names_the_message_and_the_module(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoiled(
        monkeypatch, typescript_generation, "events.ts.j2", "export interface", "export interfac"
    )
    record = internal_error(small_project)
    assert place(record) == ("proto/small.proto", *place_of(PROTO, "message Event"))
    message = str(record["message"])
    assert message.startswith("internal error: the module web/events.ts, generated for small.Event")


def test_an_exception_in_a_planner_names_the_arm(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(arm: object) -> str:
        raise LookupError("no such thing")

    monkeypatch.setattr("sessiongen.targets.python.requests.Namespace.name", lambda *_: fail(_[2]))
    record = internal_error(small_project)
    assert record["file"] == "proto/small.proto"
    message = str(record["message"])
    assert message.startswith("internal error: the python output out/small_protocol cannot be")
    assert message.endswith(": LookupError: no such thing")


@pytest.mark.parametrize("command", ["generate", "check"])
def test_an_exception_in_a_template_names_the_template(
    command: str, small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    undefined = typescript_generation._VALUES | {"events": lambda context: {}}
    monkeypatch.setattr(typescript_generation, "_VALUES", undefined)
    record = internal_error(small_project, command)
    assert record["file"] == "proto/small.proto"
    message = str(record["message"])
    assert message.startswith("internal error: the typescript output web cannot be generated for ")
    assert "UndefinedError" in message
    assert "raised in templates/typescript/events.ts.j2, line " in str(record["help"])


def test_an_exception_elsewhere_names_the_element(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(enum: object, *rest: object) -> None:
        raise ValueError("first\nsecond")

    monkeypatch.setattr("sessiongen.ir.protocol._event", fail)
    record = internal_error(small_project)
    assert record["file"] == "proto/small.proto"
    assert str(record["message"]).endswith(": ValueError: first")


def test_an_exception_without_an_element_is_reported_at_the_configuration(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("sessiongen.pipeline.search", fail)
    monkeypatch.setattr("sessiongen.ir.protocol.search", fail)
    record = internal_error(small_project)
    assert place(record) == ("codegen.toml", 1, 1)
    assert record["message"] == "internal error: ValueError"


def test_files_of_another_output_stay_as_they_are(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One output is invalid, so the change of the other is not written either."""
    small_project.generated()
    small_project.add_arm()
    before = {path: path.read_bytes() for path in small_project.package.iterdir()}
    spoiled(monkeypatch, typescript_generation, "arms.ts.j2", "export const", "export konst")
    outcome: Outcome = small_project.invoke("generate")
    assert outcome.status == 2 and "error[SG032]" in outcome.errors
    assert {path: path.read_bytes() for path in small_project.package.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "line"),
    [("export function tickAt(a: number { return a; }\n", 1), ("import { a } from 'b';\n}\n", 2)],
)
def test_invalid_overrides_are_a_fault_of_their_own_file(
    text: str, line: int, small_project: Project
) -> None:
    (small_project.root / "own.ts").write_text(text, encoding="utf-8")
    small_project.config.write_text(f'{BOTH}overrides = "own.ts"\n', encoding="utf-8")
    small_project.proto.write_text(
        PROTO.replace("message Empty {}", "message Empty { int64 at = 1; }").replace(
            "Empty tick", "Tick tick"
        )
        + "message Tick { int64 at = 1; }\n",
        encoding="utf-8",
    )
    text_with_function = text if "tickAt" in text else f"{text}export function tickAt() {{}}\n"
    (small_project.root / "own.ts").write_text(text_with_function, encoding="utf-8")
    [record] = small_project.invoke("--format", "json", "generate").records()
    assert (record["file"], record["line"], record["rule"]) == ("own.ts", line, "SG028")
    assert not (small_project.root / "web").exists()
