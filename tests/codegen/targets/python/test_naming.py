"""Protocols that no sound package can be made from are refused, each fault at its place:
columns count characters, a tab is one, a byte order mark none."""

from __future__ import annotations

from pathlib import Path

import case_protocols
import generated_packages
from sessiongen.diagnostics import Diagnostic
from generated_packages import CASES, place_of

Places = list[tuple[str, int, int]]


def refused(name: str, tmp_path: Path) -> list[Diagnostic]:
    path = CASES / f"refused_{name}.proto"
    source = generated_packages.protos([path], [CASES])
    return generated_packages.refusal(generated_packages.configured(tmp_path, "refused", source))


def places(found: list[Diagnostic]) -> Places:
    return [(item.rule.value, item.span.line, item.span.column) for item in found]


def expected(rule: str, text: str, *markers: str) -> Places:
    return [(rule, *place_of(text, marker)) for marker in markers]


def test_unpaired_arms_at_both_positions(tmp_path: Path) -> None:
    text = (CASES / "refused_unpaired.proto").read_text(encoding="utf-8")
    found = refused("unpaired", tmp_path)
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert places(found) == expected("SG014", text, *markers)
    assert places(found)[1] == ("SG014", 20, 11)
    assert [item.message for item in found] == [
        'request arm "fly" has no response arm',
        'request arm "swim" has no response arm',
        'response arm "orphan" has no request arm',
        'response arm "widow" has no request arm',
    ]
    assert all(item.help.startswith("add an arm ") for item in found)


def test_crlf_byte_order_mark_and_tabs_move_no_column(tmp_path: Path) -> None:
    text = (CASES / "refused_unpaired.proto").read_text(encoding="utf-8")
    data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    found = generated_packages.texts_refusal(tmp_path, {"refused_unpaired.proto": data})
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert places(found) == expected("SG014", text, *markers)


def test_a_protocol_on_one_line_behind_a_byte_order_mark(tmp_path: Path) -> None:
    text = " ".join(
        line.partition("//")[0].strip().replace("\t", "\t\t")
        for line in (CASES / "refused_unpaired.proto").read_text(encoding="utf-8").split("\n")
    )
    data = b"\xef\xbb\xbf" + text.encode()
    found = generated_packages.texts_refusal(tmp_path, {"line.proto": data})
    markers = ("Nil fly", "Nil swim", "Nil orphan", "Nil widow")
    assert places(found) == expected("SG014", text, *markers)
    assert {item.span.line for item in found} == {1}


def test_protocs_own_errors_are_placed_likewise(tmp_path: Path) -> None:
    text = '\ufeffsyntax = "proto3";\n\t/* é🎙 */\tmessage A { Missing m = 1; }\n'
    found = generated_packages.texts_refusal(tmp_path, {"broken.proto": text})
    assert places(found) == [("SG001", *place_of(text, "Missing"))]


def test_names_that_hide_protobufs_own(tmp_path: Path) -> None:
    text = (CASES / "refused_message_api.proto").read_text(encoding="utf-8")
    found = refused("message_api", tmp_path)
    assert places(found) == expected(
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
    assert places(found)[1] == ("SG017", 8, 10)


def test_names_that_fall_together(tmp_path: Path) -> None:
    text = (CASES / "refused_clash.proto").read_text(encoding="utf-8")
    found = refused("clash", tmp_path)
    assert set(places(found)) == set(
        expected(
            "SG017",
            text,
            "optional string from_ ",
            "optional string timeout_ ",
            "Payload emit_ ",
            "Payload send_ ",
        )
    )
    assert "'send_' and 'send' both become 'send_' in the client" in [i.message for i in found]
    assert {item.help for item in found} == {"rename one of the two in the .proto"}


def test_two_files_of_one_module(tmp_path: Path) -> None:
    text = case_protocols.small("trap.files", 'import "a-b.proto";\nimport "a_b.proto";\n')
    texts: dict[str, str | bytes] = {
        "main.proto": text + "message Unused { A a = 1; B b = 2; }\n",
        "a-b.proto": 'syntax = "proto3";\npackage trap.files;\nmessage A {}\nmessage Ping {}\n',
        "a_b.proto": 'syntax = "proto3";\npackage trap.files;\nmessage B {}\n',
    }
    (found,) = generated_packages.texts_refusal(tmp_path, texts)
    assert found.rule.value == "SG017"
    assert found.message == "'a_b.proto' and 'a-b.proto' both become the module 'a_b_pb2'"


def test_declarations_nested_beyond_all_sense(tmp_path: Path) -> None:
    text = case_protocols.small("trap.deeper", case_protocols.deep(300))
    found = generated_packages.texts_refusal(tmp_path, {"deeper.proto": text})
    assert found[0].rule.value == "SG001"
    assert "nested" in found[0].message
