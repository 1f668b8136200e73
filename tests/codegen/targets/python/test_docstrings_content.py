"""Tests of the docstrings of generated methods, and of the comments they are taken from."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from sessiongen_command import ROOT, project

_DOCS = """
import inspect, json
from small_protocol.client import RequestClient
from small_protocol.events import EventListeners, EventSink
from small_protocol.requests import RequestHandler
owners = RequestClient, RequestHandler, EventSink, EventListeners
methods = [(owner.__name__, item) for owner in owners
           for item in vars(owner).values() if inspect.isfunction(item)]
print(json.dumps({f"{owner}.{item.__name__}": inspect.getdoc(item) for owner, item in methods}))
"""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """The docstrings of a protocol whose arms and payloads have comments, or only one of them."""
    small_project = project(tmp_path_factory.mktemp("docs"))
    small_project.edit(
        "message Event {",
        "// Comment of Say.\nmessage Say {\n  // First line,\n  // second line.\n"
        "  string text = 1;\n}\n"
        "// Comment of Said.\n//\n// Its second paragraph,\n// on two lines.\nmessage Said {}\n"
        "message Event {",
    )
    small_project.edit(
        "Empty tick = 1;",
        "// Comment of said_both.\n    Said said_both = 1;\n    Said said_payload = 20;\n"
        "    Empty said_nothing = 21;",
    )
    small_project.edit(
        "    // Is anybody there?\n    Empty ping = 2;",
        "    // Comment of say_both.\n    Say say_both = 3;\n    Say say_payload = 4;\n"
        "    Empty say_nothing = 5;\n    Empty say_arm = 6;",
    )
    small_project.edit(
        "    Empty ping = 2;",
        "    // Comment of the response arm.\n    Said say_both = 13;\n    Said say_payload = 14;\n"
        "    Empty say_nothing = 15;\n    // Comment of a response.\n    Empty say_arm = 16;",
    )
    small_project.generated()
    done = subprocess.run(
        [sys.executable, "-c", _DOCS],
        cwd=small_project.root / "out",
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, str | None] = json.loads(done.stdout)
    return result


RETURNS_OF_ARM = """

Returns:
    Comment of the response arm."""
RETURNS = """

Returns:
    Comment of Said.

    Its second paragraph,
    on two lines."""
ARGS = """

Args:
    text: First line,
        second line."""


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (
            "say_both",
            "Comment of say_both.\n\nRequest arm 3, answered by `say_both` (13)."
            + ARGS
            + RETURNS_OF_ARM,
        ),
        (
            "say_payload",
            "Comment of Say.\n\nRequest arm 4, answered by `say_payload` (14)." + ARGS + RETURNS,
        ),
        (
            "say_nothing",
            "Request arm 5, answered by `say_nothing` (15).",
        ),
        (
            "say_arm",
            "Request arm 6, answered by `say_arm` (16)." "\n\nReturns:\n    Comment of a response.",
        ),
    ],
)
def test_a_client_method(docs: dict[str, str | None], method: str, expected: str) -> None:
    assert docs[f"RequestClient.{method}"] == expected


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("say_both", "Comment of say_both.\n\nRequest arm 3, answered by `say_both` (13)."),
        ("say_payload", "Comment of Say.\n\nRequest arm 4, answered by `say_payload` (14)."),
        (
            "say_nothing",
            "Request arm 5, answered by `say_nothing` (15).",
        ),
    ],
)
def test_a_handler_method(docs: dict[str, str | None], method: str, expected: str) -> None:
    assert docs[f"RequestHandler.{method}"] == expected


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("said_both", "Comment of said_both.\n\nEvent arm 1."),
        (
            "said_payload",
            "Comment of Said.\n\nIts second paragraph,\non two lines.\n\nEvent arm 20.",
        ),
    ],
)
def test_an_event(docs: dict[str, str | None], event: str, expected: str) -> None:
    assert docs[f"EventSink.{event}"] == expected
    assert docs[f"EventListeners.on_{event}"] == expected


def test_an_event_without_comments(docs: dict[str, str | None]) -> None:
    assert docs["EventSink.said_nothing"] == "Event arm 21."
    assert docs["EventListeners.on_said_nothing"] is None


def test_docstrings_of_templates_say_what_a_function_does() -> None:
    """They begin with a verb in the third person, such as "Returns"."""
    imperative = re.compile(
        r'"""(?:Add|Call|Check|Emit|End|Fill|Handle|Make|Raise|Return|Send|Set|Start|Wait|Write)\b'
    )
    templates = sorted((ROOT / "templates" / "python").glob("*.j2"))
    assert len(templates) > 10
    for path in templates:
        assert not imperative.findall(path.read_text(encoding="utf-8")), path.name
