"""Tests that long lines of generated code are broken like black breaks them."""

from __future__ import annotations

import re
from textwrap import indent

import black
import pytest
from black.mode import TargetVersion
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiongen.targets.python.layout import LINE_LENGTH
from sessiongen.targets.python.line_breaks import broken

# Shapes of lines in generated code. A capital letter stands for a name of any length.
KNOWN = [
    "def A(self, B: C) -> D:\n    pass",
    "def A(B: C) -> D:\n    pass",
    "def A(self, *, B: C | D | None, E: F = None) -> G | H | None:\n    pass",
    "async def A(self, B: C[D], E: F | None = None) -> G[H]:\n    pass",
    "def A(\n    B: C[[D, E], None],\n    F: G[H] | None = None,\n    I: J | K | None,\n):\n    pass",
    "class A(B):\n    pass",
    "class A(B, C):\n    pass",
    "from .A import B",
    "from .A import B, C, D",
    "A: B | C | D",
    "A: B | None",
    "A: TypeAlias = B | C | D | None",
    "A: B = C[D, E]",
    "A: B = C[D]",
    "A: B[C[D, E]] = {\n    1: 2,\n}",
    "A = B(C=D, E=F(G, H))",
    "A = B(C=D if E is None else F(G))",
    "A = B if C else D",
    "A.B = C if D is None else E(F.G)",
    "A.B.extend(C(D) for E in F.G or () if H is not None)",
    "A.B.extend(C(D) for E in F.G)",
    "A = tuple(map(B, C.D))",
    'A("B.C", D, E, F, G)',
    'A = B(C, "D E F")',
    'raise A("B.C", D) from None',
    'A: B[C] = {\n    "D": E.F.G,\n    H.I.J: "K",\n    "L": "M",\n    "N": O,\n}',
    "A = B(\n    H,\n    C=D.E,\n    F=G,\n)",
    'if "A" in B and (C := D["E"]) is not None:\n    pass',
    "if A.B and C.D or E.F:\n    pass",
]
# Lines that are left to black if they are long.
OTHERS = [
    "if A and B(C):\n    pass",
    "A: B[C[D, E]] = F(\n    {\n        1: 2,\n    }\n)",
    "A: B[C] | D = None",
    "A = B(C, {D: E(F) for D, F in G.H()})",
    'A = B(C, {"D": E, "F": G if H else I, "J": K(L, M)})',
    "A = B(\n    C=[D(E) for E in F],\n    G=[H, I],\n)",
    "A = (B, C, D)",
    'A["B"] = C("D", E)',
    "if A(B.C, D):\n    pass",
    "if A:\n    return B(C.D)",
    "if A:\n    return B if C(D) else E",
    "if A:\n    return B | C",
    "if A:\n    return B == C",
    "async def A():\n    B = await C.D(E, F)",
    "async def A():\n    await B.C(D, E=F)",
    'A = {\n    "B": C(lambda D, E: F.G(H), "I"),\n}',
    'A = {\n    "B": C(D.E, F),\n    "G": H if I else J,\n    "K": L | M,\n}',
    "A = B(\n    C=D if E is None else F(G),\n    H=I(J, K),\n    L=M,\n)",
    "A = B(\n    C if D else E,\n    F and G,\n    H,\n)",
    "A = [B(C) for D in E]",
    "A = {B: C(D) for B, D in E.F()}",
    "for A in B.C(D, E):\n    pass",
    "with A.B(C, D):\n    pass",
    "raise A(B, C)",
    'raise A("B") from None',
    "raise A(B(C)) from None",
    "raise A | B",
    "A = B == C",
    "A = B.C().D(E)",
    "A = B(C)[D]",
    "A = B + C(D)",
    "A(*B, **C)",
    "A = lambda B: C(D)",
    "A = B = C(D)",
    "A: B = C(D)",
    "A: B | C = D(E)",
    "A, B = C(D)",
    "assert A(B), C",
    "@A(B, C)\ndef D():\n    pass",
    "A = B(C)  # D E",
]
MODE = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})


def formatted(text: str) -> str:
    return black.format_str(text, mode=MODE)


@st.composite
def codes(draw: st.DrawFn, shape: str) -> str:
    """Draws names for the letters of a shape, inside of functions."""
    lengths = st.integers(1, 50)
    text = re.sub(r"\b[A-Z]\b", lambda match: match.group().lower() * draw(lengths), shape)
    for level in range(draw(st.integers(0, 3))):
        text = f"async def outer_{level}():\n{indent(text, '    ')}"
    return f"{text}\n"


@pytest.mark.parametrize("shape", KNOWN + OTHERS)
@settings(max_examples=40)
@given(data=st.data())
def test_line_is_broken_like_black(shape: str, data: st.DataObject) -> None:
    text = data.draw(codes(shape))
    result = broken(text, LINE_LENGTH)
    assert result is None or result == formatted(text)


@pytest.mark.parametrize("shape", KNOWN)
def test_known_line_does_not_need_black(shape: str) -> None:
    text, length = shape, 0
    while max(map(len, text.split("\n"))) <= LINE_LENGTH:
        length += 1
        text = re.sub(r"\b[A-Z]\b", lambda match: match.group().lower() * length, shape)
    assert broken(f"{text}\n", LINE_LENGTH) == formatted(text)


def test_docstrings_strings_and_comments_are_unchanged() -> None:
    long = ", ".join(["word"] * 20)
    text = f'def f(self):\n    """{long}\n    {long}\n    """\n    # {long}\n    pass\n'
    assert broken(text, LINE_LENGTH) == text == formatted(text)
    assert broken(f'x = "{long}"\n', LINE_LENGTH) is None
