"""Runs protoc in a subprocess and turns its output into diagnostics.

Some inputs make protoc end the process in which it runs.
"""

from __future__ import annotations

import re
import subprocess

from sessiongen import subprocesses
from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.frontend.source_map import SourceMap

_LINE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)$")
# Lines of protoc's logger.
_LOG = re.compile(r"[IWEF]\d{4} |WARNING: All log messages before absl")
_TRACEBACK = "Traceback (most recent call last):"
_CHECK = "*** Check failure"
_FILE = re.compile(r"^(?P<file>[^:\s][^:]*\.proto): (?P<text>.*)$")


# The same as `python -m grpc_tools.protoc` in half the time: fewer modules are imported.
# The name is private; the version of grpcio-tools is pinned.
_RUN = """
import os
import grpc_tools
from grpc_tools import _protoc_compiler
include = "-I" + os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
arguments = ["protoc", *sys.argv[1:], include]
sys.exit(_protoc_compiler.run_main([os.fsencode(item) for item in arguments]))
"""


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Starts protoc; the bundled google/protobuf files are on its include path."""
    command = subprocesses.code(_RUN, *arguments)
    # protoc runs in its own session: an interrupt from the keyboard must not look like a
    # failure of protoc.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def finish(process: subprocess.Popen[bytes], source_map: SourceMap) -> list[Diagnostic]:
    """Waits for protoc and returns its diagnostics, at least one error if it failed."""
    output, _ = process.communicate()
    text = output.decode("utf-8", errors="replace")
    diagnostics = parse(text, source_map, process.returncode != 0)
    if process.returncode != 0 and not any(item.severity is Severity.ERROR for item in diagnostics):
        span = Span(source_map.origin.as_posix() if source_map.origin else "protoc")
        fault = f"protoc ended with status {process.returncode}"
        diagnostics.append(Diagnostic(span, Rule.PROTO, fault, text.strip()[-400:]))
    return diagnostics


def parse(text: str, source_map: SourceMap, failed: bool) -> list[Diagnostic]:
    """Returns the diagnostics in protoc's output, with columns counted in characters."""
    diagnostics = []
    lines = text.splitlines()
    if failed and _TRACEBACK in lines:
        # The Python wrapper failed before protoc started: the last line has the reason.
        lines = lines[-1:]
    if failed and any(_CHECK in line for line in lines):
        # An internal check of protoc failed; the log has the reason.
        logged = [line.partition("] ")[2] for line in lines if _LOG.match(line) and "] " in line]
        lines = [line for line in logged if line][:1] or lines[-1:]
    for line in lines:
        match = _LINE.match(line) or _FILE.match(line)
        if match is None:
            if failed and line.strip() and not _LOG.match(line):
                span = Span(source_map.origin.as_posix() if source_map.origin else "protoc")
                diagnostics.append(Diagnostic(span, Rule.PROTO, line.strip(), ""))
            continue
        parts = match.groupdict()
        row, column = int(parts.get("line") or 1), int(parts.get("column") or 1)
        message = parts["text"]
        warning = message.startswith("warning: ")
        diagnostics.append(
            Diagnostic(
                source_map.span(parts["file"], row - 1, column - 1),
                Rule.PROTO,
                message.removeprefix("warning: "),
                _HINTS.get(next((key for key in _HINTS if key in message), ""), _SYNTAX_HELP),
                Severity.WARNING if warning else Severity.ERROR,
            )
        )
    return diagnostics


_SYNTAX_HELP = "the file must be valid Protocol Buffers source; this is the message of protoc"
_HINTS = {
    "was not found or had errors": "fix that file",
    "recursively imports": "remove one of the imports that form the cycle",
    "maximum supported edition": "write the file in proto2, proto3 or edition 2023",
    "File not found": "add the folder that holds this file to input.include",
    "is not defined": "define it, or import the file that does",
    "is already defined": "rename one of the two",
    "is unused": "remove the import",
    "has already been used": "give the field another number",
}
