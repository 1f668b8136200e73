"""Property tests take the same inputs in every run, so that a run says something of the code alone.

`make fuzz` looks further: it takes the profile `explore`, with inputs of its own. Neither has a
deadline, as a busy machine is no fault of the code.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("steady")
