"""Tests of what the fields of messages are filled from, in both languages."""

from __future__ import annotations

import pytest
from small_python_sdk import host
from small_sdks import python_sdk, typescript_sdk
from small_typescript_sdk import HOST, changed

from sessiongen.vocabulary.model import FieldSource, Vocabulary


def source(vocabulary: Vocabulary, field: str) -> tuple[str, str, float, str] | None:
    """Returns the path, constant, factor and condition of the only source of a field."""
    items: list[FieldSource] = [item for item in vocabulary.sources if item.field == field]
    assert len(items) <= 1
    return items[0][4:8] if items else None


def python_source(value: str, before: str = "") -> tuple[str, str, float, str] | None:
    """Returns the source of a field that the small Python SDK fills with this value."""
    line = "        self._send(pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new)))"
    code = line.replace("new=ev.new", f"new={value}")
    if before:
        code = f"        {before}\n{code}"
    return source(python_sdk(host(line, code)).vocabulary, "new")


def test_an_and_of_two_fields_is_the_first_one_changed() -> None:
    line = "        self._send(pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new)))"
    code = line.replace("new=ev.new", "new=ev.final and ev.new")
    sources = python_sdk(host(line, code)).vocabulary.sources
    [item] = [item for item in sources if item.field == "new"]
    assert (item.path, item.change) == ("final", "ev.final and ev.new")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ev.new", ("new", "", 1.0, "")),
        ("ev.new.inner", ("new.inner", "", 1.0, "")),
        ("self.session.state", ("session.state", "", 1.0, "")),
        ("STATES[ev.new]", ("new", "", 1.0, "")),
        ("ev.parts[0]", ("parts", "", 1.0, "")),
        ("STATES.get(ev.new, pb.S_IDLE)", ("new", "", 1.0, "")),
        ("encode(ev.new)", ("new", "", 1.0, "")),
        ("ev.new.render(mode='a')", ("new", "", 1.0, "")),
        ("str(ev.new) or 'x'", ("new", "", 1.0, "")),
        ("ev.new / 1000", ("new", "", 1e-3, "")),
        ("encode(int(ev.new * 1e3))", ("new", "", 1e3, "")),
        ("ms_to_seconds(ev.delay_ms)", ("delay_ms", "", 1e-3, "")),
        ("True", ("", "True", 1.0, "")),
        ("'idle'", ("", "'idle'", 1.0, "")),
        ("None", None),
        ("ev.new if ev.new is not None else None", ("new", "", 1.0, "")),
        ("ev.error.text if ev.error else 'unknown'", ("error.text", "", 1.0, "")),
        ("ev.new if ev.final else None", ("new", "", 1.0, "ev.final")),
        ("ev.new if ev.new_state else None", ("new", "", 1.0, "ev.new_state")),
        ("await self.read(ev.new)", ("new", "", 1.0, "")),
        ("f'{ev.new}'", ("new", "", 1.0, "")),
        ("getattr(ev, 'new', None)", ("new", "", 1.0, "")),
        ("ev.data.get('new')", ("data.new", "", 1.0, "")),
        ("ev.data['new']", ("data.new", "", 1.0, "")),
        ("[encode(item) for item in ev.items]", ("items", "", 1.0, "")),
        ("(text if (text := ev.old) else '')", ("old", "", 1.0, "")),
        ("ev.new and ev.new.text", ("new.text", "", 1.0, "")),
        ("join(ev.new, ev.old)", None),
    ],
)
def test_python(value: str, expected: tuple[str, str, float, str] | None) -> None:
    assert python_source(value) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("x = ev.old", ("old", "", 1.0, "")),
        ("x = Timestamp(); x.FromNanoseconds(int(ev.at * 1e9))", ("at", "", 1.0, "")),
        ("x = Timestamp(); x.FromMilliseconds(ev.at)", ("at", "", 1e-3, "")),
        ("x = ev.old; x = ev.new", None),
        ("x = None\n        if ev.old: x = ev.new", ("new", "", 1.0, "ev.old")),
        ("x = None\n        if ev.new: x = ev.new", ("new", "", 1.0, "")),
        (
            "x = ''\n        if not ev.old: pass\n        else: x = ev.new",
            ("new", "", 1.0, "ev.old"),
        ),
        (
            "x = ''\n        match ev.old:\n            case 1: x = ev.new",
            ("new", "", 1.0, "ev.old is 1"),
        ),
        ("x, y = ev.old, ev.new", ("old", "", 1.0, "")),
        ("x = x", None),
    ],
)
def test_variables_in_python(before: str, expected: tuple[str, str, float, str] | None) -> None:
    assert python_source("x", before) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ev.new", ("new", "", 1.0, "")),
        ("ev.new?.inner!", ("new.inner", "", 1.0, "")),
        ("STATES[ev.new]", ("new", "", 1.0, "")),
        ("STATES.get(ev.new)", ("new", "", 1.0, "")),
        ("encode(ev.new) ?? ''", ("new", "", 1.0, "")),
        ("(ev.delayMs ?? 0) / 1000", ("delayMs", "", 1e-3, "")),
        ("msToDuration(ev.delayMs)", ("delayMs", "", 1e-3, "")),
        ("msToDuration(ev.delayMs / 1000)", ("delayMs", "", 1e-6, "")),
        ("msToTimestamp(ev.at * 1_000)", ("at", "", 1.0, "")),
        ("true", ("", "true", 1.0, "")),
        ("undefined", None),
        ("ev.new ? ev.new : undefined", ("new", "", 1.0, "")),
        ("ev.isFinal ? ev.new : undefined", ("new", "", 1.0, "ev.isFinal")),
        ("await this.read(ev.new)", ("new", "", 1.0, "")),
        ("`${ev.new}`", ("new", "", 1.0, "")),
        ("ev.data['new']", ("data.new", "", 1.0, "")),
        ("ev.items.map((item) => encode(item))", ("items", "", 1.0, "")),
        ("ev.isFinal && ev.new", ("new", "", 1.0, "ev.isFinal")),
    ],
)
def test_typescript(value: str, expected: tuple[str, str, float, str] | None) -> None:
    sdk = typescript_sdk(changed(HOST, "{ newState: ev.new }", f"{{ newState: {value} }}"))
    assert source(sdk.vocabulary, "new_state") == expected


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ("ev.new", ""),
        ("ev.new.strip()", ""),
        ("ev.new[:10]", "[:10]"),
        ("ev.parts[0]", "[0]"),
        ("not ev.new", "not ev.new"),
        ("1 - ev.new", "1 - ev.new"),
        ("ev.new + ev.old", "ev.new + ev.old"),
        ("ev.new.upper()", ".upper()"),
        ("len(ev.new)", "len(...)"),
        ("f'{ev.old}: {ev.new}'", "f'{ev.old}: {ev.new}'"),
        ("[x for x in ev.items if x.ok > 1]", "if x.ok > 1"),
        ("[x for x in ev.items if isinstance(x, str)]", ""),
    ],
)
def test_changes_in_python(value: str, change: str) -> None:
    line = "        self._send(pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new)))"
    vocabulary = python_sdk(host(line, line.replace("new=ev.new", f"new={value}"))).vocabulary
    assert [item.change for item in vocabulary.sources if item.field == "new"] == [change]


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ("ev.new", ""),
        ("ev.new.trim()", ""),
        ("ev.new.slice(0, 10)", ".slice(0, 10)"),
        ("ev.parts[0]", "[0]"),
        ("!ev.new", "!ev.new"),
        ("1 - ev.new", "1 - ev.new"),
        ("`${ev.old}: ${ev.new}`", "`${ev.old}: ${ev.new}`"),
        (
            "ev.items.filter((item) => item.ok && item.new)",
            ".filter((item) => item.ok && item.new)",
        ),
        ("ev.items.filter((item) => item != null)", ""),
        ("ev.items.filter((item): item is Text => item.type !== 'audio')", ""),
    ],
)
def test_changes_in_typescript(value: str, change: str) -> None:
    sdk = typescript_sdk(changed(HOST, "{ newState: ev.new }", f"{{ newState: {value} }}"))
    sources = [item for item in sdk.vocabulary.sources if item.field == "new_state"]
    assert [item.change for item in sources] == [change]
