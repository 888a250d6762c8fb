"""What the peers written in Python share: the same inputs as our side, the same timing, the same answers over a pipe."""

import csv
import json
import os
import sys
import time

import numpy as np

MILLION = 1_000_000
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/data/lynx_hare.csv")


def wave(shape, dtype, phase, scale=1.0, offset=0.0):
    """sin(phase + 0.7 i) * scale + offset, computed in f64 and rounded to the dtype."""
    i = np.arange(int(np.prod(shape)), dtype=np.float64)
    return (np.sin(phase + 0.7 * i) * scale + offset).reshape(shape).astype(dtype)


def span_of_three(count, dtype):
    """count numbers from -3 to 3."""
    return (-3 + 6 * np.arange(count, dtype=np.float64) / (count - 1)).astype(dtype)


def lynx_hare_data():
    with open(DATA, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(r[name]) for r in rows]) for name in ("hare", "lynx")}


def kalman_observations():
    t = np.arange(500.0)
    return 0.05 * t + np.sin(0.1 * t) + 0.3 * np.cos(17.0 * t)


def fingerprint(results):
    """Number of elements, sum, sum of magnitudes and a weighted sum of all results."""
    if not results:
        return []
    flat = np.concatenate([np.asarray(r, dtype=np.float64).ravel() for r in results])
    weights = (np.arange(flat.size) % 97 + 1) / 97
    return [float(flat.size), float(flat.sum()), float(np.abs(flat).sum()), float((flat * weights).sum())]


def microseconds(f):
    start = time.perf_counter_ns()
    f()
    return (time.perf_counter_ns() - start) / 1e3


class Work:
    """run(n) does the work n times and returns when the last is done; result() gives what is compared;
    figure(), where there is one, gives the figure itself instead of a time of run."""

    def __init__(self, run=None, result=lambda: [], figure=None):
        self.run, self.result, self.figure = run, result, figure


def best_time(work, budget_ms):
    """The least time of one run among samples of at least 200 us each, within the budget."""
    spent = 0.0
    if work.figure:
        best = work.figure()
        while spent < 1e3 * budget_ms:
            start = time.perf_counter()
            best = min(best, work.figure())
            spent += (time.perf_counter() - start) * 1e6
        return best
    one = max(0.01, microseconds(lambda: work.run(1)))
    n = int(min(max(200 / one, 1), 1e5))
    best, samples = float("inf"), 0
    while samples < 3 or spent < 1e3 * budget_ms:
        sample = microseconds(lambda: work.run(n))
        spent += sample
        samples += 1
        best = min(best, sample / n)
    return best


def serve(works, cold=None):
    """The main program of a peer: --serve, --cold NAME, or a pattern to time this side alone."""
    cold = cold or {}
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first == "--cold":
        us, results = cold[sys.argv[2]]()
        print(json.dumps({"us": us, "check": fingerprint(results)}), flush=True)
        return
    ready = {}

    def answer(command, name, budget_ms=100.0):
        try:
            if name not in ready:
                ready[name] = works[name]()
            if command == "check":
                return {"check": fingerprint(ready[name].result())}
            return {"us": best_time(ready[name], float(budget_ms))}
        except Exception as e:  # whatever goes wrong in a peer is its answer
            return {"error": f"{type(e).__name__}: {e}"}

    if first == "--serve":
        for line in sys.stdin:
            words = line.split()
            if words[0] == "quit":
                return
            print(json.dumps(answer(*words)), flush=True)
        return
    for name in works:
        if first in name:
            check = answer("check", name)
            print(f"{name:22} {answer('time', name, 200)} {check}", flush=True)
