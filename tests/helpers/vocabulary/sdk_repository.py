"""Git repositories with the small Python SDK, its protocol and its configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from small_sdks import PYTHON_SDK

# The protocol of the small SDKs.
PROTO = """\
syntax = "proto3";
package small;

enum State {
  STATE_IDLE = 0;
  STATE_BUSY = 1;
}

message AgentSessionEvent {
  message StateEvent { State new = 1; }
  oneof event { StateEvent state = 1; }
}

message SessionRequest {
  message Ping {}
  string request_id = 1;
  oneof request { Ping ping = 2; }
}

message SessionResponse {
  message Pong {}
  string request_id = 1;
  oneof response { Pong pong = 2; }
}

message AgentSessionMessage {
  oneof message {
    AgentSessionEvent event = 1;
    SessionRequest request = 2;
    SessionResponse response = 3;
  }
}
"""
CONFIG = """\
[input]
protos = ["small.proto"]

[output]
package = "small"

[annotations."small.SessionRequest.ping"]
response = "pong"

[sdks]
vocabularies = ["vocabularies/small-sdk.json"]
"""
SCOPE = """\
language = "python"
distribution = "small-sdk"
package = "livekit.agents"

[classes]
session = "AgentSession"
host = "SessionHost"
driver = "RemoteSession"

[messages]
module = "livekit.protocol.agent_pb"
name = "agent_session"
"""
_IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


class Repository:
    """A folder with a git repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        """Runs git and returns its output."""
        variables = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        done = subprocess.run(
            ["git", *_IDENTITY, *arguments],
            cwd=self.folder,
            env={**variables, "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def write(self, name: str, text: str) -> None:
        """Writes a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, before: str, after: str) -> None:
        """Replaces a text that a file has once."""
        text = (self.folder / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, text
        self.write(name, text.replace(before, after))

    def commit(self) -> None:
        """Commits everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a")

    def add_sdk(self) -> Repository:
        """Writes the sources of the small Python SDK."""
        for name, text in PYTHON_SDK.items():
            self.write(f"livekit/agents/{name}", text)
        return self

    def add_protocol(self) -> Repository:
        """Writes the protocol, the configuration and the scope of the SDK."""
        self.write("small.proto", PROTO)
        self.write("codegen.toml", CONFIG)
        self.write("vocabularies/small-sdk.scope.toml", SCOPE)
        return self
