"""The arms of the outermost message that any code of a Python SDK sends or takes.

In: the modules of a package. Out: Carries. It is the whole package that counts here: a
console sends and takes audio beside the host.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import SENDS, TAKES, Carry
from sessiongen.vocabulary.python.constructions import Made
from sessiongen.vocabulary.python.dispatch import Union, branches
from sessiongen.vocabulary.python.modules import Module, Modules
from sessiongen.vocabulary.scope import Scope


def carries_of(
    modules: Modules, scope: Scope, builds: Callable[[Module], list[Made]], faults: Faults
) -> Iterator[Carry]:
    """Yield each arm that is sent or taken, with every place that does so."""
    for module in modules.mentioning(scope.messages.envelope):
        for made in builds(module):
            for arm in made.fields if made.message == scope.messages.envelope else ():
                yield Carry(arm, SENDS, made.within, made.place)
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                for case in branches(
                    modules, module, node, Union(scope.messages.envelope, ""), faults
                ):
                    name = getattr(case.function, "name", "")
                    yield Carry(case.arm, TAKES, f"{node.name}.{name}", module.place(case.node))
