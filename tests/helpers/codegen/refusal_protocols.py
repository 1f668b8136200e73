"""Invalid protocols and command lines for test_refusals.py."""

from __future__ import annotations

from sessiongen_command import PROTO
from refusal_case import SMALL, Case, edited
from refusal_configs import CONFIGS

from sessiongen.diagnostics import Rule


def protoc(message: str, help_: str, mark: str, old: str, new: str) -> Case:
    return Case(Rule.PROTO, message, help_, mark, edited(old, new))


TICK = "Empty tick = 1;"
IMPORT = 'import "sessiongen/annotations.proto";'
PROTOC = {
    "syntax": protoc(
        'Expected ";".', "valid Protocol Buffers source", "}//", TICK, "Empty tick = 1 }//"
    ),
    "missing import": protoc(
        'Import "no.proto" was not found.',
        "add the folder of this file to input.include",
        'import "no.proto"',
        "package small;",
        'package small; import "no.proto";',
    ),
    "duplicate number": protoc(
        'Field number 1 has already been used in "small.Event" by field "tick". '
        "Next available field number is 2.",
        "give the field another number",
        "1; // again",
        TICK,
        TICK + " Empty tock = 1; // again",
    ),
    "duplicate name": protoc(
        '"tick" is already defined in "small.Event".',
        "rename one of the two",
        "tick = 2",
        TICK,
        TICK + " Empty tick = 2;",
    ),
    "undefined type": protoc(
        '"Nothing" is not defined.',
        "import the file that does",
        "Nothing",
        TICK,
        "Nothing tick = 1;",
    ),
    "edition": protoc(
        "is a file using edition 2024, which is later than the protoc maximum supported edition 2023.",
        "edition 2023",
        "",
        'syntax = "proto3";',
        'edition = "2024";',
    ),
    "after a tab and wide characters": protoc(
        '"Nothing" is not defined.',
        "define it",
        "Nothing",
        TICK,
        "/* ä日本😀 */\tNothing tick = 1;",
    ),
}
ARMS = {
    "request without response": Case(
        Rule.UNPAIRED_ARM,
        'request arm "frobnicate" has no response arm',
        '[annotations."small.Request.frobnicate"] response = "..."',
        "Empty frobnicate",
        edited("// Is anybody there?", "Empty frobnicate = 3;"),
    ),
    "response without request": Case(
        Rule.UNPAIRED_ARM,
        'response arm "orphan" has no request arm',
        'add an arm "orphan" to small.Request',
        "Empty orphan",
        edited("oneof response {", "oneof response { Empty orphan = 3;"),
    ),
    "correlation of two ranges": Case(
        Rule.ROLE_SHAPE,
        "small.Request.request_id is int64, and small.Response.request_id is uint32",
        "give both fields the same type",
        "int64 request_id",
        edited(
            "message Response {\n  string request_id",
            "message Response {\n  uint32 request_id",
            edited(
                "message Request {\n  string request_id", "message Request {\n  int64 request_id"
            ),
        ),
    ),
    "required error": Case(
        Rule.ROLE_SHAPE,
        "small.Response.error is required: each response would be an error",
        "[roles] error = false",
        "string error",
        edited(
            "message Response {",
            "message Response {\n  string error = 3 [features.field_presence = LEGACY_REQUIRED];",
            edited('syntax = "proto3";', 'edition = "2023";'),
        ),
    ),
    "annotation names no arm": Case(
        Rule.ANNOTATION,
        "small.Response has no response arm 'pong'",
        "response arms: ping",
        "Empty ping = 2 [",
        edited(
            "// Is anybody there?\n    Empty ping = 2;",
            'Empty ping = 2 [(sessiongen.response) = "pong"];',
            edited("package small;", f"package small;\n{IMPORT}"),
        ),
    ),
    "annotation on the wrong field": Case(
        Rule.ANNOTATION,
        "small.Event.tick is not a request arm",
        "remove it",
        "Empty tick",
        edited(
            TICK,
            'Empty tick = 1 [(sessiongen.response) = "ping"];',
            edited("package small;", f"package small;\n{IMPORT}"),
        ),
    ),
    "name clash": Case(
        Rule.NAME_CLASH,
        "the field 'CopyFrom' hides 'CopyFrom' of protobuf's own message class",
        "rename the field",
        "string CopyFrom",
        edited("message Empty {}", "message Empty { string CopyFrom = 1; }"),
    ),
    "no request": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role request",
        'name it in codegen.toml: [roles] request = "small.Question"; if',
        "",
        PROTO.replace("message Request {", "message Question {").replace(
            "Request request =", "Question request ="
        ),
    ),
    "two events": Case(
        Rule.ROLE_AMBIGUOUS,
        "small.OtherEvent is one of several candidates for the role event, with small.Event",
        '[roles] event = "small.OtherEvent"',
        "message OtherEvent",
        edited(
            "message Empty {}", "message Empty {}\nmessage OtherEvent { oneof e { Empty x = 1; } }"
        ).replace("    Event event = 1;\n", ""),
    ),
    "two correlations": Case(
        Rule.ROLE_AMBIGUOUS,
        "small.Request.other_id is one of several possible correlation fields: other_id, request_id",
        'correlation = "other_id", or false for none',
        "string other_id = 8",
        edited(
            "message Request {\n",
            "message Request {\n  string other_id = 8;\n",
            edited("message Response {\n", "message Response {\n  string other_id = 9;\n"),
        ),
    ),
    "no events": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role event",
        "if the protocol has no events: [roles] event = false",
        "",
        PROTO[: PROTO.index("message Event {")]
        + PROTO[PROTO.index("message Request {") : PROTO.index("message Envelope {")],
    ),
    "a request that is no union": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role request: small.Request has no oneof",
        "the message needs a oneof with an arm for each kind of request",
        "message Request",
        edited(
            "  oneof request {\n    // Is anybody there?\n    Empty ping = 2;\n  }\n",
            "  Empty ping = 2;\n",
        ),
    ),
    "a request of two unions": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role request: small.Request has 2 oneofs",
        'name it in codegen.toml: [roles] request = "small.Request"; if the protocol has no',
        "message Request",
        edited("  oneof request {", "  oneof way { Empty near = 8; }\n  oneof other {"),
    ),
    "no messages": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role event: none has a oneof",
        "if the protocol has no events: [roles] event = false",
        "",
        'syntax = "proto3";\n',
    ),
}
OTHERS = {
    "no configuration": Case(
        Rule.NO_CONFIG,
        "the configuration does not exist",
        "sessiongen init PROTO",
        file="no.toml",
        verb=("--config", "no.toml", "generate"),
    ),
    "configuration exists": Case(
        Rule.CONFIG_EXISTS,
        "the configuration already exists",
        "name another file with --config",
        file="codegen.toml",
        verb=("init", SMALL),
    ),
    "no SDK to compare with": Case(
        Rule.NO_SDK,
        "nothing to compare: the configuration names no SDK",
        '[sdks] vocabularies = ["vocabularies/NAME.json"]',
        file="codegen.toml",
        verb=("parity",),
    ),
    "no SDK to watch": Case(
        Rule.NO_SDK,
        "nothing to compare: the configuration names no SDK",
        "then run `sessiongen vocabulary update`",
        file="codegen.toml",
        verb=("vocabulary", "watch"),
    ),
    "no arm": Case(
        Rule.UNKNOWN_ARM,
        "the protocol has no arm 'pang'",
        "did you mean ping?",
        file="codegen.toml",
        verb=("explain", "pang"),
    ),
    "no descriptor set": Case(
        Rule.UNREADABLE,
        "cannot read the descriptor set: No such file or directory",
        "write one with `protoc --descriptor_set_out` or `buf build -o`",
        file="no.binpb",
        verb=("generate", "--descriptor-set", "no.binpb"),
    ),
    "not a descriptor set": Case(
        Rule.DESCRIPTOR_SET,
        "this is not a serialized FileDescriptorSet",
        "write it with `protoc --descriptor_set_out --include_imports`",
        verb=("generate", "--descriptor-set", SMALL),
    ),
}
CASES: dict[str, Case] = {**PROTOC, **ARMS, **CONFIGS, **OTHERS}
