"""The arms of the outermost message that any code of a TypeScript SDK sends or takes.

In: the files of a package. Out: Carries. It is the whole package that counts here: a
console sends and takes audio beside the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import SENDS, TAKES, Carry
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.constructions import Made, class_methods, protobuf_names
from sessiongen.vocabulary.typescript.dispatch import Dispatch
from sessiongen.vocabulary.typescript.modules import File, Modules
from sessiongen.vocabulary.typescript.syntax import CLASSES, text


def carries_of(
    modules: Modules, scope: Scope, builds: Callable[[File], list[Made]], faults: Faults
) -> Iterator[Carry]:
    """Yield each arm that is sent or taken, with every place that does so."""
    for file in modules.mentioning(scope.messages.envelope):
        for made in builds(file):
            for arm in made.fields if made.message == scope.messages.envelope else ():
                if f"{scope.messages.envelope}.{arm}" not in scope.plain:
                    yield Carry(arm, SENDS, made.within, made.place)
        names = protobuf_names(file, scope.protobuf)
        dispatch = Dispatch(modules, file, names, scope.messages.envelope, faults, loops=True)
        for node in syntax.walk(file.root):
            owner = text(node.child_by_field_name("name")) if node.type in CLASSES else ""
            for name, method in class_methods(node).items() if owner else ():
                for case in dispatch.branches(method):
                    yield Carry(case.arm, TAKES, f"{owner}.{name}", file.place(case.node))
