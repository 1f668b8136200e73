"""The model of errors.py: the payloads that may accompany an error text."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.schema import Kind
from sessiongen.targets.python.context import Context, role_arms
from sessiongen.targets.python.references import SCALAR_TYPES


@dataclass(frozen=True)
class ErrorsModel:
    """errors.py. `payload` is the type of a response's payload, or None."""

    payload: str


def errors_model(context: Context) -> ErrorsModel:
    """Return the model of errors.py."""
    kinds = [arm.value.kind for arm in role_arms(context.protocol, "response")]
    plain = {SCALAR_TYPES[kind] for kind in kinds if kind is not Kind.MESSAGE}
    message = ["Message"] if Kind.MESSAGE in kinds else []
    return ErrorsModel(" | ".join([*message, *sorted(plain), "None"]))
