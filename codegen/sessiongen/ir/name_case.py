"""Conversion of names between CamelCase and snake_case."""

from __future__ import annotations

import re

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(name: str) -> str:
    """Return a CamelCase name in snake_case: `LLMModelUsage` gives `llm_model_usage`."""
    return _WORD.sub("_", name).lower()
