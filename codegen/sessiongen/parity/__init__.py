"""Parity: a protocol beside what each SDK really has.

In: a Protocol, its annotations, the vocabularies of SDKs, and declared gaps. Out: a
matrix for people, and a diagnostic for each difference that is not a declared gap.

A difference is a *thing* of one SDK, named as in codegen.toml:

- `enum E`: the SDK has no twin of a proto enum; `value E.V`: it lacks one value;
  `word E.w`: it has a value that the protocol lacks, which is lost on the wire (`word E.*`:
  it allows any, and the proto enum has none that stands for the rest)
- `event ARM: host`, `event ARM: driver`: it is not sent, or received, or the protocol lacks
  the arm; `sdk event E`: the SDK's session has an event that no arm carries
- `request ARM: host`, `request ARM: driver`: it is not answered, or cannot be sent, or the
  protocol lacks the arm; `request field ARM.f: host`, `…: driver`: the field is not looked
  at, or never filled
- `message M`: nothing in the SDK makes it, its class is gone, or the protocol lacks it;
  `field M.f: FUNCTION`: that function makes the message and leaves the field out;
  `field M.f`: nothing makes the message yet and its class has no such field, or the protocol
  lacks the field; `sdk field C.f`: a field of the SDK's class has no place in the message

A proto element goes by its name in the protocol, a message without the package; what only
an SDK has goes by the SDK's spelling.
"""

from sessiongen.parity.compare import Parity, compare
from sessiongen.parity.tables import render

__all__ = ["Parity", "compare", "render"]
