"""Faults in protocols and configurations, one each, for test_refusals.py.

In: the small protocol and its configuration, edited. Out: the rule, the message, the
place and a part of the help that the command must give for each. One table, which is why
this module is longer than others.
"""

from __future__ import annotations

from dataclasses import dataclass

from cli_support import CONFIG, PROTO, place_of

from sessiongen.diagnostics import Rule

SMALL = "proto/small.proto"


@dataclass(frozen=True)
class Case:
    """A fault: `mark` is the only text of its kind in the file, where the fault stands."""

    rule: Rule
    message: str
    help: str
    mark: str = ""
    proto: str = PROTO
    config: str = CONFIG
    file: str = SMALL
    verb: tuple[str, ...] = ("generate",)

    def place(self) -> tuple[int, int]:
        text = self.config if self.file == "codegen.toml" else self.proto
        return place_of(text, self.mark) if self.mark else (1, 1)


def edited(old: str, new: str, text: str = PROTO) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def with_roles(roles: str) -> str:
    return f"{CONFIG}\n[roles]\n{roles}\n"


def with_input(lines: str) -> str:
    return edited('protos = ["proto/small.proto"]', lines, CONFIG)


def toml(message: str, help_: str, mark: str, config: str, rule: Rule = Rule.CONFIG_KEY) -> Case:
    return Case(rule, message, help_, mark, config=config, file="codegen.toml")


def protoc(message: str, help_: str, mark: str, old: str, new: str) -> Case:
    return Case(Rule.PROTO, message, help_, mark, edited(old, new))


TICK = "Empty tick = 1;"
IMPORT = 'import "sessiongen/annotations.proto";'
PROTOC = {
    "syntax": protoc(
        'Expected ";".', "valid Protocol Buffers source", "}//", TICK, "Empty tick = 1 }//"
    ),
    "missing import": protoc(
        'Import "no.proto" was not found or had errors.',
        "add its folder to input.include",
        'import "no.proto"',
        "package small;",
        'package small; import "no.proto";',
    ),
    "duplicate number": protoc(
        'Field number 1 has already been used in "small.Event" by field "tick". '
        "Next available field number is 2.",
        "give the field a number of its own",
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
    "annotation names no arm": Case(
        Rule.ANNOTATION,
        "small.Response has no arm 'pong'",
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
        "remove it here",
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
        "name it in codegen.toml under [roles]; messages with a oneof: small.Event, small.Question",
        "",
        PROTO.replace("message Request {", "message Question {").replace(
            "Request request =", "Question request ="
        ),
    ),
    "two events": Case(
        Rule.ROLE_AMBIGUOUS,
        "small.OtherEvent may be the event, and so may small.Event",
        '[roles] event = "small.OtherEvent"',
        "message OtherEvent",
        edited(
            "message Empty {}", "message Empty {}\nmessage OtherEvent { oneof e { Empty x = 1; } }"
        ).replace("    Event event = 1;\n", ""),
    ),
    "two correlations": Case(
        Rule.ROLE_AMBIGUOUS,
        "small.Request.other_id may be the correlation; so may each of other_id, request_id",
        'correlation = "other_id", or false for none',
        "string other_id = 8",
        edited(
            "message Request {\n",
            "message Request {\n  string other_id = 8;\n",
            edited("message Response {\n", "message Response {\n  string other_id = 9;\n"),
        ),
    ),
    "no messages": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role event",
        "messages with a oneof: none",
        "",
        'syntax = "proto3";\n',
    ),
}
CONFIGS = {
    "unknown table": toml(
        "unknown key 'ouptut'",
        "did you mean 'output'?",
        "ouptut",
        CONFIG.replace("[output]", "[ouptut]"),
    ),
    "unknown key": toml(
        "unknown key 'output.pakage'",
        "did you mean 'package'?",
        "pakage",
        CONFIG.replace("package =", "pakage ="),
    ),
    "unknown role": toml(
        "unknown key 'roles.reqest'",
        "did you mean 'request'?",
        "reqest",
        with_roles('reqest = "a"'),
    ),
    "far from any": toml(
        "unknown key 'zzz'",
        "known here: input, output, roles, annotations",
        "zzz",
        f"zzz = 1\n{CONFIG}",
    ),
    "not a list": toml(
        "input.protos is not a list of strings",
        "write it as a list",
        "protos",
        with_input('protos = "a.proto"'),
    ),
    "a list of numbers": toml(
        "input.include is not a list of strings",
        "write it as a list",
        "include",
        with_input('protos = ["a.proto"]\ninclude = [1]'),
    ),
    "not a string": toml(
        "output.path is not a string", "write it as a string", "path", CONFIG.replace('"out"', "7")
    ),
    "not a table": toml(
        "roles is not a table", "write it as a table", "roles", f"roles = 1\n{CONFIG}"
    ),
    "a control character": toml(
        "output.path is not a string with no control character",
        "write it",
        "path",
        CONFIG.replace('"out"', r'"o\u0000"'),
    ),
    "no file": toml(
        "no .proto file is named", "name at least one file", "protos", with_input("protos = []")
    ),
    "two inputs": toml(
        "exactly one input is needed, these are given: protos, messages",
        "give one of input.protos",
        "messages",
        with_input('protos = ["a.proto"]\nmessages = "a"'),
    ),
    "no input": toml(
        "exactly one input is needed, none is given",
        "give one of input.protos",
        "input",
        with_input(""),
    ),
    "no package": toml(
        "the generated package has no name",
        "give output.package",
        "output",
        CONFIG.replace('package = "small_protocol"', ""),
    ),
    "a keyword": toml(
        "'a.class' is not a Python package name",
        "letters, digits",
        "package",
        CONFIG.replace("small_protocol", "a.class"),
    ),
    "a path as package": toml(
        "'../evil' is not a Python package name",
        "letters, digits",
        "package",
        CONFIG.replace("small_protocol", "../evil"),
    ),
    "no module name": toml(
        "'a/b' is not the name of a Python module",
        "letters, digits",
        "messages",
        with_input('messages = "a/b"'),
    ),
    "an include path in two": toml(
        "an include path cannot hold ':': a:b",
        "rename the folder",
        "include",
        with_input('protos = ["a.proto"]\ninclude = ["a:b"]'),
    ),
    "role of another type": toml(
        "roles.event is not a name", "give the name", "event", with_roles("event = 1")
    ),
    "role that must be": toml(
        "roles.event is not a name",
        "give the name of a message",
        "event",
        with_roles("event = false"),
    ),
    "full name without quotes": toml(
        "small.Request.ping is read as 3 keys",
        'quote the name: [annotations."small.Request.ping"]',
        "annotations.small",
        f"{CONFIG}\n[annotations.small.Request.ping]\nresponse = 'a'\n",
    ),
    "unknown annotation": toml(
        "unknown key 'annotations.small.Request.ping.respond'",
        "did you mean 'response'?",
        "respond ",
        f"{CONFIG}\n[annotations.'small.Request.ping']\nrespond = 'a'\n",
    ),
    "annotation of nothing": toml(
        "the annotation names 'small.Nothing', which is not in the protocol",
        "write the full name",
        "response",
        f"{CONFIG}\n[annotations.'small.Nothing']\nresponse = 'a'\n",
        Rule.ANNOTATION,
    ),
    "annotation of another kind": toml(
        "'small.Request.ping' is a field; 'unknown' belongs on an enum",
        "write the full name",
        "unknown",
        f"{CONFIG}\n[annotations.'small.Request.ping']\nunknown = 'a'\n",
        Rule.ANNOTATION,
    ),
    "role of no message": toml(
        "roles.event names no message: 'Evnt'",
        "messages with a oneof: small.Event",
        "event",
        with_roles('event = "Evnt"'),
        Rule.ROLE_NOT_FOUND,
    ),
    "role of no union": toml(
        "roles.event is small.Empty, which has no oneof",
        "it holds the arms in a oneof",
        "event",
        with_roles('event = "Empty"'),
        Rule.ROLE_SHAPE,
    ),
    "role of no field": toml(
        "small.Request has no field 'id' fit to be the correlation",
        "fields that fit: request_id",
        "correlation",
        with_roles('correlation = "id"'),
        Rule.ROLE_SHAPE,
    ),
    "not TOML": toml(
        "Expected '=' after a key in a key/value pair",
        "valid TOML 1.0",
        "zz",
        f'"ä" zz\n{CONFIG}',
        Rule.CONFIG_SYNTAX,
    ),
    "no such file": toml(
        "there is no file proto/none.proto",
        "relative to codegen.toml",
        "protos",
        with_input('protos = ["proto/none.proto"]'),
        Rule.UNREADABLE,
    ),
    "a folder": toml(
        "proto is not a file",
        "relative to codegen.toml",
        "protos",
        with_input('protos = ["proto"]'),
        Rule.UNREADABLE,
    ),
    "outside the include paths": toml(
        "proto/small.proto lies on none of the include paths",
        "add a folder above the file",
        "include",
        with_input('protos = ["proto/small.proto"]\ninclude = ["out"]'),
        Rule.UNREADABLE,
    ),
    "no module": toml(
        "cannot read messages from 'no_such'",
        "name a module",
        "messages",
        with_input('messages = "no_such"'),
        Rule.MESSAGES_MODULE,
    ),
    "a module of no messages": toml(
        "cannot read messages from 'json'",
        "protoc --python_out",
        "messages",
        with_input('messages = "json"'),
        Rule.MESSAGES_MODULE,
    ),
}
OTHERS = {
    "no configuration": Case(
        Rule.NO_CONFIG,
        "there is no configuration here",
        "sessiongen init PROTO",
        file="no.toml",
        verb=("--config", "no.toml", "generate"),
    ),
    "configuration exists": Case(
        Rule.CONFIG_EXISTS,
        "there is a configuration here already",
        "write another with --config",
        file="codegen.toml",
        verb=("init", SMALL),
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
CASES = {**PROTOC, **ARMS, **CONFIGS, **OTHERS}
