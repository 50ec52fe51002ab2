"""How a twin is looked for: climbs from many beginnings, the most promising first."""

from __future__ import annotations

import concurrent.futures as cf
import itertools
import math
from dataclasses import dataclass

import numpy as np

from ._extras import needs
from ._objective import LOSS, Choice, Found, Objective, TwinError

#: What is programmed at once takes this long: with page size and dies it says how fast a drive writes.
PROGRAM = "nand.program_us"
BUFFER = "buffer.write_kib"
#: Buffers from which a climb begins where a diagnosis tells what is spare: deviations from the median.
BUFFERS = (-1.0, 0.0, 1.0)
#: Combinations of choices that are climbed from first, and rounds of a climb then and when it is looked at closely.
FIRST = 8
FIRST_ROUNDS, LAST_ROUNDS = 1, 6
#: Steps of the optimiser in a round, the first of which measures the slopes; each other corrects them by
#: what it met (Broyden 1965), which costs no review.
STEPS = 4
#: How long a first step is at most, as a logarithm, and how far bounds are from where a climb begins.
FIRST_STEP, CLEAR = 0.5, 1e-3
#: A round ends when a step gains less than this share of the cost, and a climb when a round does.
GAIN = 0.01
#: Relative steps of each parameter to either side of what was found: buffers and blocks come in whole
#: rows, and a slope over less than one leads nowhere.
NEAR = (0.02, 0.05, 0.15)
#: Values of each parameter, over all of its range, from which another climb may begin, where the
#: cost is not too far from what was found.
LOOKS, BEGIN = 7, 2.5
#: What is found is better when it costs this much of what was found before, or less.
BETTER = 0.95
#: Page size, dies and program time write as fast together with half of one and half or twice of
#: another: the neighbours of what was found are looked for with its program time so many times as long.
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Rows of the buffer, beside what was found.
ROWS = (-2, -1, 1, 2)
#: Neighbours and values from afar that are climbed from at once.
SOME = 3
#: The same for what goes in steps.
STEPS_AWAY = 6
#: Beginnings that are settled without anything better before the search ends, where the data are met as
#: well as is assumed, or goes farther.
IN_VAIN = 2
#: A beginning whose climb ends this many times worse than the best is not settled.
HOPELESS = 10.0
#: What was climbed a little only is as promising as what was climbed closely and costs so much of it.
UNCLIMBED = 0.3
#: Root mean square of what it is off, in standard deviations, with which a search ends at once, and
#: with which it need not go farther.
MET, AS_ASSUMED = 0.25, 1.0
#: The same where a diagnosis tells what is spare or the buffer: those are what a search without one goes on for.
MET_DIAGNOSED = 0.5
#: The same from where on the best is likely of a wrong choice, so that others are looked for before it is settled.
FAR = 2.0
#: How far the search goes then: values drawn about the best, with this deviation of their logarithms, and how many.
WIDTHS = (0.1, 0.3, 0.6, 1.0)
DRAWN = 24


@dataclass(frozen=True, eq=False)
class Beginning:
    """Where the search may go on: what was climbed a little, or, `climbed`, closely and is not settled."""

    found: Found
    climbed: bool


@dataclass(frozen=True)
class Outcome:
    """What a search found."""

    found: Found
    #: The least cost that was met with each choice.
    costs: dict[Choice, float]


class Search:
    """The search for one twin. No climb begins after `most_reviews`."""

    def __init__(self, objective: Objective, most_reviews: int) -> None:
        self.objective, self.most_reviews = objective, most_reviews
        self.costs: dict[Choice, float] = {}
        self.beginnings: list[Beginning] = []
        self.random = np.random.default_rng(objective.task.seed)

    def run(self) -> Outcome:
        # Where an interval is told, from its middle: the neighbours come when the others are known.
        begin = ((one.median,) if one.found else one.choices for one in self.objective.discrete)
        starts = self.found([(choice, logs) for choice in itertools.product(*begin) for logs in self.starts(choice)])
        if not self.objective.reviews:
            raise TwinError(f"no candidate can be put through the methods of the records: {self.objective.refusal}")
        self.begin_from(self.climb_a_little(starts, FIRST))
        best = min(self.beginnings, key=lambda it: it.found.cost).found
        in_vain, widths, beside = 0, iter(WIDTHS), math.inf
        while self.objective.reviews < self.most_reviews:
            if not self.beginnings or in_vain >= IN_VAIN:
                width = next(widths, None)
                if width is None or self.objective.misfit(best) <= AS_ASSUMED:
                    break
                self.begin_from(self.climb_a_little(self.drawn(best, width), SOME))
                in_vain = 0
            begin = self.most_promising()
            self.beginnings.remove(begin)
            found = self.settle(begin.found) if begin.climbed else self.climb(begin.found, LAST_ROUNDS)
            self.remember([found])
            gains, is_better = found.cost <= BETTER * begin.found.cost, found.cost <= BETTER * best.cost
            best = min(best, found, key=lambda it: it.cost)
            if self.objective.misfit(best) <= (MET_DIAGNOSED if self.objective.is_diagnosed else MET):
                break
            is_done = begin.climbed and not gains or found.cost > HOPELESS * best.cost
            if not is_done:
                self.beginnings.append(Beginning(found, climbed=True))
            if is_better:
                in_vain, widths = 0, iter(WIDTHS)
            elif is_done:
                in_vain += 1
            if best.cost <= BETTER * beside and (is_done or self.objective.is_diagnosed or self.objective.misfit(best) > FAR):
                self.begin_from(self.beside(best))
                beside = best.cost
        return Outcome(best, self.costs)

    def most_promising(self) -> Beginning:
        """The most promising: a climb gains more than what is looked for after it, for less."""
        return min(self.beginnings, key=lambda it: it.found.cost * (1.0 if it.climbed else UNCLIMBED))

    def begin_from(self, found: list[Found]) -> None:
        self.beginnings += [Beginning(one, climbed=False) for one in found]

    # Where climbs begin

    def start(self, choice: Choice) -> np.ndarray:
        """Where the search of the others begins: the priors' medians, with what is programmed a
        second as it was measured, whatever the pages and dies."""
        objective = self.objective
        values = {one.key: one.median for one in objective.free}
        written = [name for name in objective.names if "sequential_write" in name]
        rate = objective.rate_of(written[0]) if written else None
        if rate is not None and PROGRAM in values:
            of = objective.shape(choice)
            row = of("nand.dies") * of("nand.planes") * of("nand.page_bytes")
            values[PROGRAM] = row / (math.exp(objective.measured[rate]) * 131072) * 1e6
        logs = [math.log(min(max(values[one.key], one.low * 1.01), one.high * 0.99)) for one in objective.free]
        return np.array(logs)

    def starts(self, choice: Choice) -> list[np.ndarray]:
        """Where the climbs of a choice begin: where a diagnosis leaves few, from several sizes of the buffer, which has
        valleys of its own."""
        logs, place = self.start(choice), self.objective.place(BUFFER)
        if place is None or not self.objective.is_diagnosed:
            return [logs]
        low, high = self.objective.bounds()
        moved = (logs + times * self.objective.free[place].spread * np.eye(len(logs))[place] for times in BUFFERS)
        return [np.clip(it, low, high) for it in moved]

    def beside(self, best: Found) -> list[Found]:
        """The neighbours of the best that a round makes better than all that was met with their choice."""
        before = dict(self.costs)
        climbed = self.climb_a_little(self.neighbours(best), 1 if self.objective.is_diagnosed else SOME)
        return [found for found in climbed if found.cost < before.get(found.choice, math.inf)]

    def neighbours(self, best: Found) -> list[Found]:
        """The other choices with one or two values next to the best one's, and buffers of a row or two less and more; the
        others as they were found, but where pages or dies are others, the program time of least cost."""
        discrete = self.objective.discrete
        values = [one.choices for one in discrete]
        at = [of.index(value) for of, value in zip(values, best.choice)]
        program = self.objective.place(PROGRAM)
        low, high = self.objective.bounds()
        there = [(best.choice, logs) for logs in rows_beside(self.objective, best.choice, best.logs)]
        for choice in itertools.product(*values):
            apart = [abs(of.index(value) - here) for of, value, here in zip(values, choice, at)]
            if max(apart, default=0) != 1 or sum(apart) > 2:
                continue
            writes_as_fast = program is not None and any(by and not one.found for by, one in zip(apart, discrete))
            for times in TIMES if writes_as_fast else (1.0,):
                logs = best.logs.copy()
                if writes_as_fast:
                    logs[program] += math.log(times)
                there.append((choice, np.clip(logs, low, high)))
                if not writes_as_fast:
                    there += [(choice, logs) for logs in rows_beside(self.objective, choice, logs)]
        least: dict[Choice, Found] = {}
        for found in self.found(there):
            if found.choice not in least or found.cost < least[found.choice].cost:
                least[found.choice] = found
        return list(least.values())

    def drawn(self, best: Found, width: float) -> list[Found]:
        """Values about the best, with its choice."""
        low, high = self.objective.bounds()
        by = self.random.normal(0.0, width, (DRAWN, len(best.logs)))
        return self.found([(best.choice, logs) for logs in np.clip(best.logs + by, low, high)])

    def found(self, at: list[tuple[Choice, np.ndarray]]) -> list[Found]:
        """These values with their costs, which are remembered."""
        return self.remember(self.objective.found(at))

    def remember(self, found: list[Found]) -> list[Found]:
        for one in found:
            self.costs[one.choice] = min(self.costs.get(one.choice, math.inf), one.cost)
        return found

    # Climbs

    def climb_a_little(self, of: list[Found], count: int) -> list[Found]:
        """What a round makes of the best of these."""
        begin = sorted(of, key=lambda it: it.cost)[:count]
        if not begin:
            return []
        # All at once: each waits for its own reviews, and the executor has them all.
        with cf.ThreadPoolExecutor(len(begin)) as threads:
            return self.remember(list(threads.map(lambda it: self.climb(it, FIRST_ROUNDS), begin)))

    def climb(self, begin: Found, rounds: int) -> Found:
        """The best values of the others for a choice, by so many rounds of steps.

        Far from the data, what is a few deviations off says nothing yet, and what was assumed should not
        be given up for it: the data count as much less as they are off, until that leads nowhere."""
        less = max(1.0, self.objective.misfit(begin) / LOSS)
        for _ in range(rounds if self.objective.free else 0):
            found = self.round(begin, less)
            gains = found.cost <= (1.0 - GAIN) * begin.cost
            begin = min(found, begin, key=lambda it: it.cost)
            if not gains and less == 1.0:
                break
            less = max(1.0, self.objective.misfit(begin) / LOSS) if gains else 1.0
        return begin

    def round(self, begin: Found, less: float) -> Found:
        """A few steps of SciPy's trust region, with slopes that are measured once and data that count so much less."""
        least_squares = needs("scipy.optimize", "twin", "a twin").least_squares

        objective, choice = self.objective, begin.choice
        low, high = objective.bounds()
        origin = np.clip(begin.logs, low, high)
        weights = np.ones(len(objective.measured) + len(origin))
        weights[: len(objective.measured)] /= less
        met: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

        # From nought, since SciPy's first step is at most as long as what it begins with is large, and one
        # otherwise.
        def residuals(step: np.ndarray) -> np.ndarray:
            return weights * objective.residuals(choice, origin + step)

        def slopes(step: np.ndarray) -> np.ndarray:
            here = residuals(step)
            if met:
                before, then, known = met[-1]
                by = step - before
                there = known + np.outer(here - then - known @ by, by) / (by @ by)
            else:
                there = weights[:, None] * objective.slopes(choice, origin + step)
            met.append((step.copy(), here, there))
            return there

        result = least_squares(
            residuals, np.zeros(len(origin)), slopes, bounds=(low - origin - CLEAR, high - origin + CLEAR), loss="soft_l1",
            x_scale=FIRST_STEP, max_nfev=STEPS, f_scale=LOSS, ftol=GAIN,
        )
        (found,) = objective.found([(choice, np.clip(origin + result.x, low, high))])
        return found

    def settle(self, found: Found) -> Found:
        """Better values of the others for a choice, looked for beside what a climb found, then a step of what
        goes in steps away, and then from afar: a climb ends in the nearest valley, and a command's cost
        has one for every figure it may limit."""
        for look in self.near, self.a_step_away, self.from_afar:
            begin = min(look(found), key=lambda it: it.cost, default=found)
            if begin.cost <= BETTER * found.cost:
                return self.climb(begin, LAST_ROUNDS)
        return found

    def near(self, found: Found) -> list[Found]:
        return self.found([(found.choice, logs) for way in moved(self.objective, found) for logs in way])

    def a_step_away(self, found: Found) -> list[Found]:
        """What goes in whole blocks or rows moved by a few, from where slopes do not see, and climbed from;
        far from the data it is not what they are off by."""
        if self.objective.misfit(found) > FAR:
            return []
        low, high = self.objective.bounds()
        there = []
        for place, one in enumerate(self.objective.free):
            for step in (*NEAR, *(-step for step in NEAR)) if one.whole or one.key == "over_provisioning" else ():
                logs = found.logs.copy()
                logs[place] += step
                there.append((found.choice, np.clip(logs, low, high)))
        different = {}
        for one in [found, *self.found(there)]:
            (off,) = self.objective.evaluate([self.objective.settings(one.choice, one.logs)])
            different.setdefault(off.tobytes(), one)
        return self.climb_a_little([one for one in different.values() if one is not found], STEPS_AWAY)

    def from_afar(self, found: Found) -> list[Found]:
        """One of the others moved to that of some values over all of its range, farther than what is
        near, which costs least, and climbed from."""
        least = []
        slopes = self.objective.slopes(found.choice, found.logs)
        for place, one in enumerate(self.objective.free):
            there = []
            for log in np.linspace(math.log(one.low), math.log(one.high), LOOKS):
                logs = found.logs.copy()
                logs[place] = log
                # What nothing depends on need not be moved.
                if abs(log - found.logs[place]) > NEAR[-1] and np.any(slopes[: len(self.objective.measured), place]):
                    there.append((found.choice, logs))
            least += sorted(self.found(there), key=lambda it: it.cost)[:1]
        return self.climb_a_little([it for it in least if it.cost <= BEGIN * found.cost], SOME)


def moved(objective: Objective, found: Found) -> list[list[np.ndarray]]:
    """One of the others moved to either side by each of some small steps, the nearest first, and the rest with it by what the
    slopes say: what one parameter takes away, others may give back."""
    low, high = objective.bounds()
    slopes = objective.slopes(found.choice, found.logs)
    here = objective.residuals(found.choice, found.logs)
    ways = []
    for place in range(len(objective.free)):
        rest = np.delete(np.arange(len(objective.free)), place)
        # What nothing depends on need not be moved.
        if not np.any(slopes[: len(objective.measured), place]):
            continue
        for side in (-1.0, 1.0):
            way = []
            for step in NEAR:
                by = here + slopes[:, place] * side * step
                with_it = np.linalg.lstsq(slopes[:, rest], -by, rcond=None)[0]
                to = found.logs.copy()
                to[place] += side * step
                to[rest] += np.clip(with_it, -NEAR[-1], NEAR[-1])
                way.append(np.clip(to, low, high))
            ways.append(way)
    return ways


def rows_beside(objective: Objective, choice: Choice, logs: np.ndarray) -> list[np.ndarray]:
    """The same with a buffer of some rows less and more."""
    place, of = objective.place(BUFFER), objective.shape(choice)
    if place is None:
        return []
    row = of("nand.planes") * of("nand.page_bytes") / 1024
    low, high = objective.bounds()
    there = []
    for rows in ROWS:
        to = logs.copy()
        to[place] = math.log(max(1.0, round(math.exp(logs[place]) / row) + rows) * row)
        there.append(np.clip(to, low, high))
    return there
