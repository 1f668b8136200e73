"""Reads which arms of the envelope the code of a Python SDK sends and receives.

The whole package is read, because a console may send and receive audio without the host.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import SENDS, RECEIVES, EnvelopeUse
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.dispatch import Oneof, branches
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.generated import filled_arms, generated_api
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.scope import Scope


def envelope_uses_of(
    modules: Modules,
    scope: Scope,
    constructions_in: Callable[[Module], list[ConstructionBuilder]],
    faults: Faults,
) -> Iterator[EnvelopeUse]:
    """Yields each arm that is sent or received, with every place that does so."""
    protobuf = ".".join(scope.protobuf)
    api = generated_api(modules, scope.messages)
    reading = {item.path: item for item in modules.mentioning(scope.messages.envelope)}
    if api.requests:
        # What stands on generated code need not name the envelope.
        reading.update((item.path, item) for item in modules.using(protobuf))
    for module in reading.values():
        if modules.is_generated(module):
            continue
        for arm, call in filled_arms(modules, module, api, scope.messages.event_arm):
            yield EnvelopeUse(arm, SENDS, _owner(module, call), module.place(call))
        for construction in constructions_in(module):
            for arm in (
                construction.fields if construction.message == scope.messages.envelope else ()
            ):
                yield EnvelopeUse(arm, SENDS, construction.within, construction.place)
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                oneof = Oneof(scope.messages.envelope, "")
                for case in branches(modules, [(module, node)], oneof, protobuf, faults):
                    name = getattr(case.function, "name", "")
                    yield EnvelopeUse(
                        case.arm, RECEIVES, f"{node.name}.{name}", module.place(case.node)
                    )


def _owner(module: Module, call: ast.Call) -> str:
    """Returns the class and method around a call."""
    for owner in module.tree.body:
        for item in owner.body if isinstance(owner, ast.ClassDef) else ():
            if any(node is call for node in ast.walk(item)):
                return f"{getattr(owner, 'name', '')}.{getattr(item, 'name', '')}"
    return ""
