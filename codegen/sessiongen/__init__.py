"""sessiongen: typed Python from a protocol of requests, responses and events.

It generates dispatch tables, request handlers, an event sink, event listeners and a client,
and checks that they still match the protocol.
"""

__version__ = "0.1.0"
