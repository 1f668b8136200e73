"""Invalid configurations for test_refusals.py."""

from __future__ import annotations

from pathlib import Path

from sessiongen_command import CONFIG, PROTO
from refusal_case import Case, edited, toml, with_input, with_roles

from sessiongen.diagnostics import Rule

# A folder that exists and is not above a project.
ELSEWHERE = Path(__file__).parent.as_posix()
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
        "known keys: input, output, roles, annotations",
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
        r"output.path has a control character: 'o\x00'",
        "write it without the control character",
        "path",
        CONFIG.replace('"out"', r'"o\u0000"'),
    ),
    "an empty string": toml(
        "output.path has an empty string",
        "write a text in the quotes",
        "path",
        CONFIG.replace('"out"', '""'),
    ),
    "an empty string in a list": toml(
        "input.protos has an empty string",
        "write a text in the quotes",
        "protos",
        with_input('protos = [""]'),
    ),
    "an array for a table": toml(
        "input is not one table",
        "write [input] once, in single brackets",
        "input",
        CONFIG.replace("[input]", "[[input]]"),
    ),
    "an output of either form": toml(
        "there are an [output] and an [[output]] table",
        "write each output as [[output]], with a language",
        "]]",
        f'{CONFIG}\n[[output]]\nlanguage = "vectors"\n',
        Rule.CONFIG_SYNTAX,
    ),
    "a table twice": toml(
        "the table sdks.one is declared twice",
        "the file must be valid TOML 1.0",
        "] # again",
        f"{CONFIG}\n[sdks.one]\n[sdks.one] # again\n",
        Rule.CONFIG_SYNTAX,
    ),
    "no file": toml(
        "no .proto file is named", "name at least one file", "protos", with_input("protos = []")
    ),
    "two inputs": toml(
        "exactly one input is needed, but these are given: descriptor_set, messages",
        "give one of input.protos",
        "messages",
        with_input('descriptor_set = "a.binpb"\nmessages = "a"'),
    ),
    "no input": toml(
        "exactly one input is needed, but none is given",
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
        "roles.event is not a name", "use the name", "event", with_roles("event = 1")
    ),
    "pattern that is false": toml(
        "roles.events is not a name or a list of names",
        'use a pattern of arm names, such as "*_request"',
        "events",
        with_roles("events = false"),
    ),
    "list of roles": toml(
        "roles.event is not a name", "use the name", "event", with_roles('event = ["Event"]')
    ),
    "error that is no name": toml(
        "roles.error is not a name or a list of names",
        "use the name of a message or field, or false",
        "error",
        with_roles('error = ["a", 1]'),
    ),
    "neither events nor requests": toml(
        "the protocol has neither events nor requests",
        "name the message of events or requests",
        "roles",
        with_roles("event = false\nrequest = false"),
        Rule.ROLE_NOT_FOUND,
    ),
    "responses without requests": toml(
        "there are responses, but no requests",
        "name the message of the requests, or set response = false",
        "response",
        with_roles('request = false\nresponse = "Response"'),
        Rule.ROLE_SHAPE,
    ),
    "timestamp without events": toml(
        "roles.timestamp is set, but no message is an event",
        "remove it",
        "timestamp",
        with_roles('event = false\ntimestamp = "at"'),
        Rule.ROLE_SHAPE,
    ),
    "pattern without its role": toml(
        "roles.events is set, but roles.event is false",
        "remove one of the two",
        "events",
        with_roles('event = false\nevents = "*"'),
        Rule.ROLE_SHAPE,
    ),
    "pattern of no arm": toml(
        "roles.events matches no arm of small.Event",
        "arms: tick",
        "events",
        with_roles('events = ["*_event"]'),
        Rule.ROLE_SHAPE,
    ),
    "error of no field": toml(
        "small.Response has no field or arm 'fault' that can be the error",
        "possible fields and arms: ping",
        "error",
        with_roles('error = ["fault"]'),
        Rule.ROLE_SHAPE,
    ),
    "two error texts": toml(
        "roles.error names several fields: error, fault",
        "name at most one field for an error text, and any number of response arms",
        "error =",
        with_roles('error = ["error", "fault"]'),
        Rule.ROLE_SHAPE,
        PROTO.replace(
            "message Response {", "message Response { string error = 8; string fault = 9;"
        ),
    ),
    "one message for two roles": toml(
        "small.Request is the request and the response",
        'tell its arms apart by their names: [roles] requests = "*_request", responses = "*_response"',
        "response",
        with_roles('request = "Request"\nresponse = "Request"'),
        Rule.ARM_ROLE,
    ),
    "arm of two roles": Case(
        Rule.ARM_ROLE,
        'arm "ping" may belong to request and response',
        '[annotations."small.Request.ping"] role = "request", or false for no role',
        "Empty ping = 2;\n  }\n}\n\nmessage Response",
        PROTO,
        with_roles('request = "Request"\nresponse = "Request"\nrequests = "p*"\nresponses = "*g"'),
    ),
    "arm without a role": Case(
        Rule.ARM_ROLE,
        'arm "tick" has no role',
        '[annotations."small.Event.tick"] role = "event", or false for no role',
        "Empty tick",
        edited("Empty tick = 1;", "Empty tick = 1; Empty other_event = 2;"),
        with_roles('events = "*_event"'),
    ),
    "role annotation of no role": toml(
        "there is no role 'question'",
        "use event, request or response, or false for no role",
        "role ",
        f"{CONFIG}\n[annotations.'small.Request.ping']\nrole = 'question'\n",
        Rule.ANNOTATION,
    ),
    "role annotation on another field": toml(
        "small.Request.request_id is not an arm of a message with a role",
        "remove it",
        "role ",
        f"{CONFIG}\n[annotations.'small.Request.request_id']\nrole = 'event'\n",
        Rule.ANNOTATION,
    ),
    "envelope with another role": toml(
        "roles.envelope is small.Event, which has another role",
        "name the message that carries it, or set envelope = false",
        "envelope",
        with_roles('envelope = "Event"\nevent = "Event"'),
        Rule.ROLE_SHAPE,
    ),
    "role of a oneof": toml(
        "roles.event names no message: 'Event.none'",
        "messages with a oneof: small.Event",
        "event",
        with_roles('event = "Event.none"'),
        Rule.ROLE_NOT_FOUND,
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
        "the annotation names 'small.Nothing', which the protocol does not have",
        "write the full name",
        "response",
        f"{CONFIG}\n[annotations.'small.Nothing']\nresponse = 'a'\n",
        Rule.ANNOTATION,
    ),
    "annotation of another kind": toml(
        "'small.Request.ping' is a field; 'unknown' is for an enum",
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
    "role of several messages": toml(
        "roles.event names several messages: 'Same'",
        "write its full name: small.Event.Same, small.Request.Same",
        "event",
        with_roles('event = "Same"'),
        Rule.ROLE_NOT_FOUND,
        PROTO.replace("message Event {", "message Event {\n  message Same {}").replace(
            "message Request {", "message Request {\n  message Same {}"
        ),
    ),
    "a vocabulary twice": toml(
        "the vocabulary sdks/a.json is listed twice",
        "list each vocabulary once",
        "vocabularies",
        f'{CONFIG}\n[sdks]\nvocabularies = ["sdks/a.json", "b.json", "./x/../sdks/a.json"]\n',
    ),
    "role whose message plays another": Case(
        Rule.ROLE_NOT_FOUND,
        "no message has the role request",
        "if the protocol has no requests: [roles] request = false",
        "",
        edited("  oneof request {", "  oneof way { Empty near = 8; }\n  oneof request {"),
        with_roles('event = "Request"'),
    ),
    "role of no union": toml(
        "roles.event is small.Empty, which has no oneof",
        "name a message with a oneof",
        "event",
        with_roles('event = "Empty"'),
        Rule.ROLE_SHAPE,
    ),
    "role of no field": toml(
        "small.Request has no field 'id' that can be the correlation",
        "possible fields: request_id",
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
        "proto/small.proto is not below any include path",
        "add a folder above the file",
        "include",
        with_input(f'protos = ["proto/small.proto"]\ninclude = ["{ELSEWHERE}"]'),
        Rule.UNREADABLE,
    ),
    "no such include path": toml(
        "there is no folder lib",
        "name include paths relative to codegen.toml",
        "include",
        with_input('protos = ["proto/small.proto"]\ninclude = ["proto", "lib"]'),
        Rule.UNREADABLE,
    ),
    "an include path that is a file": toml(
        "proto/small.proto is not a folder",
        "name include paths relative to codegen.toml",
        "include",
        with_input('protos = ["proto/small.proto"]\ninclude = ["proto", "proto/small.proto"]'),
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
