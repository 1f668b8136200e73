"""The scopes of this repository's SDKs, as its configuration gives them."""

from __future__ import annotations

from pathlib import Path

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.vocabulary.scope import load_scope

ROOT = Path(__file__).resolve().parents[3]
_CONFIG = reader.load(ROOT / "codegen.toml")
_ROLES = pipeline.roles(_CONFIG)

PYTHON, TYPESCRIPT = (load_scope(path, _ROLES) for path in _CONFIG.sdks.vocabularies)
