"""Proposes the messages with a role for a new codegen.toml.

`role_inference` finds the roles of protocols that follow the naming conventions. This module
proposes more, because users review the output of `init`: it knows other names for the roles,
prefers unions of the input file to those of its imports, and unions with many arms, and leaves out
messages that are only a part of another message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sessiongen.config.model import Config
from sessiongen.frontend.annotations import Annotated
from sessiongen.init.answer_proposals import answers_all, answers_requests, marks_answers
from sessiongen.init.correlation_proposals import correlated
from sessiongen.init.directions import opposite
from sessiongen.init.role_words import (
    WORDS,
    describes_event,
    has_role_name,
    has_weak_name,
    pair_key,
)
from sessiongen.init.shared_message import divided
from sessiongen.ir.role_inference import search
from sessiongen.ir.roles import RoleMessage, name_of, role_message
from sessiongen.ir.schema import Message, Schema
from sessiongen.ir.unions import contained, plain_payloads, unions

ROLES = ("event", "request", "response")


@dataclass
class RoleProposal:
    """Roles for a new configuration.

    names: the keys of [roles] with their values; an empty tuple is `false`.
    open: the candidates for each role that the user has to choose.
    """

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    open: dict[str, tuple[str, ...]] = field(default_factory=dict)


def propose_roles(
    schema: Schema, roots: tuple[str, ...], config: Config, annotated: Annotated
) -> RoleProposal:
    """Returns the messages that are proposed for each role.

    roots: the files that no other file of the protocol imports.
    """
    return _Proposer(schema, roots, config, annotated).proposal()


class _Proposer:
    """Chooses a message for each role, one kind of evidence after the other."""

    def __init__(
        self, schema: Schema, roots: tuple[str, ...], config: Config, annotated: Annotated
    ) -> None:
        self.schema = schema
        self.chosen: dict[str, RoleMessage] = {}
        self.absent: set[str] = set()
        result = search(schema, config, annotated)
        self.envelope = result.messages.get("envelope")
        all_unions = unions(schema)
        named = [item for item in all_unions if item.file in roots]
        carrying = [item for item in named if self._carries_unions(item)]
        if self.envelope is None and named and not _carries_roles(carrying, result.open):
            result = search(replace(schema, own=roots), config, annotated)
            all_unions = named
            self.envelope = result.messages.get("envelope")
        elif not named:
            reachable = contained(
                schema, [item.full_name for item in schema.own_messages() if item.file in roots]
            )
            all_unions = [item for item in all_unions if item.full_name in reachable] or all_unions
        self.carriers = [item for item in all_unions if self._carries_unions(item)]
        carriers = {item.full_name for item in self.carriers}
        parts = self._parts(carriers)
        candidates = [item for item in all_unions if item.full_name not in parts]
        # Messages that carry unions are envelopes, unless there are no other messages.
        candidates = [it for it in candidates if it.full_name not in carriers] or candidates
        self.unions = sorted(map(_with_largest, candidates), key=lambda item: -len(item.arms))
        for role in ROLES:
            message = result.messages.get(role)
            if message is not None and not self._is_payload(message, role):
                self.chosen[role] = message

    def proposal(self) -> RoleProposal:
        """Returns the proposal."""
        shared = self._shared_message()
        if shared is not None:
            return shared
        self._choose_by_envelope()
        self._choose_direction()
        self._choose_pair()
        self._choose_by_arms()
        for role in ROLES:
            self._choose_by_name(role)
        self._choose_partner()
        self._split_from_events()
        self._choose_only_union()
        return self._result()

    def _shared_message(self) -> RoleProposal | None:
        """Returns the roles of a message that carries requests and responses alike."""
        if self.chosen:
            return None
        for item in self.unions:
            division = divided(item)
            if division is None:
                continue
            name = (name_of(item),)
            return RoleProposal(
                {
                    "event": name if division.events else (),
                    "request": name,
                    "response": name,
                    "requests": division.requests,
                    "responses": division.responses,
                }
            )
        return None

    def _choose_by_envelope(self) -> None:
        """Chooses the messages of an envelope whose arms have the names of roles."""
        if len(self.chosen) == len(ROLES):
            return
        envelopes = [self.envelope] if self.envelope else map(_with_largest, self.carriers)
        carried = [(envelope, self._named_payloads(envelope)) for envelope in envelopes]
        fitting = [item for item in carried if self._fits(item[1])]
        if len(fitting) == 1:
            self.envelope, self.chosen = fitting[0]

    def _fits(self, payloads: dict[str, RoleMessage]) -> bool:
        """Whether there are a request and a response, and the payloads have no other role."""
        return {"request", "response"} <= set(payloads) and all(
            role in payloads and payloads[role].full_name == message.full_name
            for role, message in self.chosen.items()
        )

    def _named_payloads(self, envelope: RoleMessage) -> dict[str, RoleMessage]:
        """Returns the unions in arms that have the names of roles, by role."""
        return {
            role: _with_largest(payload)
            for role in ROLES
            for arm in envelope.arms
            if arm.name in WORDS[role]
            for payload in [self.schema.messages.get(arm.value.type_name)]
            if payload is not None and payload.oneofs
        }

    def _choose_pair(self) -> None:
        """Chooses the largest pair of messages such as FooRequest and FooResponse."""
        pairs = list(self._pairs())
        known = self.chosen.get("request")
        if (
            not pairs
            or "response" in self.absent
            or (known and ("response" in self.chosen or self.envelope))
        ):
            return
        largest = [pair for pair in pairs if len(pair[0].arms) == len(pairs[0][0].arms)]
        if len(largest) == 1 and (known is None or len(known.arms) <= len(largest[0][0].arms)):
            self.chosen["request"], self.chosen["response"] = largest[0]

    def _pairs(self) -> Iterator[tuple[RoleMessage, RoleMessage]]:
        """Yields the messages whose names are those of a request and its response.

        A response of another name is taken if its arms show that it answers the request.
        """
        responses = {
            key: item for item in self.unions if (key := pair_key(item, "response")) is not None
        }
        for item in self.unions:
            response = responses.get(pair_key(item, "request") or ())
            if response is None:
                continue
            if not answers_requests(item, response):
                others = [other for other in responses.values() if answers_all(item, other)]
                response = others[0] if len(others) == 1 else response
            yield item, response

    def _choose_direction(self) -> None:
        """Chooses two messages whose names show their direction.

        The second one has responses if a field correlates it with the first one, or if the names
        of all arms show that they answer each other. It has events otherwise.
        """
        most = max((len(item.arms) for item in self.chosen.values()), default=0)
        for item in self.unions if self.envelope is None else ():
            other = opposite(item, self.unions)
            if other is None or len(item.arms) < most or _have_one_role(item, other):
                continue
            if correlated(item, other) or answers_all(item, other):
                event = self.chosen.get("event")
                self.chosen = {"request": item, "response": other}
                if event is not None and event not in (item, other):
                    self.chosen["event"] = event
            else:
                self.chosen = {"request": item, "event": other}
                self.absent.add("response")
            return

    def _choose_by_arms(self) -> None:
        """Chooses two messages if the names of their arms show that one answers the other."""
        if self.envelope or self.absent or {"request", "response"} & set(self.chosen):
            return
        free = self._free()
        pairs = [(one, two) for one in free for two in free if marks_answers(one, two)]
        if len(pairs) == 1:
            self.chosen["request"], self.chosen["response"] = pairs[0]

    def _choose_partner(self) -> None:
        """Chooses the only message whose arms fit to those of a request or a response."""
        request, response = self.chosen.get("request"), self.chosen.get("response")
        if self.absent or (request is None) == (response is None):
            return
        role = "request" if request is None else "response"
        fitting = [item for item in self._free() if answers_all(request or item, response or item)]
        if len(fitting) == 1:
            self.chosen[role] = fitting[0]

    def _choose_by_name(self, role: str) -> None:
        if role in self.chosen or role in self.absent:
            return
        candidates = [
            item
            for item in self._free()
            if has_role_name(item, role)
            if not self.chosen or not has_weak_name(item) or self._comparable([item])
        ]
        if len(candidates) == 1 or (
            candidates and len(candidates[0].arms) > 2 * len(candidates[1].arms)
        ):
            self.chosen[role] = candidates[0]

    def _split_from_events(self) -> None:
        """Uses a response as the event if its arms do not answer the requests."""
        request, response = self.chosen.get("request"), self.chosen.get("response")
        if request is None or response is None or "event" in self.chosen or self.envelope:
            return
        if not correlated(request, response) and not answers_requests(request, response):
            self.chosen["event"] = self.chosen.pop("response")
            self.absent.add("response")

    def _choose_only_union(self) -> None:
        """Chooses the only union as the event if half of its arms describe events."""
        if self.chosen or len(self.unions) != 1:
            return
        arms = self.unions[0].arms
        if 2 * sum(describes_event(arm.name) for arm in arms) >= len(arms):
            self.chosen["event"] = self.unions[0]

    def _result(self) -> RoleProposal:
        result = RoleProposal()
        if self.envelope is not None:
            result.names["envelope"] = (name_of(self.envelope),)
        free = self._free()
        for role in ROLES:
            if role in self.chosen:
                message = self.chosen[role]
                result.names[role] = (name_of(message),) if message.present else ()
                continue
            # A message with the name of another role is not a candidate.
            others = [
                it
                for it in free
                if not any(has_role_name(it, name) for name in ROLES if name != role)
            ]
            candidates = tuple(map(name_of, others))
            if role in self.absent or (self.chosen and not self._comparable(others)):
                result.names[role] = ()
            else:
                result.open[role] = candidates
        if result.names.get("request") == () and "response" in result.open:
            del result.open["response"]
        return result

    def _comparable(self, candidates: Iterable[RoleMessage]) -> bool:
        """Whether a candidate has at least a tenth of the arms of the largest chosen message."""
        most = max(len(item.arms) for item in self.chosen.values())
        return any(10 * len(item.arms) >= most for item in candidates)

    def _free(self) -> list[RoleMessage]:
        """Returns the unions without a role that no chosen message can contain."""
        chosen = {item.full_name for item in self.chosen.values() if item.present}
        parts = contained(self.schema, chosen)
        if self.envelope is not None:
            chosen.add(self.envelope.full_name)
        return [item for item in self.unions if item.full_name not in chosen | parts]

    def _is_payload(self, message: RoleMessage, role: str) -> bool:
        """Whether a larger union has a message in an arm that is not named like the role."""
        return self.envelope is None and any(
            len(item.arms) > len(message.arms)
            and any(
                arm.value.type_name == message.full_name and arm.name not in WORDS[role]
                for arm in item.arms
            )
            for item in self.unions
        )

    def _carries_unions(self, message: Message) -> bool:
        """Whether at least half of the arms of a message, and at least two, are unions.

        Several payloads that are named like one role do not count.
        """
        arms = [arm for oneof in message.oneofs for arm in oneof.arms]
        plain = plain_payloads(self.schema, message)
        names = [arm.value.type_name for arm in arms if arm.value.type_name not in plain]
        items = [self.schema.messages.get(name) for name in names]
        count = sum(item is not None and bool(item.oneofs) for item in items)
        return count > 1 and 2 * count >= len(arms)

    def _parts(self, carriers: set[str]) -> set[str]:
        """Returns the messages of singular fields of messages that are not carriers."""
        return {
            item.value.type_name
            for message in self.schema.own_messages()
            if message.full_name not in carriers
            for item in message.fields
            if not item.repeated and item.key is None
            if item.value.type_name != message.full_name
        }


def _carries_roles(unions: Iterable[Message], open_: dict[str, tuple[str, ...]]) -> bool:
    """Whether a union carries messages that may have two different roles."""
    return any(
        sum(not payloads.isdisjoint(names) for names in open_.values()) > 1
        for union in unions
        for payloads in [{arm.value.type_name for oneof in union.oneofs for arm in oneof.arms}]
        if len(payloads) > 1
    )


def _have_one_role(first: Message, second: Message) -> bool:
    """Whether both sides send requests, or both send responses."""
    return any(
        has_role_name(first, role) and has_role_name(second, role)
        for role in ("request", "response")
    )


def _with_largest(message: Message) -> RoleMessage:
    oneof = max(message.oneofs, key=lambda item: len(item.arms))
    return role_message(message, oneof, oneof.arms)
