"""`init` and `generate` on protocols of many shapes, as a new user would run them.

For each protocol in `cases/proposals`, a .toml file has what a person would choose: the roles, the
response to each request (false for none), the events, the errors, and the lines of codegen.toml to
choose, if any. Each request, error and event is then sent with the generated package.
"""

from __future__ import annotations

import inspect
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import filled_messages
import pytest
import tomli
from exchanges import Exchange, Modules, payload_of, raising, returning, run
from generated_packages import CASES, Package
from sessiongen_command import Outcome, invoke, replaced

FOLDER = CASES / "proposals"


@dataclass(frozen=True)
class Expected:
    """What a person would choose for a protocol.

    calls: the response arm to each request arm in order of declaration, False for none.
    choose: the commented lines of the configuration to choose.
    correlation: the field that `generate` finds, if the configuration does not name it.
    """

    roles: dict[str, Any]
    calls: dict[str, Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    choose: list[str] = field(default_factory=list)
    correlation: str | None = None


def project(name: str, folder: Path) -> tuple[str, Expected]:
    """Copies a protocol into a folder; returns the path of its main file, and what is expected."""
    source, main = FOLDER / name, f"proto/{name}.proto"
    if source.is_dir():
        shutil.copytree(source, folder / "proto")
    else:
        (folder / "proto").mkdir()
        shutil.copy(source.with_suffix(".proto"), folder / main)
    data = tomli.loads(source.with_suffix(".toml").read_text(encoding="utf-8"))
    return main, Expected(**data)


def init(folder: Path, main: str, expected: Expected) -> Outcome:
    """Runs `init`, and removes the comment signs of the lines to choose."""
    outcome = invoke(folder, "init", main)
    config = folder / "codegen.toml"
    for line in expected.choose:
        replaced(config, f"\n# {line}\n", f"\n{line}\n")
    return outcome


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_protocol(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main, expected = project(name, tmp_path)
    outcome = init(tmp_path, main, expected)
    written = tomli.loads((tmp_path / "codegen.toml").read_text(encoding="utf-8"))
    chosen = tomli.loads("\n".join(line for line in expected.choose if line[0] != '"'))
    expected.roles.update(chosen)
    assert written["roles"] == expected.roles
    assert outcome.status == (2 if expected.choose else 0), outcome.errors
    # A package of its own name, since a process imports all of them.
    package = f"{name}_proposed"
    default = written["output"][0]["package"]
    replaced(tmp_path / "codegen.toml", f'package = "{default}"', f'package = "{package}"')
    outcome = invoke(tmp_path, "generate")
    assert outcome.status == 0, outcome.errors
    monkeypatch.syspath_prepend(tmp_path / "generated" / "python")
    made = Modules(Package(package, tmp_path / "generated" / "python"))
    check_requests(made, expected)
    check_events(made, expected)


def check_requests(made: Modules, expected: Expected) -> None:
    """Sends each request and answers it with its response, and with each error."""
    if not expected.calls:
        assert not (made.package.folder / "requests.py").exists()
        return
    [handler] = [
        item
        for key, item in vars(made.requests).items()
        if key.endswith("Handler") and inspect.isabstract(item)
    ]
    methods = [key for key, item in vars(handler).items() if hasattr(item, "__isabstractmethod__")]
    values: list[Any] = list(vars(made.errors).values())
    classes = [item for item in values if getattr(item, "arm", None) is not None]
    assert sorted(item.arm for item in classes) == sorted(expected.errors)
    [client] = _classes(made.client, "Client")
    senders = [
        key
        for key, item in vars(client).items()
        if inspect.iscoroutinefunction(item) and key not in ("send", "send_oneway")
    ]
    names = zip(methods, senders, strict=True)
    for method, (arm, response) in zip(names, expected.calls.items(), strict=True):
        Call(made, expected, method, arm).check(response or None, classes)


class Call:
    """A request of a package, with every field set."""

    def __init__(
        self, made: Modules, expected: Expected, methods: tuple[str, str], arm: str
    ) -> None:
        self.made = made
        self.method, self.client_method = methods
        self.correlation = expected.roles.get("correlation") or expected.correlation
        class_ = get_type_hints(made.requests.answer)["request"]
        self.arm = class_.DESCRIPTOR.fields_by_name[arm]
        self.request = filled_messages.filled(class_, self.arm)
        self.special = {self.correlation} if self.correlation else set()
        if expected.roles["request"] == expected.roles["response"]:
            self.special |= {expected.roles.get("error")} & {
                item.name for item in class_.DESCRIPTOR.fields if item.containing_oneof is None
            }
        for name in self.special:
            self.request.ClearField(name)

    def check(self, response: str | None, errors: list[Any]) -> None:
        """Answers with the response of this name, and with each error."""
        [partial] = [key for key in vars(self.made.requests) if key.startswith("Partial")]
        handler = getattr(self.made.requests, partial)
        payload = payload_of(get_type_hints(getattr(handler, self.method))["return"])
        sent, answer, result = self.exchange(returning(payload))
        assert sent.WhichOneof(self.arm.containing_oneof.name) == self.arm.name
        assert (_arm(answer), result) == (response, payload)
        for error in errors if response is not None else ():
            failure = error(payload_of(get_type_hints(error.__init__)["payload"]))
            _, answer, result = self.exchange(raising(failure))
            assert (_arm(answer), type(result)) == (error.arm, error)
            assert result.payload == failure.payload

    def exchange(self, handle: Any) -> tuple[Any, Any, Any]:
        """Returns the request as received, the answer, and what the client returned or raised."""
        exchange = _Correlated(self.made, {self.method: handle}, self.correlation)
        call = getattr(exchange.client(), self.client_method)
        keywords = filled_messages.arguments(
            call, self.request, self.arm, self.special, frozenset({"timeout"})
        )
        result: Any
        try:
            result = run(call(**keywords))
        except self.made.errors.RequestError as error:
            result = error
        [sent], [answer] = exchange.sent, exchange.answers
        plain = type(sent)()
        plain.CopyFrom(sent)
        if self.correlation:
            identifier = getattr(sent, self.correlation)
            assert answer is None or getattr(answer, self.correlation) == identifier
            plain.ClearField(self.correlation)
        assert plain == self.request
        return sent, answer, result


class _Correlated(Exchange):
    """An exchange whose requests have a correlation id."""

    def __init__(self, made: Modules, methods: dict[str, Any], correlation: str | None) -> None:
        super().__init__(made, methods)
        self.correlation = correlation

    async def _carry(self, request: Any) -> Any:
        if self.correlation:
            value = filled_messages.value_of(request.DESCRIPTOR, self.correlation)
            setattr(request, self.correlation, value)
        return await super()._carry(request)


def check_events(made: Modules, expected: Expected) -> None:
    """Emits each event through the sink, and delivers it to a listener."""
    if not expected.events:
        assert not (made.package.folder / "events.py").exists()
        return
    assert list(made.events.SDK_EVENTS) == expected.events
    [sink_class] = _classes(made.events, "Sink")
    [listeners_class] = _classes(made.events, "Listeners")
    class_ = get_type_hints(sink_class.emit)["event"]
    emitted: list[Any] = []
    sink = type("Sink", (sink_class,), {"emit": lambda _, event: emitted.append(event)})()
    emitters = _methods(sink_class, ("emit", "_emit"))
    adders = _methods(listeners_class, ("__init__", "on_unknown", "deliver", "_add"))
    listeners, heard = listeners_class(), list[Any]()
    for name, emit, add in zip(expected.events, emitters, adders, strict=True):
        event = filled_messages.filled(class_, class_.DESCRIPTOR.fields_by_name[name])
        method = getattr(sink, emit)
        parameters = inspect.signature(method).parameters
        outside = [item.name for item in event.DESCRIPTOR.fields if item.containing_oneof is None]
        special = {item for item in outside if item not in parameters}
        for item in special:
            event.ClearField(item)
        arm = class_.DESCRIPTOR.fields_by_name[name]
        method(**filled_messages.arguments(method, event, arm, special))
        received = class_.FromString(emitted.pop().SerializeToString())
        assert received == event
        getattr(listeners, add)(lambda payload, _: heard.append(payload))
        listeners.deliver(received)
        assert heard == [getattr(received, name)]
        heard.clear()


def _classes(module: Any, suffix: str) -> list[Any]:
    return [
        item
        for name, item in vars(module).items()
        if inspect.isclass(item) and item.__module__ == module.__name__ and name.endswith(suffix)
    ]


def _methods(class_: Any, others: tuple[str, ...]) -> list[str]:
    return [
        name
        for name, item in vars(class_).items()
        if inspect.isfunction(item) and name not in others
    ]


def _arm(answer: Any) -> str | None:
    """Returns the name of the arm of an answer; None if there is no answer."""
    if answer is None:
        return None
    [oneof] = [item for item in answer.DESCRIPTOR.oneofs if not filled_messages.synthetic(item)]
    return str(answer.WhichOneof(oneof.name))
