"""The check of timeouts that users pass."""

from __future__ import annotations

import math


def check_timeouts(**timeouts: float | None) -> None:
    """Checks that timeouts, passed by their names, are numbers of seconds or None.

    NaN compares with nothing, so a wait for it would never end, and would hold up other waits that
    share its timer.

    Raises:
        ValueError: one is NaN.
    """
    for name, seconds in timeouts.items():
        if seconds is not None and math.isnan(seconds):
            raise ValueError(f"{name} must be a number of seconds, not {seconds}")
