"""Tests of optional fields named by Python keywords: mappings may use both spellings."""

from __future__ import annotations

import keyword
from typing import Any

import pytest
from generated_packages import Package, configured, generate, protos

KEYWORDS = [keyword_ for keyword_ in keyword.kwlist if keyword_.islower()]
PROTO = """
syntax = "proto3";
package case.keyword_keys;
message Ping {}
message Moved {
FIELDS
}
message Event { oneof event { Ping p = 1; } }
message Request { string id = 1; oneof request { Ping move = 2; } }
message Response { string id = 1; oneof response { Moved move = 2; } }
message Envelope { oneof message { Event event = 1; Request request = 2; Response response = 3; } }
"""


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("keyword_keys")
    fields = [
        f"  optional string {keyword_} = {number};" for number, keyword_ in enumerate(KEYWORDS, 1)
    ]
    path = folder / "keyword_keys.proto"
    path.write_text(PROTO.replace("FIELDS", "\n".join(fields)), encoding="utf-8")
    config = configured(folder, "keyword_keys_protocol", protos([path], [folder]))
    package: Package = generate(config)
    return package.module("encoders")


@pytest.mark.parametrize("suffix", ["_", ""], ids=["with an underscore", "as in the proto"])
def test_both_spellings_of_a_key_fill_the_field(encoders: Any, suffix: str) -> None:
    for keyword_ in KEYWORDS:
        message = encoders.encode_moved({f"{keyword_}{suffix}": "here"})
        assert [(field.name, value) for field, value in message.ListFields()] == [
            (keyword_, "here")
        ]


def test_a_mapping_without_the_keys_fills_nothing(encoders: Any) -> None:
    assert encoders.encode_moved({}).ListFields() == []
