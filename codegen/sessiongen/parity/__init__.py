"""Parity: a protocol beside what each SDK really has.

In: a Protocol, its annotations, the vocabularies of SDKs, and declared gaps. Out: a
matrix for people, and a diagnostic for each difference that is not a declared gap.

A difference of one SDK has an id, which the SDK's gap file declares:

- `session`, `host`, `driver`: no class plays this role
- `enum E`: the SDK has no twin of a proto enum; `value E.V`: it lacks one value;
  `word E.w`: it has a value that the protocol lacks, which is lost on the wire (`word E.*`:
  it allows any, and the proto enum has none that stands for the rest); `map TABLE.w`: a
  table of its code leaves a word out or gives it another value; `default TABLE: FUNCTION`:
  that function takes a value for a word that the table does not have
- `event ARM: host`, `event ARM: driver`: it is not sent, or received, or the protocol lacks
  the arm; `sdk event E`: the SDK's session has an event that no arm carries; `event field
  ARM.f: host`: a field beside the arm is not taken from the SDK's event; `event field f:
  driver`: it is not passed on
- `request ARM: host`, `request ARM: driver`: it is not answered, or cannot be sent, or the
  protocol lacks the arm; `request *: host`: one that is not known is left unanswered;
  `request error ARM 'TEXT': host`: this SDK alone answers so; `request field ARM.f: host`,
  `…: driver`: the field is not looked at, or never filled
- `message arm ARM: sends`, `…: takes`: nothing does so with an arm of the outermost message
- `message M`: nothing in the SDK makes it, its class is gone, or the protocol lacks it;
  `field M.f: FUNCTION`: that function makes the message and leaves the field out;
  `field M.f`: nothing makes the message yet and its class has no such field, or the protocol
  lacks the field; `part M.f: FUNCTION`: a text is made of one part of its source; `absence
  M.f`: what may be missing in the SDK would read as a value; `sdk field C.f`: a field of the
  SDK's class has no place in the message; `key M.f.k`: a key of a map that another SDK gives
- `arm M.a`: the SDK's union has no type for an arm (`arm M.f.a`: nor has a field's type);
  `arm M.a: FUNCTION`: that function passes over such values; `sdk kind U.T`: a type of the
  SDK's union has no arm
- `proto value V`: a table of the SDK gives a value that the protocol lacks

A proto element goes by its name in the protocol, a message without the package; what only
an SDK has goes by the SDK's spelling.
"""

from sessiongen.parity.compare import Parity, compare
from sessiongen.parity.report import render

__all__ = ["Parity", "compare", "render"]
