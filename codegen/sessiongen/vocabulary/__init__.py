"""Vocabularies: the facts of published SDKs, each with its place in the package.

Importing this package loads no parser, so that a command that only compares starts fast. The
readers of packages are in the packages `python` and `typescript`.
"""

from sessiongen.vocabulary.model import (
    Answer,
    Build,
    Carry,
    Default,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    Keys,
    Kinds,
    Place,
    Reading,
    Reception,
    Record,
    Sending,
    Session,
    Skip,
    ValueMap,
    Vocabulary,
    Word,
)
from sessiongen.vocabulary.store import dump, load

__all__ = [
    "Answer",
    "Build",
    "Carry",
    "Default",
    "Driver",
    "EnumFact",
    "EventName",
    "FieldFact",
    "Forward",
    "Host",
    "Keys",
    "Kinds",
    "Place",
    "Reading",
    "Reception",
    "Record",
    "Sending",
    "Session",
    "Skip",
    "ValueMap",
    "Vocabulary",
    "Word",
    "dump",
    "load",
]
