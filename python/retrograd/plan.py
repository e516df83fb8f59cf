"""A plan as Python sees it: what a run will keep, recompute and take."""

import collections
import functools
import json
import os

from . import errors

PICOSECONDS = 1e12  # of a second

CurvePoint = collections.namedtuple("CurvePoint", "bytes seconds chosen")
CurvePoint.__doc__ = """A plan at one budget: its peak, predicted seconds of a run, and whether it is the plan that was asked for."""


class Plan:
    """How a run uses memory; it prints in six lines, and `explain()` says all. `bytes_peak`, and `bytes_spilled` on disk, are exact. `seconds` is predicted, for one thread of a machine like the one
    that prices were measured on; `None` where it was loaded from a file.

    The rest is there for a plan that was made, not for one that was loaded:

        plan = rg.value_and_grad(loss, budget="16 MB").plan(x)
        plan.gap                                        # 0.03: a plan in this memory could be 3 % faster at most, by the same prices
        plan.data["loops"][0]["forward_steps"]          # all that the text says, as dicts and lists
        [(p.bytes, p.seconds) for p in plan.curve]      # what more or less memory would be worth
        plan.save_pictures("pictures")                  # curve.svg, and the schedule of each loop
    """

    def __init__(self, executable, unrolled=(), hidden=(), whole=None):
        self.bytes_peak, self.bytes_spilled = executable.bytes_peak, executable.bytes_spilled
        self._executable, self._unrolled, self.hidden, self._whole = executable, dict(unrolled), tuple(hidden), whole

    @functools.cached_property
    def _planned(self):
        """The executable with all of its plan: one that was found on disk is planned again for it."""
        return self._executable if self._whole is None else self._whole()

    @property
    def seconds(self):
        """Predicted seconds of a run; None where it was loaded from a file."""
        return self._planned.seconds_planned

    def explain(self):
        """The whole plan in words: every loop with its schedule, every value that could be kept with its fate and why, and what was unrolled."""
        return "\n".join([self._executable.plan().rstrip("\n"), *(f"  unrolled: {words}" for words in self._unrolled_words()), *(f"  read from outside at each call: {name}" for name in self.hidden)])

    def __str__(self):
        return "\n".join(self._summary())

    __repr__ = __str__

    def named_fates(self, fates):
        """The values that could be kept, by the lines that make them, with the fates of functions (file, first line, last line, fate) whose lines these are."""
        residuals = [*self.data["residuals"], *(residual for loop in self.data["loops"] for residual in loop["residuals"])]
        found = {}
        for origin in {residual["origin"].rpartition(" at ")[2] for residual in residuals}:
            file, _, line = origin.rpartition(":")
            for source, first, last, fate in fates:
                if line.isdigit() and first <= int(line) <= last and source.endswith(file):
                    found[origin] = fate
        return found

    def _repr_html_(self):
        import html

        rows = "".join(f"<tr><td style='text-align:left'>{html.escape(line)}</td></tr>" for line in self._summary())
        return f"<table>{rows}</table>"

    def _summary(self):
        lines = self._executable.plan().splitlines()
        whole = [line for line in lines if line and not line.startswith(" ")]
        by, _, peak = whole[0].partition(": ")
        budget = next((line for line in whole if line.startswith("budget")), "no budget")
        rest = [line for line in whole[1:] if line != budget]
        at_peak = [line.strip().removeprefix("at the peak: ") for line in lines if line.startswith("  at the peak: ")]
        loops = [line.strip() for line in lines if line.lstrip().startswith("loop at ")]
        others = [line.strip() for line in lines if line.startswith("  ") and not line.startswith("   ") and "at the peak:" not in line]
        return [
            f"{peak}, {budget}, {by}",
            *rest[:2],
            f"at the peak: {_few(at_peak) or 'nothing'}",
            _few([*loops, *others]) or "no loops to reverse",
            f"unrolled: {_few(self._unrolled_words()) or 'nothing'}" + (f"; read from outside: {_few(list(self.hidden))}" if self.hidden else ""),
        ]

    def _unrolled_words(self):
        return [f"{count} copies of the body at {file}:{line}" for (file, line), count in self._unrolled.items()]

    @functools.cached_property
    def data(self):
        """The whole plan as dicts and lists: the peak and its parts, predicted work in picoseconds, its least and its bound, every loop with its schedule, and
        every value that could be kept with its bytes, its fate and why."""
        return json.loads(self._made(self._planned.plan_json()))

    @property
    def seconds_bound(self):
        """No plan in so many bytes takes less, by the same prices."""
        return self.data["work_bound"] / PICOSECONDS

    @property
    def gap(self):
        """How far `seconds` is above `seconds_bound`: 0.03 is 3 %."""
        # What takes no work is not above its bound.
        return max(self.data["work"], 1) / max(self.data["work_bound"], 1) - 1

    @property
    def curve(self):
        """Predicted seconds against memory, a list of `CurvePoint` by ascending bytes, from the least budget that works to none; the plan that was asked for is on
        it. The first time, that takes as long as to plan some twenty times."""
        return [CurvePoint(point["bytes"], point["work"] / PICOSECONDS, point["chosen"]) for point in json.loads(self._curve[0])]

    def save_pictures(self, folder):
        """Writes the curve and the schedule of each loop into a folder, as SVG; returns the paths."""
        pictures = [*self._planned.pictures(), ("curve.svg", self._curve[1])]
        paths = [os.path.join(folder, name) for name, _ in pictures]
        os.makedirs(folder, exist_ok=True)
        for path, (_, picture) in zip(paths, pictures):
            with open(path, "w") as file:
                file.write(picture)
        return paths

    @functools.cached_property
    def _curve(self):
        return self._made(self._planned.curve())

    @staticmethod
    def _made(found):
        if found is None:
            raise errors.Unsupported("a plan that was loaded from a file prints, and has its bytes; for the rest compile the function again")
        return found


def _few(words, most=3):
    """The first of several, in one line."""
    more = len(words) - most
    return "; ".join(words[:most]) + (f"; and {more} more (`plan.explain()`)" if more > 0 else "")
