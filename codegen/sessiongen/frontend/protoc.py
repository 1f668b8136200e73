"""Runs protoc in a subprocess and turns its output into diagnostics.

A subprocess, because some inputs make protoc end its process.
"""

from __future__ import annotations

import re
import subprocess

from sessiongen.output import subprocesses
from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.frontend.source_map import Sources

_LINE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)$")
# What its logger adds, with the time of day.
_LOG = re.compile(r"[IWEF]\d{4} |WARNING: All log messages before absl")
_TRACEBACK = "Traceback (most recent call last):"
_CHECK = "*** Check failure"
_FILE = re.compile(r"^(?P<file>[^:\s][^:]*\.proto): (?P<text>.*)$")


# What `python -m grpc_tools.protoc` does, without the half of its time that it spends on imports.
# The name is private, and the version of grpcio-tools is pinned.
_RUN = """
import os
import grpc_tools
from grpc_tools import _protoc_compiler
include = "-I" + os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
arguments = ["protoc", *sys.argv[1:], include]
sys.exit(_protoc_compiler.run_main([os.fsencode(item) for item in arguments]))
"""


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start protoc; the bundled google/protobuf files are on its include path."""
    command = subprocesses.code(_RUN, *arguments)
    # In a session of its own: an interrupt from the keyboard is for this process alone,
    # and does not look like a fault of protoc's.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def finish(process: subprocess.Popen[bytes], sources: Sources) -> list[Diagnostic]:
    """Wait for protoc and return its diagnostics; at least one error if it failed."""
    output, _ = process.communicate()
    text = output.decode("utf-8", errors="replace")
    diagnostics = parse(text, sources, process.returncode != 0)
    if process.returncode != 0 and not any(item.severity is Severity.ERROR for item in diagnostics):
        span = Span(sources.origin.as_posix() if sources.origin else "protoc")
        fault = f"protoc ended with status {process.returncode}"
        diagnostics.append(Diagnostic(span, Rule.PROTO, fault, text.strip()[-400:]))
    return diagnostics


def parse(text: str, sources: Sources, failed: bool) -> list[Diagnostic]:
    """Turn protoc's output into diagnostics; columns become columns of characters."""
    diagnostics = []
    lines = text.splitlines()
    if failed and _TRACEBACK in lines:
        # Its Python wrapper failed before protoc began: the last line says why.
        lines = lines[-1:]
    if failed and any(_CHECK in line for line in lines):
        # protoc gave up on its own terms; its log says on which.
        logged = [line.partition("] ")[2] for line in lines if _LOG.match(line) and "] " in line]
        lines = [line for line in logged if line][:1] or lines[-1:]
    for line in lines:
        match = _LINE.match(line) or _FILE.match(line)
        if match is None:
            if failed and line.strip() and not _LOG.match(line):
                span = Span(sources.origin.as_posix() if sources.origin else "protoc")
                diagnostics.append(Diagnostic(span, Rule.PROTO, line.strip(), ""))
            continue
        parts = match.groupdict()
        row, column = int(parts.get("line") or 1), int(parts.get("column") or 1)
        message = parts["text"]
        warning = message.startswith("warning: ")
        diagnostics.append(
            Diagnostic(
                sources.span(parts["file"], row - 1, column - 1),
                Rule.PROTO,
                message.removeprefix("warning: "),
                _HINTS.get(next((key for key in _HINTS if key in message), ""), _SYNTAX_HELP),
                Severity.WARNING if warning else Severity.ERROR,
            )
        )
    return diagnostics


_SYNTAX_HELP = "the file must be valid Protocol Buffers source; this is protoc's own message"
_HINTS = {
    "was not found or had errors": "fix that file, or add its folder to input.include",
    "recursively imports": "remove one of the imports that form the cycle",
    "maximum supported edition": "write the file in proto2, proto3 or edition 2023",
    "File not found": "add the folder that holds this file to input.include",
    "is not defined": "define it, or import the file that does",
    "is already defined": "rename one of the two",
    "is unused": "remove the import",
    "has already been used": "give the field a number of its own",
}
