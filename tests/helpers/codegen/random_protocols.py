"""Random protocols: any names, deep folders, every kind of field, and well-known types.

A protocol depends on its seed alone. `check` generates Python from it, and compares what the
package does with the descriptors.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import generated_packages
import package_walk
from generated_packages import Package

from sessiongen.diagnostics import InputError, Rule

# Words of Python, of protobuf and of generated code, and names of builtins.
WORDS = """
and as async await class def del from global import in is lambda None nonlocal not or pass raise
return try type while with yield match case self cls True int str bytes float bool list dict set
object print id open len range name value values key keys items message request response event
envelope client events requests dispatch encoders errors enums handler handlers timeout arm source
to send emit answer build pb Any Mapping Literal TypedDict Final field fields has_field descriptor
error result session created_at datetime time asyncio typing
""".split()
SYLLABLES = "ka lo mi tu ra ne so vi pe du fa gi hu jo wy zen tor mal".split()
SCALARS = """
double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string
bytes
""".split()
KEYS = [item for item in SCALARS if item not in ("double", "float", "bytes")]
WELL_KNOWN = {
    f"google.protobuf.{name}": f"google/protobuf/{file}.proto"
    for name, file in {
        "Timestamp": "timestamp",
        "Duration": "duration",
        "Struct": "struct",
        "Value": "struct",
        "ListValue": "struct",
        "Any": "any",
        "Empty": "empty",
        "FieldMask": "field_mask",
        "StringValue": "wrappers",
        "Int64Value": "wrappers",
        "BoolValue": "wrappers",
    }.items()
}
# Faults that a random protocol may have: two names that become one, or a name of protobuf's.
REFUSALS = (Rule.NAME_CLASH, Rule.PROTO)


@dataclass(frozen=True)
class Protocol:
    """Texts of .proto files by import name; the last one has the roles."""

    files: dict[str, str]
    error: bool


class _Names:
    """Names that are unique in a scope, whatever their case and underscores."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.taken: set[str] = set()

    def new(self, upper: bool = False) -> str:
        while True:
            name = self._name()
            if upper:
                name = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
            key = name.replace("_", "").lower()
            if key not in self.taken:
                self.taken.add(key)
                return name

    def _name(self) -> str:
        kind = self.rng.random()
        if kind < 0.3:
            return self.rng.choice(WORDS)
        count = self.rng.randint(1, 3) if kind < 0.9 else self.rng.randint(20, 45)
        return "_".join(
            "".join(self.rng.choices(SYLLABLES, k=self.rng.randint(1, 3))) for _ in range(count)
        )


class _Builder:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.types = _Names(self.rng)
        # The messages and enums that fields can have, by full name, with their files.
        self.messages = dict(WELL_KNOWN)
        self.enums: dict[str, str] = {}

    def protocol(self) -> Protocol:
        files: dict[str, str] = {}
        for index in range(self.rng.randint(0, 2)):
            folders = [f"f{index}{item}" for item in range(self.rng.randint(0, 5))]
            name = "/".join([*folders, f"{self.types.new()[:100]}_{self.seed}.proto"])
            files[name] = self.file(name, f"random{self.seed}.part{index}", roles=False)
        error = self.rng.random() < 0.6
        name = f"{self.types.new()[:100]}_{self.seed}.proto"
        files[name] = self.file(name, f"random{self.seed}", roles=True, error=error)
        return Protocol(files, error)

    def file(self, name: str, package: str, roles: bool, error: bool = False) -> str:
        used: set[str] = set()
        body = []
        for _ in range(self.rng.randint(1, 4)):
            body.append(self.declaration(name, package, used))
        if roles:
            body += self.roles(used, error)
        imports = [f'import "{item}";' for item in sorted(used - {name})]
        return "\n".join(['syntax = "proto3";', f"package {package};", *imports, *body]) + "\n"

    def declaration(self, file: str, package: str, used: set[str]) -> str:
        name = self.types.new(upper=True)
        if self.rng.random() < 0.25:
            self.enums[f"{package}.{name}"] = file
            values = [f"V{self.seed}_{name}_{index} = {index};" for index in range(3)]
            return f"enum {name} {{ {' '.join(values)} }}"
        fields = self.fields(used, self.rng.randint(0, 6), first=1)
        self.messages[f"{package}.{name}"] = file
        return f"message {name} {{ {' '.join(fields)} }}"

    def fields(self, used: set[str], count: int, first: int) -> list[str]:
        names = _Names(self.rng)
        lines = []
        number = first
        for _ in range(count):
            kind = self.rng.random()
            if kind < 0.15:
                key = self.rng.choice(KEYS)
                lines.append(f"map<{key}, {self.type(used)}> {names.new()} = {number};")
            elif kind < 0.3:
                arms = []
                for _ in range(self.rng.randint(1, 3)):
                    arms.append(f"{self.type(used)} {names.new()} = {number};")
                    number += 1
                lines.append(f"oneof {names.new()} {{ {' '.join(arms)} }}")
            else:
                label = self.rng.choice(["", "", "repeated ", "optional "])
                lines.append(f"{label}{self.type(used)} {names.new()} = {number};")
            number += 1
        return lines

    def type(self, used: set[str]) -> str:
        kind = self.rng.random()
        if kind < 0.5 or (kind < 0.65 and not self.enums):
            return self.rng.choice(SCALARS)
        names = self.enums if kind < 0.65 else self.messages
        name = self.rng.choice(sorted(names))
        used.add(names[name])
        return name if name in WELL_KNOWN else f".{name}"

    def roles(self, used: set[str], error: bool) -> Iterator[str]:
        names = _Names(self.rng)
        # The names of the fields beside the arms.
        names.taken |= {"requestid", "error", "response", "request", "event", "message"}
        arms = [names.new() for _ in range(self.rng.randint(1, 6))]
        events = [names.new() for _ in range(self.rng.randint(1, 6))]
        text = "string error = 2; " if error else ""
        yield f"message Event {{ oneof event {{ {self.arms(events, used)} }} }}"
        yield f"message Request {{ string request_id = 1; oneof request {{ {self.arms(arms, used)} }} }}"
        yield (
            f"message Response {{ string request_id = 1; {text}"
            f"oneof response {{ {self.arms(arms, used)} }} }}"
        )
        yield (
            "message Envelope { oneof message "
            "{ Event event = 1; Request request = 2; Response response = 3; } }"
        )

    def arms(self, names: list[str], used: set[str]) -> str:
        return " ".join(
            f"{self.type(used)} {name} = {number};" for number, name in enumerate(names, 10)
        )


def protocol(seed: int) -> Protocol:
    """Returns the protocol of a seed."""
    return _Builder(seed).protocol()


def write(protocol_: Protocol, folder: Path) -> str:
    """Writes the files of a protocol; returns the [input] table for them."""
    for name, text in protocol_.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return generated_packages.protos([folder / [*protocol_.files][-1]], [folder])


def check(seed: int, folder: Path) -> bool:
    """Generates the protocol of a seed, and uses the package; False if it is refused.

    Raises:
        AssertionError: the package does not do what the descriptors say.
    """
    protocol_ = protocol(seed)
    source = write(protocol_, folder / "proto")
    roles = "[roles]\ncorrelation = 'request_id'\n"
    roles += "error = 'error'\n" if protocol_.error else "error = false\n"
    config = generated_packages.configured(
        folder, f"random_{seed}", source, folder / "out", f"{roles}timestamp = false\n"
    )
    try:
        package: Package = generated_packages.generate(config)
    except InputError as refused:
        unexpected = [item for item in refused.diagnostics if item.rule not in REFUSALS]
        assert not unexpected, unexpected
        return False
    facts = package_walk.Facts(error="error" if protocol_.error else None)
    package_walk.check_dispatch(package)
    package_walk.check_requests(package, facts)
    package_walk.check_events(package, facts)
    return True
