# SPDX-License-Identifier: Apache-2.0
"""Medians, intervals, and whether a bar is met."""

import random
import statistics
from dataclasses import dataclass

RESAMPLES = 2000


def ratio_interval(ours, theirs, seed=1):
    """The ratio of the medians, and where it lies with 95 % by resampling both sides."""
    dice = random.Random(seed)

    def again(values):
        return statistics.median(dice.choices(values, k=len(values)))

    ratio = statistics.median(ours) / statistics.median(theirs)
    many = sorted(again(ours) / again(theirs) for _ in range(RESAMPLES))
    return {"ratio": ratio, "low": many[int(RESAMPLES * 0.025)],
            "high": many[int(RESAMPLES * 0.975) - 1], "n": min(len(ours), len(theirs))}


def difference_interval(differences, seed=1):
    """The median of paired differences, and where it lies with 95 % by resampling the pairs."""
    dice, n = random.Random(seed), len(differences)
    many = sorted(statistics.median(dice.choices(differences, k=n)) for _ in range(RESAMPLES))
    return {"median": statistics.median(differences), "low": many[int(RESAMPLES * 0.025)],
            "high": many[int(RESAMPLES * 0.975) - 1], "n": n}


@dataclass
class Verdict:
    what: str
    value: float | None   # None: not measured
    bar: float
    unit: str = "x"
    detail: str = ""
    at_least: bool = False  # the value must not be lower; else it must not be higher

    @property
    def word(self):
        if self.value is None:
            return "NOT MEASURED"
        met = self.value >= self.bar if self.at_least else self.value <= self.bar
        return "PASS" if met else "FAIL"

    def line(self):
        value = "-" if self.value is None else f"{self.value:.3f}"
        bar = f"{'>= ' if self.at_least else ''}{self.bar:g}"
        return (f"{self.word:13}{self.what:52}{value:>9} {self.unit:3} bar {bar} {self.unit}"
                f"  {self.detail}")

    def as_json(self):
        return {"what": self.what, "value": self.value, "bar": self.bar, "unit": self.unit,
                "at_least": self.at_least, "verdict": self.word, "detail": self.detail}


def against(what, ours, theirs, bar):
    """A bar on the ratio of two lists of times."""
    if not ours or not theirs:
        return Verdict(what, None, bar)
    found = ratio_interval(ours, theirs)
    return Verdict(what, found["ratio"], bar,
                   detail=f"{found['low']:.3f} to {found['high']:.3f}, n = {found['n']}")


def show(verdicts):
    print()
    for verdict in verdicts:
        print(verdict.line())
    return [verdict.as_json() for verdict in verdicts]
