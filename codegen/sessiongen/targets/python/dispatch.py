"""The model of dispatch.py: the arms, tables and handler tables of each oneof."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.name_case import snake
from sessiongen.targets.python.naming import Namespace, constant
from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.python.layout import literal_alias
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.references import References, newer


@dataclass(frozen=True)
class ArmModel:
    """An arm: its proto name and number, its payload's type, its handler's attribute."""

    name: str
    number: int
    type: str
    runtime: str
    attribute: str


@dataclass(frozen=True)
class UnionModel:
    """A real oneof: the names of the generated symbols, and its arms.

    alias: the statement that defines the type of its arms.
    """

    full_name: str
    oneof: str
    message: str
    arm_type: str
    alias: str
    table: str
    handlers: str
    dispatch: str
    arms: list[ArmModel]


@dataclass(frozen=True)
class DispatchModel:
    """dispatch.py."""

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    unions: list[UnionModel]


def dispatch_model(context: Context) -> DispatchModel:
    """Returns the model of dispatch.py."""
    references = context.references()
    namespace = Namespace("dispatch.py", {"Arm", "Handlers", "R"} | context.modules.aliases)
    unions = [_union(context, references, namespace, item) for item in context.protocol.unions]
    context.faults += namespace.faults
    return DispatchModel(references.imports, references.aliases, unions)


def _union(
    context: Context, references: References, namespace: Namespace, oneof: Oneof
) -> UnionModel:
    name = context.union_name(oneof)
    model = UnionModel(
        full_name=f"{oneof.message}.{oneof.name}",
        oneof=oneof.name,
        message=references.message(oneof.message),
        arm_type=f"{name}Arm",
        alias=literal_alias(f"{name}Arm", [f'"{arm.name}"' for arm in oneof.arms]),
        table=f"{constant(name)}_ARMS",
        handlers=f"{name}Handlers",
        dispatch=f"dispatch_{snake(name)}",
        arms=_arms(context, references, oneof),
    )
    for generated in (model.arm_type, model.table, model.handlers, model.dispatch):
        namespace.claim(generated, model.full_name, oneof.span)
    return model


def _runtime_class(context: Context, references: References, arm: Field) -> str:
    """Returns the expression of the class of an arm's payload."""
    name = arm.value.type_name
    if name in context.newer and name in context.protocol.schema.messages:
        return f"{newer(references, context.protocol.schema.messages[name])} or object"
    return references.runtime_class(arm.value)


def _arms(context: Context, references: References, oneof: Oneof) -> list[ArmModel]:
    namespace = Namespace(
        f"the handler table of {oneof.message}.{oneof.name}", context.class_reserved | {"R"}
    )

    def model(arm: Field) -> ArmModel:
        return ArmModel(
            name=arm.name,
            number=arm.number,
            type=references.strict(arm.value),
            runtime=_runtime_class(context, references, arm),
            attribute=namespace.name(arm.name, arm.span),
        )

    arms = [model(arm) for arm in oneof.arms]
    context.faults += namespace.faults
    return arms
