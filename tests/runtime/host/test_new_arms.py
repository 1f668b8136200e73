"""A host with a newer protocol than the runtime was written for.

The package is generated from a copy of the contract with a new request, a new event and new fields.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MODULES = ("host.host", "host.handlers", "livekit_agents.session")
# Numbers that the contract will not have.
GAINED = {
    "  message FinalizeSimulation {": "  // Weather.\n  message GetWeather { string town = 1; }\n\n",
    "    FinalizeSimulation finalize_simulation = 12;": "    // Weather.\n    GetWeather get_weather = 1013;\n\n",
    "  message FinalizeSimulationResponse {": "  // Weather.\n  message GetWeatherResponse {}\n\n",
    "    FinalizeSimulationResponse finalize_simulation = 13;": (
        "    // Weather.\n    GetWeatherResponse get_weather = 1014;\n\n"
    ),
    "  message SessionClosed {": (
        "  // Weather.\n  message WeatherChanged {\n    // Weather.\n    string text = 1;\n  }\n\n"
    ),
    "    // The SDK's short name, such as python.": "    // Weather.\n    string weather = 1003;\n\n",
    "    SessionClosed session_closed = 24": "    // Weather.\n    WeatherChanged weather_changed = 1025;\n\n",
}
PROGRAM = """
import asyncio
from scripted_session import PlainSession, hosted

async def main():
    session = PlainSession()
    async with hosted(session) as (driver, host, _):
        print((await driver.ask("get_weather", town="Cork")).error)
        session.emit("weather_changed", {"text": "rain", "created_at": 1.5})
        print((await driver.event("weather_changed")).weather_changed.text)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the package generated from the newer contract."""
    root = tmp_path_factory.mktemp("gained")
    for name in ("templates", "generated", "overrides", "proto", "vocabularies"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "codegen.toml", root)
    contract = root / "proto" / "agent_session.proto"
    text = contract.read_text(encoding="utf-8")
    for place, gained in GAINED.items():
        assert text.count(place) == 1, place
        text = text.replace(place, gained + place)
    text = text.replace(
        "message UpdateIOResponse {}",
        "message UpdateIOResponse {\n    // Weather.\n    string weather = 1001;\n  }",
    )
    contract.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "sessiongen", "generate"], cwd=root, check=True)
    return root / "generated" / "python"


def test_a_new_request_is_unimplemented_and_a_new_event_is_forwarded(generated: Path) -> None:
    paths = [generated, ROOT / "runtime", ROOT / "tests" / "helpers" / "runtime"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "unimplemented request: get_weather (field 1013)",
        "rain",
    ], done.stderr


def test_mypy_reports_a_new_request_and_a_new_field(generated: Path, tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\n[mypy-livekit.*]\nfollow_imports = skip\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", f"--config-file={settings}"),
            f"--cache-dir={ROOT / '.mypy_cache' / 'gained'}",
            *(f"-magent_session.{name}" for name in MODULES),
        ],
        env=os.environ | {"MYPYPATH": os.pathsep.join([str(generated), str(ROOT / "runtime")])},
        capture_output=True,
        text=True,
    )
    # Without the SDK, its values are Any, and mypy reports functions that return them.
    lines = [line for line in done.stdout.splitlines() if "[no-any-return]" not in line]
    errors = [line for line in lines if ": error:" in line]
    expected = {
        ("host/host.py", "HostRequestHandler", "get_weather"),
        ("host/handlers.py", "UpdateIOResponse", "weather"),
        ("livekit_agents/session.py", "GetFrameworkInfoResponse", "weather"),
    }
    result = {
        item
        for item in expected
        for line in errors
        if f"/{item[0]}:" in line and item[1] in line and f'"{item[2]}"' in line
    }
    assert result == expected, done.stdout + done.stderr
    assert len(errors) == len(expected), done.stdout
