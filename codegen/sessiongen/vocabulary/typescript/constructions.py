"""Finds where TypeScript code constructs protobuf messages, and which fields it fills.

Three forms are followed: `new pb.Message({...})` and other calls that construct a message from an
object, assignments to fields of a variable that holds a message, and `{case, value}` passed for a
parameter whose type is a oneof. The arm of such a oneof counts as the filled field.
"""

from __future__ import annotations

from collections.abc import Collection

from tree_sitter import Node

from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.object_values import ObjectReader, ObjectValue
from sessiongen.vocabulary.typescript.oneofs import (
    ArmHelper,
    arm_helpers,
    case_of,
    parameter_type,
    union_of,
    value_of,
)
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.proto_names import ProtoNames
from sessiongen.vocabulary.typescript.written_tables import loop_rows
from sessiongen.vocabulary.typescript.syntax import CLASSES, FUNCTIONS, class_methods, text

# Methods of a message class that construct a message from an object.
_FACTORIES = {"fromJson", "fromObject", "fromPartial"}
# Expressions that may be an object which is written elsewhere.
_INDIRECT = {"await_expression", "call_expression", "identifier", "ternary_expression"}
_CONSTRUCTING_NODES = {"call_expression", "new_expression"}


def constructions_of(
    modules: Modules, file: File, names: ProtoNames, message_fields: Collection[str]
) -> list[ConstructionBuilder]:
    """Returns the constructions of a file, in source order.

    message_fields: the fields of all messages, as `Message.field`.
    """
    if not names:
        return []
    walker = _Walker(modules, file, names, message_fields)
    walker.visit(file.root)
    return [
        construction
        for construction in walker.constructions
        if construction.fields or construction.open or construction.node.type in _CONSTRUCTING_NODES
    ]


class _Walker:
    def __init__(
        self, modules: Modules, file: File, names: ProtoNames, message_fields: Collection[str]
    ) -> None:
        self.file = file
        self._modules = modules
        self._message_fields = message_fields
        self._objects = ObjectReader(modules, file)
        self._by_node: dict[int, ConstructionBuilder] = {}
        self.names = names
        self.constructions: list[ConstructionBuilder] = []
        self._within: list[str] = []
        self._values: dict[str, ConstructionBuilder] = {}
        self._methods: dict[str, Node] = {}
        # Methods of all classes of the file: a mixin calls those of the class that uses it.
        self._all_methods = {
            name: method
            for node in syntax.walk(file.root)
            if node.type in CLASSES
            for name, method in class_methods(node).items()
        }
        self._arm_helpers = arm_helpers(names, self._all_methods)
        self._parameters: set[str] = set()

    def visit(self, node: Node) -> None:
        """Collects the constructions in a node."""
        if node.type in CLASSES:
            self._class(node)
        elif node.type in FUNCTIONS:
            self._function(node)
        else:
            if node.type == "new_expression":
                self._new(node)
            elif node.type == "call_expression":
                self._call(node)
            elif node.type == "assignment_expression":
                self._assignment(node)
            for item in node.named_children:
                self.visit(item)
            if node.type == "variable_declarator":
                self._variable(node)

    def _class(self, node: Node) -> None:
        outer, self._methods = self._methods, class_methods(node)
        self._within.append(syntax.class_name(node))
        for item in node.named_children:
            self.visit(item)
        self._within.pop()
        self._methods = outer

    def _function(self, node: Node) -> None:
        name = _function_name(node)
        outer, self._values = self._values, dict(self._values)
        enclosing, self._parameters = self._parameters, {
            text(item.child_by_field_name("pattern")) for item in syntax.parameters(node)
        }
        if name:
            self._within.append(name)
        for item in syntax.parameters(node):
            self._parameter(item)
        for item in node.named_children:
            self.visit(item)
        if name:
            self._within.pop()
        self._values, self._parameters = outer, enclosing

    def _parameter(self, node: Node) -> None:
        name = text(node.child_by_field_name("pattern"))
        self._values.pop(name, None)
        message = self.names.message(syntax.annotation(node))
        if message is not None:
            self._values[name] = self._add(message, node)

    def _variable(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        self._values.pop(text(name), None)
        inner = syntax.unwrapped(value) if value else None
        if inner is not None and inner.id in self._by_node:
            self._values[text(name)] = self._by_node[inner.id]

    def _assignment(self, node: Node) -> None:
        self._indexed_field(node.child_by_field_name("left"))
        owner = syntax.member(node.child_by_field_name("left"))
        value = node.child_by_field_name("right")
        path: list[str] = []
        while owner is not None:
            root = syntax.unwrapped(owner[0])
            path.insert(0, syntax.field_name(owner[1]))
            if root.type == "identifier" and text(root) in self._values:
                construction = self._values[text(root)]
                case = case_of(syntax.unwrapped(value)) if value else None
                if case is not None:
                    self._arm(case, construction)
                else:
                    construction.fill(path[0], value if len(path) == 1 else None)
                    self._nested_fields(".".join(path), value, construction)
            owner = syntax.member(root)

    def _indexed_field(self, target: Node | None) -> None:
        """Records the fields that `message[name] = ...` fills in a loop over their names."""
        owner, name = (
            target.child_by_field_name(field) if target is not None else None
            for field in ("object", "index")
        )
        construction = self._values.get(text(owner)) if name is not None else None
        if construction is None or name is None:
            return
        rows = [row.get(text(name), name) for _, row in loop_rows(self._modules, self.file, name)]
        fields = [syntax.constant(row) for row in rows]
        construction.open |= None in fields
        for field_name in fields:
            if field_name is not None:
                construction.fill(syntax.field_name(field_name), None)

    def _nested_fields(
        self, path: str, value: Node | None, construction: ConstructionBuilder
    ) -> None:
        """Records the fields of a message that is filled in place, as paths."""
        inner = syntax.unwrapped(value) if value else None
        if "." in path:
            construction.fill(path, value)
        for item in inner.named_children if inner and inner.type == "object" else ():
            key = item.child_by_field_name("key") if item.type == "pair" else item
            name = syntax.constant(key) or text(key)
            if item.type in {"pair", "shorthand_property_identifier"}:
                step = f"{path}.{syntax.field_name(name)}"
                self._nested_fields(step, item.child_by_field_name("value") or item, construction)

    def _new(self, node: Node) -> None:
        message = self.names.message(node.child_by_field_name("constructor"))
        if message is not None and node.id not in self._by_node:
            self._construct(message, node, syntax.arguments(node))

    def _construct(self, message: str, node: Node, arguments: list[Node]) -> None:
        construction = self._add(message, node)
        for argument in arguments[:1]:
            self._fields(argument, construction)

    def _fields(
        self, node: Node, construction: ConstructionBuilder, reader: ObjectReader | None = None
    ) -> None:
        """Records the fields in an object, and in the objects that are spread in it."""
        objects = (reader or self._objects).objects(node)
        construction.open |= objects is None
        for value in objects or ():
            for name in map(syntax.field_name, value.names):
                if f"{construction.message}.{name}" in self._message_fields:
                    construction.fill(name, None)
            filled, arms = len(construction.assigned), len(construction.arms)
            for item in value.node.named_children if value.node is not None else ():
                self._field(item, construction, value)
            if value.call is not None:
                for _, added in (*construction.assigned[filled:], *construction.arms[arms:]):
                    construction.origins.setdefault(added.id, value)

    def _field(self, item: Node, construction: ConstructionBuilder, owner: ObjectValue) -> None:
        if item.type == "shorthand_property_identifier":
            construction.fill(syntax.field_name(text(item)), item)
        elif item.type == "pair":
            self._pair(item, construction)
        elif item.type == "spread_element":
            reader = ObjectReader(self._modules, owner.file)
            self._fields(item.named_children[0], construction, reader)
        elif item.type != "comment":
            construction.open = True

    def _pair(self, node: Node, construction: ConstructionBuilder) -> None:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        name = syntax.constant(key) or text(key)
        if key is None or key.type == "computed_property_name":
            construction.open = True
        elif value is not None and (cases := self._cases(value)):
            for case in cases:
                self._arm(case, construction)
        else:
            construction.fill(syntax.field_name(name), value)
            self._nested_fields(syntax.field_name(name), value, construction)

    def _cases(self, value: Node) -> list[Node]:
        """Returns the `case` of each object that a value can be, none if it is no oneof."""
        inner = syntax.unwrapped(value)
        if inner.type == "object":
            case = case_of(inner)
            return [case] if case is not None else []
        if inner.type not in _INDIRECT:
            return []
        objects = self._objects.objects(inner) or []
        cases = [case_of(item.node) for item in objects if item.node is not None]
        return [case for case in cases if case is not None] if None not in cases else []

    def _arm(self, case: Node, construction: ConstructionBuilder) -> None:
        arm = syntax.constant(case)
        if syntax.unwrapped(case).type == "undefined":
            # No arm is filled.
            return
        if arm is None:
            construction.open = True
        else:
            construction.fields.add(syntax.field_name(arm))
            value = value_of(case)
            if value is not None:
                construction.arms.append((syntax.field_name(arm), value))
                self._payload(construction.message, arm, syntax.unwrapped(value))

    def _payload(self, owner: str, arm: str, value: Node) -> None:
        """Records the message of an arm that is written as an object."""
        name = arm[:1].upper() + arm[1:]
        for message in (f"{owner}.{name}", name):
            known = any(item.startswith(f"{message}.") for item in self._message_fields)
            if known and value.type == "object" and value.id not in self._by_node:
                self._construct(message, value, [value])
                return

    def _call(self, node: Node) -> None:
        """Records the arm in `this.method({case, value})`, and the message of `create(Schema)`."""
        arguments = syntax.arguments(node)
        function = node.child_by_field_name("function")
        factory = syntax.member(function)
        if text(function) == "create" and arguments:
            message = self.names.schema(arguments[0])
            if message is not None:
                self._construct(message, node, arguments[1:])
        elif factory is not None and factory[1] in _FACTORIES:
            message = self.names.message(factory[0])
            if message is not None:
                self._construct(message, node, arguments)
        elif text(function) == "Object.assign" and arguments:
            self._assigned_objects(arguments[0], arguments[1:])
        name = syntax.this_property(function)
        method = self._methods.get(name) or self._all_methods.get(name)
        for index, argument in enumerate(syntax.arguments(node) if method else ()):
            assert method is not None
            union = union_of(self.names, parameter_type(method, index))
            if union is not None and text(argument) not in self._parameters:
                self._union_argument(argument, union[0])
        if method is not None and method.id in self._arm_helpers:
            self._helped(node, method, self._arm_helpers[method.id])

    def _union_argument(self, argument: Node, message: str) -> None:
        """Records the arms of the objects that are passed for a oneof."""
        objects = self._objects.objects(argument) or []
        cases = [case_of(item.node) for item in objects if item.node is not None]
        functions = syntax.enclosing(argument, *FUNCTIONS)[:1]
        if any(case is not None for case in cases) and any(
            function.id in self._arm_helpers for function in functions
        ):
            return
        construction = self._add(message, argument)
        construction.open = not cases or None in cases
        for case in cases:
            if case is not None:
                self._arm(case, construction)

    def _helped(self, call: Node, method: Node, helper: ArmHelper) -> None:
        """Records the arm of a call of a method that takes the name of an arm and its value."""
        given = dict(zip(syntax.parameter_names(method), syntax.arguments(call)))
        if helper.arm in given:
            construction = self._add(helper.message, given[helper.arm])
            name = syntax.constant(given[helper.arm])
            construction.open = name is None
            if name is not None:
                construction.fields.add(syntax.field_name(name))
                if helper.value in given:
                    construction.arms.append((syntax.field_name(name), given[helper.value]))

    def _assigned_objects(self, target: Node, objects: list[Node]) -> None:
        """Records the fields that `Object.assign` adds to a message."""
        construction = self._values.get(text(target))
        message = self.names.message(target.child_by_field_name("constructor"))
        if target.type == "new_expression" and message is not None:
            construction = self._add(message, target)
            objects = [*syntax.arguments(target), *objects]
        if construction is not None:
            for item in objects:
                self._fields(item, construction)

    def _add(self, message: str, node: Node) -> ConstructionBuilder:
        construction = ConstructionBuilder(
            message, ".".join(filter(None, self._within)), self.file.place(node), node
        )
        self.constructions.append(construction)
        self._by_node[node.id] = construction
        return construction


def within(node: Node) -> str:
    """Returns the dotted name of the class and functions around a node."""
    names = [
        syntax.class_name(outer) if outer.type in CLASSES else _function_name(outer)
        for outer in syntax.enclosing(node, *CLASSES, *FUNCTIONS)
    ]
    return ".".join(name for name in reversed(names) if name)


def _function_name(node: Node) -> str:
    name = node.child_by_field_name("name")
    parent = node.parent
    if (
        name is None
        and parent
        and parent.type in {"public_field_definition", "variable_declarator", "pair"}
    ):
        name = parent.child_by_field_name("name") or parent.child_by_field_name("key")
    return text(name)
