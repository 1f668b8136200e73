"""Tests the package of every protocol in tests/cases: imports, type checkers, round trips."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import case_protocols
import filled_messages
import pytest
import generated_packages
import package_walk
from case_protocols import VALID
from generated_packages import CASES, Package, normal

Packages = dict[str, Package]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Every case as a package, all in one folder."""
    root = tmp_path_factory.mktemp("cases")
    return {name: case_protocols.make(name, root / "in", root / "out") for name in VALID}


def test_every_case_file_is_listed() -> None:
    files = {path.stem for path in CASES.glob("*.proto")}
    assert {name for name in files if not name.startswith("refused_")} <= set(VALID)


@pytest.mark.parametrize("name", VALID)
def test_arms_of_every_union_are_dispatched(packages: Packages, name: str) -> None:
    assert package_walk.check_dispatch(packages[name]) >= 3


@pytest.mark.parametrize("name", VALID)
def test_requests_are_answered_and_sent(packages: Packages, name: str) -> None:
    package_walk.check_requests(packages[name], VALID[name].facts)


@pytest.mark.parametrize("name", VALID)
def test_events_are_emitted_and_delivered(packages: Packages, name: str) -> None:
    package_walk.check_events(packages[name], VALID[name].facts)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": None}, "name is required, and None is given"),
        ({"packed": b"12"}, "a repeated field takes a list, not one bytes"),
    ],
)
def test_client_method_with_invalid_arguments(
    packages: Packages, changed: dict[str, object], message: str
) -> None:
    calls = package_walk.Calls(packages["proto2"], VALID["proto2"].facts)
    (arm,) = (item for item in calls.arms if item.name == "paint")
    client = calls.client(calls.recording([], calls.result), [])
    method = getattr(client, calls.client_methods["paint"])
    request = filled_messages.filled(calls.request, arm)
    with pytest.raises(TypeError, match=message):
        asyncio.run(method(**{**calls.arguments(method, request, arm), **changed}))


def test_mypy_reports_no_error(packages: Packages, tmp_path: Path) -> None:
    folders = [item.folder for item in packages.values()]
    assert generated_packages.mypy(folders, [folders[0].parent], tmp_path) == ""


def test_pyright_reports_no_error(packages: Packages, tmp_path: Path) -> None:
    folders = [item.folder for item in packages.values()]
    assert generated_packages.pyright(folders, [folders[0].parent], tmp_path) == ""


# Names of these protocols that are names of Python or of generated code.
NAMED_LIKE_CODE = ("arm_words", "encoder_words", "field_words", "python_words", "sundries")


def test_ruff_reports_no_error(packages: Packages) -> None:
    """Names longer than a line are left as they are, and by black in another layout than ruff's."""
    folders = {name: item.folder for name, item in packages.items() if name != "deep"}
    assert generated_packages.ruff("format", folders.values()) == ""
    plain = [folder for name, folder in folders.items() if name not in NAMED_LIKE_CODE]
    assert generated_packages.ruff("check", plain, "--ignore", "E501") == ""
    words = [folders[name] for name in NAMED_LIKE_CODE]
    assert generated_packages.ruff("check", words, "--ignore", "E501,E741,F401,F811") == ""


def test_output_has_line_feeds_only(packages: Packages) -> None:
    files = [path for item in packages.values() for path in item.folder.iterdir() if path.is_file()]
    assert len(files) > 200
    assert [path for path in files if b"\r" in path.read_bytes()] == []


# ---------------------------------------------------------------------------------------
# What single cases are about, worked out by hand.


def names_of(package: Package, module: str, ending: str = "") -> set[str]:
    return {name for name in vars(package.module(module)) if name.endswith(ending)}


def test_flattened_names_differ(packages: Packages) -> None:
    functions = {
        name
        for name in names_of(packages["flat_names"], "dispatch")
        if name.startswith("dispatch_")
    }
    assert functions == {
        "dispatch_content__status",
        "dispatch_content_status",
        "dispatch_contentstatus",
        "dispatch_job",
        "dispatch_job__second",
        "dispatch_job__third_one",
        "dispatch_job_second",
        "dispatch_job_third__one",
        "dispatch_event",
        "dispatch_request",
        "dispatch_response",
        "dispatch_envelope",
    }


def test_same_name_in_several_proto_packages(packages: Packages) -> None:
    names = names_of(packages["imports"], "dispatch", "Handlers")
    assert {"trap_imports_ItemHandlers", "trap_imports_door_ItemHandlers"} <= names
    assert {"EventHandlers", "RequestHandlers", "ResponseHandlers", "EnvelopeHandlers"} <= names
    modules = {path.name for path in packages["imports"].folder.glob("*_pb2.py")}
    assert modules == {
        "_3d_4d_point_pb2.py",
        "behind_pb2.py",
        "deep_class_import_pb2.py",
        "dispatch_pb2.py",
        "public_door_pb2.py",
        "timestamp_pb2.py",
        "values_pb2.py",
    }


def test_reserved_arm_names_get_an_underscore(packages: Packages) -> None:
    package = packages["arm_words"]
    client, sink = package.module("client").RequestClient, package.module("events").EventSink
    assert {"send_", "_exchange", "str_", "None_", "f__x", "emit", "match", "print"} <= set(
        vars(client)
    )
    assert {"emit_", "send", "str_", "None_", "f__x", "on_unknown"} <= set(vars(sink))
    listeners = package.module("events").EventListeners
    assert {"on_unknown", "on_unknown_", "on_send", "on_on_unknown", "on_None"} <= set(
        vars(listeners)
    )


def test_sdk_event_names_are_escaped(packages: Packages) -> None:
    assert dict(packages["shared_response"].module("events").SDK_EVENTS) == {
        "started": 'start"; import os; os._exit(3) # \\ \né',
        "stopped": "stop",
        "idle": "idle",
    }


def test_annotations_are_not_in_generated_code(packages: Packages) -> None:
    file = packages["shared_response"].module("shared_response_pb2").DESCRIPTOR
    assert list(file.dependencies) == []
    options = file.message_types_by_name["Event"].fields_by_name["stopped"].GetOptions()
    assert (options.deprecated, options.SerializeToString()) == (True, b"\x18\x01")
    assert "sessiongen/annotations" not in packages["shared_response"].text(
        "shared_response_pb2.py"
    )


def test_error_without_a_text_is_reported(packages: Packages) -> None:
    texts = {}
    for name in ("optionals", "scalar_arms"):
        package, facts = packages[name], VALID[name].facts
        calls = package_walk.Calls(package, facts)

        def refuse(_: str, errors: type[Exception] = calls.errors.RequestError) -> None:
            raise errors("")

        client = calls.client(calls.recording([], refuse), [])
        request = filled_messages.filled(calls.request, calls.arms[0])
        method = getattr(client, calls.client_methods[calls.arms[0].name])
        with pytest.raises(calls.errors.RequestError) as caught:
            package_walk.run(method(**calls.arguments(method, request, calls.arms[0]), timeout=2.5))
        texts[name] = caught.value.message
    assert texts == dict.fromkeys(("optionals", "scalar_arms"), "request failed")


# ---------------------------------------------------------------------------------------
# Comments.

_DOCS = """
import importlib, inspect, json, sys
sys.path.insert(0, sys.argv[1])
docs = []
for package in sys.argv[2:]:
    for name in ("dispatch", "requests", "events", "client", "values", "errors"):
        module = importlib.import_module(f"{package}.{name}")
        for value in vars(module).values():
            if inspect.isclass(value):
                docs += [item.__doc__ for item in vars(value).values() if inspect.isfunction(item)]
print(json.dumps([item for item in docs if item]))
"""

COMMENTS = [
    'Says """hi""" and """; import os; os._exit(3) #',
    'four """" and five """"" and two ""',
    'Ends in a quote: "',
    'Ends in a backslash and a quote: \\"',
    'Ends in two quotes, after a backslash: \\""',
    "Ends in a backslash \\",
    "\\\\",
    '"',
    '"""',
    "\\",
    "C:\\new\\table \\N{BULLET} \\x41 \\u0041 {{ brace }} {% tag %} {# note #} {}{0} %s %(x)s $x"
    " naïve 日本語 🎙",
    "form\x0cfeed vertical\x0btab bell\x07 escape\x1b del\x7f nel\x85 line\u2028sep para\u2029sep"
    " bidi \u202eesrever\u202c \u2066iso\u2069 bom \ufeff zero\u200bwidth nbsp\xa0 tab\there",
    "One line",
    'trailing """',
    "from os import _exit from os import _exit",
    'inline "block" """',
]


def test_comments_are_escaped(packages: Packages) -> None:
    out = packages["comments"].out
    names = [item.name for item in packages.values()]
    done = subprocess.run(
        [sys.executable, "-c", _DOCS, str(out), *names], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    docs = [normal(text) for text in json.loads(done.stdout)]
    missing = [text for text in COMMENTS if not any(normal(text) in item for item in docs)]
    assert missing == []
    assert any(len(item) > 200_000 and item.count("long ") >= 40_000 for item in docs)
    assert any("One. cr here" in item for item in docs)


def test_docs_have_no_invisible_character(packages: Packages) -> None:
    text = packages["comments"].text("requests.py") + packages["comments"].text("client.py")
    unseen = "\t\x07\x0b\x0c\r\x1b\x7f\x85\u200b\u2028\u2029\u202c\u202e\u2066\u2069\ufeff"
    assert [item for item in unseen if item in text] == []
