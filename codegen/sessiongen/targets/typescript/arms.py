"""The layer `arms`: for each oneof the names of its arms and a table of them."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.schema import Oneof
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.layout import bracketed, union


@dataclass(frozen=True)
class Arm:
    """An arm: its name in protobuf-es as a key, its field number and its name in the proto."""

    key: str
    number: int
    name: str


@dataclass(frozen=True)
class Union:
    """A oneof. declaration: of its type. end: of the table, with the check of its keys."""

    full_name: str
    type: str
    declaration: str
    table: str
    end: str
    arms: tuple[Arm, ...]


def arms_model(context: Context) -> list[Union]:
    """Returns the oneofs in order of declaration."""
    return [_union(context, oneof) for oneof in context.protocol.unions]


def arm_type(context: Context, oneof: Oneof) -> str:
    """Returns the name of the type of a oneof's arms."""
    return f"{context.union_symbol(oneof)}Arm"


def _union(context: Context, oneof: Oneof) -> Union:
    name = arm_type(context, oneof)
    members = [naming.quoted(context.binding.arm(arm)) for arm in oneof.arms]
    check = bracketed("} as const satisfies Arms<", [context.union_type(oneof)], ">;")
    return Union(
        full_name=f"{oneof.message}.{oneof.name}",
        type=name,
        declaration=union(f"export type {name} =", members),
        table=f"{naming.constant(context.union_symbol(oneof))}_ARMS",
        end=check,
        arms=tuple(
            Arm(naming.key(context.binding.arm(arm)), arm.number, arm.name) for arm in oneof.arms
        ),
    )
