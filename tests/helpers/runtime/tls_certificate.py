"""TLS contexts with a certificate for 127.0.0.1, which the command `openssl` creates."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def contexts(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Returns the contexts of a listener and of a peer that trusts it. Skips without openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl command")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
        + ["subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=str(certificate))
