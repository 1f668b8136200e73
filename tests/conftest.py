"""Property tests take the same inputs in every run, so that a run says something of the code alone.

`make fuzz` looks further: it takes the profile `explore`, with inputs of its own and more of them.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("steady")
