"""Tests of the conditions under which Python code passes messages on."""

from __future__ import annotations

import ast

import pytest
from edited_sdks import sources, vocabulary_of
from sessiongen.vocabulary.behaviours import ALWAYS

from sessiongen.vocabulary.python.control_flow import conditions, paths_without


def found(code: str, raising: bool = True) -> list[str]:
    """Returns the conditions under which the calls of `send` in some code are reached."""
    tree = ast.parse(code)
    calls = {
        id(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "send"
    }
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    return conditions(paths_without(function.body, calls, raising))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("send(x)", []),
        ("if a:\n  return\n send(x)", ["not (a)"]),
        ("if not a:\n  return\n send(x)", ["a"]),
        ("if a:\n  send(x)", ["a"]),
        ("if a:\n  send(x)\n else:\n  send(y)", []),
        ("if a:\n  x = 1\n elif b:\n  x = 2\n else:\n  return\n send(x)", ["a or b"]),
        ("if a:\n  if b:\n   return\n send(x)", ["not (a) or not (b)"]),
        ("if a:\n  return\n if b:\n  return\n send(x)", ["not (a)", "not (b)"]),
        ("a and send(x)", ["a"]),
        ("a or send(x)", ["not (a)"]),
        ("send(x) if a else None", ["a"]),
        ("for x in y:\n  if x.a:\n   continue\n  send(x)", ["not (x.a)"]),
        ("for x in y:\n  if x.a:\n   continue\n  note(x)\n send(y)", []),
        ("for x in y:\n  if x.a:\n   return\n send(y)", ["not (x.a)"]),
        ("try:\n  send(x)\n except ValueError:\n  return", []),
        ("with a:\n  if b:\n   return\n  send(x)", ["not (b)"]),
        ("match a:\n  case 1:\n   send(x)\n  case _:\n   pass", ["a == 1"]),
        ("match a:\n  case 1:\n   return\n send(x)", ["not (a == 1)"]),
        (
            "match a:\n  case A(b=b):\n   send(b)\n  case C() | D():\n   send(a)",
            ["isinstance(a, A) or isinstance(a, C | D)"],
        ),
        ("match a:\n  case A() if a.b:\n   send(a)\n  case _:\n   send(b)", []),
        ("if not isinstance(a, (A, B)):\n  return\n send(a)", ["isinstance(a, A | B)"]),
        ("def later():\n  if a:\n   return\n  send(x)\n later()", ["not (a)"]),
        ("return\n send(x)", ["False"]),
    ],
)
def test_conditions_of_a_call(body: str, expected: list[str]) -> None:
    assert found(f"def f():\n {body}\n") == expected


def test_an_exception_that_the_caller_sees_is_no_condition() -> None:
    code = "def f():\n if a:\n  raise ValueError\n send(x)\n"
    assert (found(code), found(code, raising=False)) == (["not (a)"], [])


def test_each_event_request_and_response_has_a_condition() -> None:
    facts = vocabulary_of("python", sources("python")).behaviours
    conditions_ = [item for item in facts if item.kind == "condition"]
    assert {item.value for item in conditions_} == {ALWAYS}
    assert [
        sum(it.subject.startswith(name) for it in conditions_)
        for name in ("RobotDialogEvent.", "DialogRequest.", "DialogResponse.")
    ] == [7, 5, 5]


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("if self._link is None: return", {"not (self._link is None)"}),
        (
            "if event.WhichOneof('event') == 'pause_forecast': return",
            {"not (event.WhichOneof('event') == 'pause_forecast')"},
        ),
        ("if made_at < 0: return", {"not (made_at < 0)"}),
    ],
)
def test_a_condition_in_a_shared_function_is_stated_once(guard: str, expected: set[str]) -> None:
    path = "parlor/robots/voice/dialog_driver.py"
    text = sources("python")[path]
    before = "        event.made_at.CopyFrom(pack_timestamp(made_at))\n"
    assert before in text
    edited = {**sources("python"), path: text.replace(before, f"        {guard}\n{before}")}
    facts = vocabulary_of("python", edited).behaviours
    values = {item.value for item in facts if item.kind == "condition"}
    assert values - {ALWAYS} == expected
