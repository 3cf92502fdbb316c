# SPDX-License-Identifier: Apache-2.0
"""Waiting for what can only be seen from outside, always with a deadline."""

import time

INTERVAL_S = 0.005


def eventually(condition, what, timeout=10.0):
    """Returns the first true value of condition(), or fails after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what}; the last value was {value!r}")
        time.sleep(INTERVAL_S)
