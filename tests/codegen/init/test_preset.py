"""`init --preset` writes a configuration that generates at once, with the contract's mappings.

The encoders over the published messages are compared with those of the contract, byte by byte,
for objects of the SDK; enums with literals that were collected by hand.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import generated_packages
import pytest
import tomli
from agent_session_protocol import encoders as contract
from contract_coders import LITERALS
from generated_packages import ROOT, Package
from livekit.protocol.agent_pb import agent_session as pb
from sdk_objects import SAMPLES
from sessiongen_command import invoke

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.diagnostics import Rule, Span
from sessiongen.init import preset
from sessiongen.init.preset_gaps import gaps_for
from sessiongen.parity.matrix import Finding

NAME = "livekit-agents"
OUR_PACKAGE, PUBLISHED_PACKAGE = "agent_session.", "livekit.agent."
# What the SDK sends for a state that the protocol does not know; the contract allows no such state.
FALLBACKS_OF_THE_SDK = {
    ("livekit.agent.AgentState", "unknown"): "AS_IDLE",
    ("livekit.agent.UserState", "unknown"): "US_LISTENING",
}
GAPS = '[[gaps]]\nkind = "design"\nreason = "{reason}"\n[gaps.covers]\n{covers}\n'
# The published messages have no such event.
NOT_PUBLISHED = "agent_session.AgentSessionEvent.SessionClosed"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Returns the package that the preset generates, in an empty folder."""
    folder = tmp_path_factory.mktemp("preset")
    outcome = invoke(folder, "init", "--preset", NAME)
    assert outcome.status == 0 and outcome.errors == ""
    outcome = invoke(folder, "generate")
    assert outcome.status == 0 and outcome.errors == ""
    assert invoke(folder, "check").status == 0
    return Package("session_protocol", folder / "generated" / "python")


def _annotations(config: Path) -> dict[tuple[str, str], str]:
    annotated = pipeline.read_input(reader.load(config))[1]
    return {key: item.value for key, item in annotated.by_element.items()}


def _written(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_preset_has_the_annotations_of_the_contract() -> None:
    text = _written(f"presets/{NAME}.toml")
    listed = {
        (element, key): value
        for element, table in tomli.loads(text)["annotations"].items()
        for key, value in table.items()
    }
    expected = {
        (PUBLISHED_PACKAGE + element.removeprefix(OUR_PACKAGE), key): value
        for (element, key), value in _annotations(ROOT / "codegen.toml").items()
    }
    assert listed == expected | FALLBACKS_OF_THE_SDK


def test_the_preset_has_the_overrides_of_the_contract() -> None:
    ours, published = _written("overrides/agent_session.py"), _written(
        "presets/overrides/livekit_agents.py"
    )
    assert ours[ours.index("\ndef ") :] == published[published.index("\ndef ") :]


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != NOT_PUBLISHED])
def test_objects_of_the_sdk_give_the_bytes_of_the_contract(name: str, package: Package) -> None:
    path = name.removeprefix(OUR_PACKAGE).split(".")
    encoders = package.module("encoders")
    function = _encoder(encoders, PUBLISHED_PACKAGE + ".".join(path))
    expected = _encoder(contract, name)
    for sample in SAMPLES[name]:
        encoded = function(sample.source)
        assert encoded.DESCRIPTOR.full_name == PUBLISHED_PACKAGE + ".".join(path)
        assert _bytes(encoded) == _bytes(expected(sample.source)) != b""


def _encoder(module: Any, full_name: str) -> Any:
    [function] = [
        item
        for name, item in vars(module).items()
        if name.startswith("encode_") and _made(module, item) == full_name
    ]
    return function


def _made(module: Any, function: Any) -> str | None:
    """Returns the full name of the message that an encoder returns."""
    result: Any = vars(module)
    for part in function.__annotations__["return"].split("."):
        result = result[part] if isinstance(result, dict) else getattr(result, part)
    return str(result.DESCRIPTOR.full_name) if "arm" not in function.__annotations__ else None


def _bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString(deterministic=True)
    return data


@pytest.mark.parametrize("enum", LITERALS)
def test_every_literal_has_its_number(enum: str, package: Package) -> None:
    enums = package.module("enums")
    name = enum.removeprefix(OUR_PACKAGE)
    function = "".join(f"_{char.lower()}" if char.isupper() else char for char in name)[1:]
    for number, literal in LITERALS[enum].items():
        assert getattr(enums, f"{function}_to_proto")(literal) == number
        if literal is not None:
            assert getattr(enums, f"{function}_from_proto")(number) == literal


def test_ping_is_answered_by_pong(package: Package) -> None:
    requests = package.module("requests")

    async def ping(_: Any, request: pb.SessionRequest.Ping) -> pb.SessionResponse.Pong:
        return pb.SessionResponse.Pong()

    handler = type("Host", (requests.PartialSessionRequestHandler,), {"ping": ping})()
    request = pb.SessionRequest(request_id="1", ping=pb.SessionRequest.Ping())
    response = asyncio.run(requests.answer(handler, request))
    assert response == pb.SessionResponse(request_id="1", pong=pb.SessionResponse.Pong())


def test_type_checkers_accept_the_package(package: Package, tmp_path: Path) -> None:
    assert generated_packages.mypy([package.folder], [package.out], tmp_path / "mypy") == ""
    assert generated_packages.pyright([package.folder], [package.out], tmp_path / "pyright") == ""


def test_elements_that_the_messages_lack_are_left_out(package: Package) -> None:
    written = tomli.loads((package.out.parents[1] / "codegen.toml").read_text(encoding="utf-8"))
    assert "livekit.agent.CloseReason" in written["annotations"]
    assert "livekit.agent.AgentSessionEvent.session_closed" not in written["annotations"]


@pytest.mark.parametrize("name", preset.names())
def test_generate_and_parity_find_nothing(name: str, tmp_path: Path) -> None:
    assert invoke(tmp_path, "init", "--preset", name).status == 0
    for command in ("generate", "check", "parity"):
        outcome = invoke(tmp_path, command)
        assert (outcome.status, outcome.errors) == (0, "")
    # A difference that no gap declares is a finding.
    gaps = tmp_path / "vocabularies" / f"{name}.gaps.toml"
    text = gaps.read_text(encoding="utf-8")
    gaps.write_text(text[: text.rindex("[[gaps]]")], encoding="utf-8")
    assert invoke(tmp_path, "parity").status == 1


@pytest.mark.parametrize("name", preset.names())
def test_gaps_have_the_reasons_of_the_contract(name: str, tmp_path: Path) -> None:
    assert invoke(tmp_path, "init", "--preset", name).status == 0
    file = f"vocabularies/{name}.gaps.toml"
    own = ROOT / "presets" / file
    sources = [ROOT / file, *([own] if own.exists() else [])]
    reasons = {
        (item["kind"], item["reason"])
        for path in sources
        for item in tomli.loads(path.read_text(encoding="utf-8"))["gaps"]
    }
    written = tomli.loads((tmp_path / file).read_text(encoding="utf-8"))["gaps"]
    assert {(item["kind"], item["reason"]) for item in written} <= reasons


def test_gaps_are_those_of_the_same_elements_in_another_package() -> None:
    texts = [
        GAPS.format(reason="first", covers='"enum acme.v1.State" = "acme.v1.State is missing"'),
        GAPS.format(reason=r"a \"second\"", covers='"field M.a: f" = "old"\n"field M.b: f" = "b"'),
        GAPS.format(reason="third", covers='"enum acme.v1.State" = "acme.v1.State is missing"'),
    ]
    states = {
        "enum other.State": "other.State is missing",
        "field M.a: f": "new",
        "field M.b: f": "b",
        "field M.c: f": "c",
    }
    span = Span("x.proto")
    findings = [
        Finding("sdk", id_, f"sdk: {state}", Rule.PARITY_FIELD, span)
        for id_, state in states.items()
    ]
    assert tomli.loads(gaps_for(findings, texts)) == {
        "gaps": [
            {
                "kind": "design",
                "reason": "first",
                "covers": {"enum other.State": "other.State is missing"},
            },
            {"kind": "design", "reason": 'a "second"', "covers": {"field M.b: f": "b"}},
        ]
    }
    assert gaps_for([], texts) == ""


def test_existing_files_are_kept(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocabularies" / f"{NAME}.json"
    vocabulary.parent.mkdir()
    shutil.copy(ROOT / "vocabularies" / f"{NAME}.json", vocabulary)
    vocabulary.write_text(f"{vocabulary.read_text(encoding='utf-8')}\n", encoding="utf-8")
    gaps = vocabulary.with_suffix(".gaps.toml")
    gaps.write_text("gaps = []\n", encoding="utf-8")
    outcome = invoke(tmp_path, "init", "--preset", NAME)
    for path in (vocabulary, gaps):
        assert f"kept vocabularies/{path.name}\n" in outcome.output
    assert vocabulary.read_text(encoding="utf-8").endswith("\n\n")
    assert gaps.read_text(encoding="utf-8") == "gaps = []\n"
    outcome = invoke(tmp_path, "init", "--preset", NAME)
    assert outcome.status == 2 and "error[SG008]" in outcome.errors


def test_the_files_of_a_wheel_are_enough(tmp_path: Path) -> None:
    """Lays out the generator as pyproject.toml packs it, and runs it there."""
    packed = tmp_path / "site"
    shutil.copytree(ROOT / "codegen" / "sessiongen", packed / "sessiongen")
    wheel = tomli.loads(_written("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, target in wheel["force-include"].items():
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        (packed / target).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / source, packed / target)
    project = tmp_path / "project"
    project.mkdir()
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from sessiongen.__main__ import run; run()"
    for command in (["init", "--preset", NAME], ["generate", "--quiet"]):
        subprocess.run([sys.executable, "-c", code, str(packed), *command], cwd=project, check=True)
    assert (project / "generated" / "python" / "session_protocol" / "encoders.py").is_file()


def test_no_such_preset(tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "init", "--preset", "nothing")
    assert outcome.status == 2
    assert f"no preset 'nothing'; presets: {', '.join(preset.names())}" in outcome.errors
    assert list(tmp_path.iterdir()) == []


def test_messages_that_are_not_installed(tmp_path: Path) -> None:
    code = "import sys; sys.modules['livekit.protocol'] = None\n"
    (tmp_path / "livekit").mkdir()
    (tmp_path / "livekit" / "__init__.py").write_text(code, encoding="utf-8")
    outcome = invoke(tmp_path, "init", "--preset", NAME)
    assert outcome.status == 2 and "error[SG004]: cannot read messages from" in outcome.errors
    assert not (tmp_path / "codegen.toml").exists() and not (tmp_path / "vocabularies").exists()
