"""sessiongen: typed Python from a protocol of requests, responses and events.

In: a .proto protocol. Out: dispatch tables, request handler skeletons, an event sink,
driver-side listeners and a client, with a drift check that keeps them so.
"""

__version__ = "0.1.0"
