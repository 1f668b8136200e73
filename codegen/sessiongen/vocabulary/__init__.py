"""Vocabularies: the facts of published SDKs, each with its place in the package.

Importing this package loads no parser, so that a command that only compares starts fast. The
readers of packages are in the packages `python` and `typescript`.
"""

from sessiongen.vocabulary.model import (
    Answer,
    Construction,
    Conversion,
    EnvelopeUse,
    Default,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    Reading,
    Reception,
    Record,
    Sending,
    Session,
    IgnoredVariant,
    ValueMap,
    Vocabulary,
    LiteralValue,
)
from sessiongen.vocabulary.store import dump, load

__all__ = [
    "Answer",
    "Construction",
    "Conversion",
    "EnvelopeUse",
    "Default",
    "Driver",
    "EnumFact",
    "EventName",
    "FieldFact",
    "Forward",
    "Host",
    "MapKeys",
    "UnionFact",
    "Place",
    "Reading",
    "Reception",
    "Record",
    "Sending",
    "Session",
    "IgnoredVariant",
    "ValueMap",
    "Vocabulary",
    "LiteralValue",
    "dump",
    "load",
]
