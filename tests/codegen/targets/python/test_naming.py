"""Tests of invalid names in protocols, and of the positions of their diagnostics.

Columns count characters: a tab is one, and a byte order mark is none.
"""

from __future__ import annotations

from pathlib import Path

import case_protocols
import generated_packages
from sessiongen.diagnostics import Diagnostic
from generated_packages import CASES, place_of

Places = list[tuple[str, int, int]]


def diagnostics_of(name: str, tmp_path: Path) -> list[Diagnostic]:
    path = CASES / f"refused_{name}.proto"
    source = generated_packages.protos([path], [CASES])
    return generated_packages.refusal(generated_packages.configured(tmp_path, "refused", source))


def positions(diagnostics: list[Diagnostic]) -> Places:
    return [(item.rule.value, item.span.line, item.span.column) for item in diagnostics]


def expected(rule: str, text: str, *markers: str) -> Places:
    return [(rule, *place_of(text, marker)) for marker in markers]


def test_unpaired_arms_at_both_positions(tmp_path: Path) -> None:
    text = (CASES / "refused_unpaired.proto").read_text(encoding="utf-8")
    diagnostics = diagnostics_of("unpaired", tmp_path)
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert positions(diagnostics) == expected("SG014", text, *markers)
    assert positions(diagnostics)[1] == ("SG014", 20, 11)
    assert [item.message for item in diagnostics] == [
        'request arm "fly" has no response arm',
        'request arm "swim" has no response arm',
        'response arm "orphan" has no request arm',
        'response arm "widow" has no request arm',
    ]
    assert all(item.help.startswith("add an arm ") for item in diagnostics)


def test_columns_with_crlf_byte_order_mark_and_tabs(tmp_path: Path) -> None:
    text = (CASES / "refused_unpaired.proto").read_text(encoding="utf-8")
    data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    diagnostics = generated_packages.texts_refusal(tmp_path, {"refused_unpaired.proto": data})
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert positions(diagnostics) == expected("SG014", text, *markers)


def test_a_protocol_on_one_line_behind_a_byte_order_mark(tmp_path: Path) -> None:
    text = " ".join(
        line.partition("//")[0].strip().replace("\t", "\t\t")
        for line in (CASES / "refused_unpaired.proto").read_text(encoding="utf-8").split("\n")
    )
    data = b"\xef\xbb\xbf" + text.encode()
    diagnostics = generated_packages.texts_refusal(tmp_path, {"line.proto": data})
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert positions(diagnostics) == expected("SG014", text, *markers)
    assert {item.span.line for item in diagnostics} == {1}


def test_positions_of_errors_of_protoc(tmp_path: Path) -> None:
    text = '\ufeffsyntax = "proto3";\n\t/* é🎙 */\tmessage A { Missing m = 1; }\n'
    diagnostics = generated_packages.texts_refusal(tmp_path, {"broken.proto": text})
    assert positions(diagnostics) == [("SG001", *place_of(text, "Missing"))]


def test_names_that_hide_attributes_of_protobuf(tmp_path: Path) -> None:
    text = (CASES / "refused_message_api.proto").read_text(encoding="utf-8")
    diagnostics = diagnostics_of("message_api", tmp_path)
    assert positions(diagnostics) == expected(
        "SG017",
        text,
        "string ByteSize",
        "string DESCRIPTOR",
        "message HasField",
        "Clear = 1",
        "enum CopyFrom",
        "DESCRIPTOR = 1",
        "mro = 3",
        "message sys",
        "Payload WhichOneof",
        "Payload __init__",
    )
    assert positions(diagnostics)[1] == ("SG017", 8, 10)


def test_names_that_become_equal(tmp_path: Path) -> None:
    text = (CASES / "refused_clash.proto").read_text(encoding="utf-8")
    diagnostics = diagnostics_of("clash", tmp_path)
    assert set(positions(diagnostics)) == set(
        expected(
            "SG017",
            text,
            "optional string from_ ",
            "optional string timeout_ ",
            "Payload emit_ ",
            "Payload send_ ",
        )
    )
    assert "'send_' and 'send' both become 'send_' in the client" in [
        i.message for i in diagnostics
    ]
    assert {item.help for item in diagnostics} == {"rename one of the two in the .proto"}


def test_two_files_of_one_module(tmp_path: Path) -> None:
    text = case_protocols.small("trap.files", 'import "a-b.proto";\nimport "a_b.proto";\n')
    texts: dict[str, str | bytes] = {
        "main.proto": text + "message Unused { A a = 1; B b = 2; }\n",
        "a-b.proto": 'syntax = "proto3";\npackage trap.files;\nmessage A {}\nmessage Ping {}\n',
        "a_b.proto": 'syntax = "proto3";\npackage trap.files;\nmessage B {}\n',
    }
    (diagnostics,) = generated_packages.texts_refusal(tmp_path, texts)
    assert diagnostics.rule.value == "SG017"
    assert diagnostics.message == "'a_b.proto' and 'a-b.proto' both become the module 'a_b_pb2'"


def test_deeply_nested_declarations(tmp_path: Path) -> None:
    text = case_protocols.small("trap.deeper", case_protocols.deep(300))
    diagnostics = generated_packages.texts_refusal(tmp_path, {"deeper.proto": text})
    assert diagnostics[0].rule.value == "SG001"
    assert "nested" in diagnostics[0].message
