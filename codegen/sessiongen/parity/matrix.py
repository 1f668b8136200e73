"""The matrix: sections of rows with a cell for each SDK, as immutable values."""

from __future__ import annotations

import re
from typing import NamedTuple

from sessiongen.diagnostics import Rule, Span
from sessiongen.vocabulary.model import Place

# Marks for a cell with no name in the SDK; `report.LEGEND` explains them.
MISSING = "-"
NOT_COMPARED = "n/a"
# What the SDK's code does here cannot be read.
UNVERIFIED = "unverified"
# The label of a row that has no element of the protocol.
SDK_ONLY = "(SDK only)"
ANYTHING = "(anything else)"
# Positions in the SDK's source, which change with each of its versions; a name may be before them.
_POSITION = re.compile(r"; its enum is at (\S+):(\d+)| \((?:[^\s(),]+, )?([^\s(),]+):(\d+)\)")
# The words of an id before the name of the element.
_KIND = re.compile(
    r"(?:sdk|proto) \w+|event field(?= )|request (?:field|error)(?= )|message arm(?= )|\w+"
)

# The SDK, the id and the state of a difference. Two differences of one id may differ in state.
Key = tuple[str, str, str]


def without_positions(message: str) -> str:
    """Returns a message without positions in the SDK's source."""
    return _POSITION.sub("", message)


def kind_of(difference_id: str) -> str:
    """Returns the kind of difference, with which an id begins, such as `sdk event`."""
    match = _KIND.match(difference_id)
    return match.group() if match else difference_id


class Finding(NamedTuple):
    """A difference between the protocol and one SDK. id: its name in the SDK's gap file."""

    sdk: str
    id: str
    message: str
    rule: Rule
    span: Span

    @property
    def state(self) -> str:
        """What is there now: the message without the SDK's name and positions in its source."""
        message = self.message.removeprefix(self.sdk).removeprefix(":").strip()
        return without_positions(message)

    @property
    def kind(self) -> str:
        """The kind of difference, with which the id begins, such as `sdk event`."""
        return kind_of(self.id)

    @property
    def place(self) -> Place | None:
        """The line of the SDK's source that the message names, if it names one."""
        match = _POSITION.search(self.message)
        if match is None:
            return None
        file, line = match.group(1, 2) if match.group(1) else match.group(3, 4)
        return Place(file, int(line))

    @property
    def key(self) -> Key:
        """What a declared gap must equal to cover this difference."""
        return self.sdk, self.id, self.state


# Stands for any text in the pattern of `Compared`.
ANY = "\0"


class Compared(NamedTuple):
    """Differences that an SDK could have and does not have: its code was read and is equal.

    pattern: an id, or the beginning and the end of ids with `ANY` between them.
    """

    sdk: str
    pattern: str

    def covers(self, sdk: str, difference_id: str) -> bool:
        """Whether a difference of this id was looked for and does not exist."""
        head, star, tail = self.pattern.partition(ANY)
        if sdk != self.sdk or kind_of(difference_id) != kind_of(self.pattern):
            return False
        if not star:
            return difference_id == self.pattern
        return difference_id.startswith(head) and difference_id.endswith(tail)


class Cell(NamedTuple):
    """What one SDK has, and its differences from the protocol.

    compared: the differences that were looked for and do not exist.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    compared: tuple[Compared, ...] = ()


class Row(NamedTuple):
    """An element of the protocol, or of only one SDK, with a cell for each column."""

    label: str
    cells: tuple[Cell, ...]


class Section(NamedTuple):
    """Rows of one kind under a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def findings(self) -> list[Finding]:
        """Returns the differences in all cells."""
        return [item for row in self.rows for cell in row.cells for item in cell.findings]

    def compared(self) -> list[Compared]:
        """Returns what was compared and found equal in all cells."""
        return [item for row in self.rows for cell in row.cells for item in cell.compared]
