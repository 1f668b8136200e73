"""Tests of published protocols: `init`, the lines that a user chooses, and round trips of all arms.

The protocols are not in this repository. Those whose package is not installed are skipped;
`make test-protocols` installs all of them.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import filled_messages
import generated_packages
import package_walk
import pytest
import tomli
from exchanges import Exchange, Modules, payload_of, raising, returning, run
from generated_packages import Package
from google.protobuf import descriptor_pb2
from published_protocols import PROTOCOLS, Protocol, table
from sessiongen_command import invoke


def descriptor_set(module: str, path: Path) -> None:
    """Writes the descriptors of an installed module and of all that it imports."""
    files, pending = {}, [importlib.import_module(module).DESCRIPTOR]
    while pending:
        file = pending.pop()
        if file.name not in files:
            files[file.name] = file
            pending += file.dependencies
    result = descriptor_pb2.FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(result.file.add())
    path.write_bytes(result.SerializeToString())


@pytest.mark.parametrize("name", PROTOCOLS)
def test_published_protocol(name: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS[name]
    pytest.importorskip(protocol.module, exc_type=ImportError)
    source = ["--messages", protocol.module]
    if not protocol.typed:
        descriptor_set(protocol.module, tmp_path / "input.binpb")
        source = ["--descriptor-set", "input.binpb"]
    outcome = invoke(tmp_path, "init", *source)
    assert outcome.status == (2 if protocol.chosen_lines else 0), outcome.errors
    config = tmp_path / "codegen.toml"
    text = config.read_text(encoding="utf-8")
    assert tomli.loads(text)["roles"] == protocol.roles
    for line in protocol.chosen_lines:
        assert text.count(f"\n# {line}\n") == 1
        text = text.replace(f"\n# {line}\n", f"\n{line}\n")
    config.write_text(text, encoding="utf-8")
    outcome = invoke(tmp_path, "generate")
    assert outcome.status == 0, outcome.errors
    package = Package(protocol.package, tmp_path / "generated" / "python")
    folders, imports = [package.folder], [package.out]
    assert generated_packages.mypy(folders, imports, tmp_path / "mypy") == ""
    assert generated_packages.pyright(folders, imports, tmp_path / "pyright") == ""
    unload = [key for key in sys.modules if key.split(".")[0] == protocol.package]
    for key in unload:
        del sys.modules[key]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(package.out)
        check(package, protocol)


def test_the_documentation_has_the_table() -> None:
    page = (generated_packages.ROOT / "docs" / "protocol-owner.md").read_text(encoding="utf-8")
    assert table() in page


def check(package: Package, protocol: Protocol) -> None:
    """Sends every request, event and error of a package."""
    package_walk.check_dispatch(package)
    assert requests_sent(package) == protocol.requests
    if protocol.events:
        facts = package_walk.Facts(None, timestamp=protocol.timestamp)
        package_walk.check_events(package, facts)
        assert len(package.module("events").SDK_EVENTS) == protocol.events
    classes = vars(package.module("errors"))
    errors = {key for key, item in classes.items() if getattr(item, "arm", None) is not None}
    assert errors == set(protocol.errors)


def requests_sent(package: Package) -> int:
    """Sends each request, and answers it with a payload and with each error; returns their number."""
    if not (package.folder / "requests.py").exists():
        return 0
    made = Modules(package)
    [handler] = [
        item
        for key, item in vars(made.requests).items()
        if key.endswith("Handler") and inspect.isabstract(item)
    ]
    methods = [key for key, item in vars(handler).items() if hasattr(item, "__isabstractmethod__")]
    request_class = get_type_hints(made.requests.answer)["request"]
    arms = filled_messages.union(request_class).fields
    for method, arm in zip(methods, arms, strict=True):
        check_request(made, method, filled_messages.filled(request_class, arm), arm)
    return len(methods)


def check_request(made: Modules, method: str, request: Any, arm: Any) -> None:
    """Sends one request to a handler that returns a payload, or raises an error."""
    [handler] = [item for key, item in vars(made.requests).items() if key.startswith("Partial")]
    result = payload_of(get_type_hints(getattr(handler, method))["return"])
    exchange = Exchange(made, {method: returning(result)})
    call = getattr(exchange.client(), method)
    arguments = filled_messages.arguments(call, request, arm, set(), frozenset({"timeout"}))
    assert run(call(**arguments)) == result
    assert exchange.sent == [request]
    for error in error_classes(made) if result is not None else ():
        payload = payload_of(get_type_hints(error.__init__)["payload"])
        call = getattr(Exchange(made, {method: raising(error(payload))}).client(), method)
        with pytest.raises(error) as caught:
            run(call(**arguments))
        assert caught.value.payload == payload


def error_classes(made: Modules) -> Iterator[Any]:
    """Yields the exceptions of the arms that report errors."""
    for item in vars(made.errors).values():
        if getattr(item, "arm", None) is not None:
            yield item
