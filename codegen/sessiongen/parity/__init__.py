"""Compares a protocol with what each SDK has.

The result is a matrix for people, and a diagnostic for each difference that is not declared.

A difference of one SDK has an id, which the SDK's gap file declares:

- `session`, `host`, `driver`: no class has this role
- `enum E`: the SDK has no enum for a proto enum; `value E.V`: it lacks one value;
  `literal E.l`: it has a value that the protocol lacks and cannot send (`literal E.*`:
  it allows any string, and the proto enum declares no unknown value); `map TABLE.l`: a
  table of its code lacks a literal or maps it to another value; `default E: FUNCTION`:
  that function sends this default for a literal that its table lacks
- `unused ENUM.LITERAL`: no code of the SDK uses a value of its enum, so it is never sent
- `event ARM: host`, `event ARM: driver`: it is not sent, or received, or the protocol lacks
  the arm; `sdk event E`: the SDK's session has an event that no arm carries; `event field
  ARM.f: host`: a field beside the arm is not taken from the SDK's event; `event field f:
  driver`: it is not passed on
- `request ARM: host`, `request ARM: driver`: it is not answered, or cannot be sent, or the
  protocol lacks the arm; `request *: host`: the host does not answer an unknown request;
  `request error ARM 'TEXT': host`: only this SDK answers with this text;
  `request field ARM.f: host`, `…: driver`: the field is not read, or never filled
- `constant NAME`: a value that the protocol fixes is another one in the SDK, or cannot be read;
  `request result ARM: host`: another SDK's host sends an error beside this result, or does not
- `condition M.ARM: FUNCTION`: that function passes an event, request or response on only under a
  condition; `condition M: FUNCTION` if it passes on all of them
- `variant M.ARM: FUNCTION`: that function fills an arm for another kind of value than its own
- `copy FUNCTION`: a function that copies fields by name leaves some out, or changes them
- `message arm ARM: sends`, `…: receives`: no code of the SDK does so with an arm of the envelope
- `message M`: nothing in the SDK constructs it, its class does not exist, or the protocol lacks it;
  `field M.f: FUNCTION`: that function constructs the message without the field;
  `fields M: FUNCTION`: which fields that function fills cannot be read;
  `source M.f: FUNCTION`: that function fills the field with a constant, from another field, in
  another unit, or only under a condition that does not concern the value;
  `field M.f`: nothing constructs the message yet and its class has no such field, or the protocol
  lacks the field; `part M.f: FUNCTION`: the text is only a part of its source; `absence
  M.f`: a value that is missing in the SDK would be received as a value; `sdk field C.f`: a
  field of the SDK's class has no place in the message; `key M.f.k`: a map key that another SDK sets;
  `form M.f.k`: the value of a map key is text of the language, and JSON in another SDK, or vice versa
- `arm M.a`: the SDK's union has no type for an arm (`arm M.f.a`: nor has a field's type);
  `arm M.a: FUNCTION`: that function ignores such values; `sdk type U.T`: a type of the
  SDK's union has no arm
- `proto value V`: a table of the SDK has a proto value that the protocol lacks
- `published E: minimum`, `…: newest`: the lowest version that the SDK allows of its protobuf
  package lacks an element, or the newest does; `published *`: the list of its messages is outdated

Elements of the protocol have their name in the protocol, messages without the package; other
elements have the SDK's spelling.
"""

from sessiongen.parity.compare import Parity, compare
from sessiongen.parity.declare import declare
from sessiongen.parity.prune import prune
from sessiongen.parity.report import render
from sessiongen.parity.run import run

__all__ = ["Parity", "compare", "declare", "prune", "render", "run"]
