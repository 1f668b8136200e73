"""Vocabularies: what the published SDKs call things, as facts with a place each.

In: an SDK's package, or a vocabulary file. Out: a Vocabulary. Importing this package
loads no parser, so that a run which only compares stays fast; reading a package is in
`verbs`.
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
from sessiongen.vocabulary.scope import PYTHON, SCOPES, TYPESCRIPT, Scope
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
    "PYTHON",
    "Place",
    "Reading",
    "Reception",
    "Record",
    "SCOPES",
    "Scope",
    "Sending",
    "Session",
    "Skip",
    "TYPESCRIPT",
    "ValueMap",
    "Vocabulary",
    "Word",
    "dump",
    "load",
]
