"""Reads which arms of the envelope the code of a TypeScript SDK sends and receives.

The whole package is read, because a console may send and receive audio without the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import SENDS, RECEIVES, EnvelopeUse
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.dispatch import Dispatch
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, class_methods


def envelope_uses_of(
    modules: Modules,
    scope: Scope,
    constructions_in: Callable[[File], list[ConstructionBuilder]],
    faults: Faults,
) -> Iterator[EnvelopeUse]:
    """Yields each arm that is sent or received, with every place that does so."""
    for file in modules.mentioning(scope.messages.envelope):
        if modules.is_generated(file):
            continue
        for construction in constructions_in(file):
            for arm in (
                construction.fields if construction.message == scope.messages.envelope else ()
            ):
                if f"{scope.messages.envelope}.{arm}" not in scope.not_arms:
                    yield EnvelopeUse(arm, SENDS, construction.within, construction.place)
        names = ProtoNames(modules, file, scope.protobuf)
        dispatch = Dispatch(modules, file, names, scope.messages.envelope, faults, loops=True)
        for node in syntax.walk(file.root):
            owner = syntax.class_name(node) if node.type in CLASSES else ""
            for name, method in class_methods(node).items() if owner else ():
                for case in dispatch.branches(method):
                    yield EnvelopeUse(case.arm, RECEIVES, f"{owner}.{name}", file.place(case.node))
