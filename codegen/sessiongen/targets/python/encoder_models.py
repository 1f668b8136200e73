"""The models that the template of encoders.py renders."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderModel:
    """A message's encoder: the lines that open its two functions, and its statements.

    copied: whether the source may be a message itself, whose unset fields stay unset.
    always_set: whether a field is always written, which marks the message as present.
    by_name: every field is optional, so each value is read by its key.
    by_attribute: the source is read by attributes; a mapping may lack those in `optional`, a tuple.
    """

    name: str
    message: str
    encode: str
    fill: str
    copied: bool
    always_set: bool
    by_name: bool
    by_attribute: bool
    optional: str
    statements: list[str]


@dataclass(frozen=True)
class EventArm:
    """An event arm and the function, or the statement, that fills it."""

    arm: str
    filler: str


@dataclass(frozen=True)
class EncodersModel:
    """encoders.py.

    type_layers: the layers that only annotations refer to.
    newer: the constant, message and name of each field that older messages lack.
    event: "" if the protocol has no events.
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    enums: str
    fields: str
    values: str
    overrides: bool
    type_layers: list[str]
    encoders: list[EncoderModel]
    newer: list[tuple[str, str, str]]
    event: str
    event_name: str
    event_docs: str
    encode_event: str
    fill_event: str
    arm_type: str
    common: list[str]
    without_time: list[str]
    payloads: list[EventArm]
    scalars: list[EventArm]
