"""The processes that bench/run asks in turn: ours, JAX, NumPy and plain C."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(ROOT, "build")
PEERS = os.path.join(HERE, "peers")

# Peers run with huge pages and keep their memory, as ours does; NumPy's BLAS picks the kernels of this processor.
TUNABLES = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296"


def peer_environment(**more):
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    return {**env, "GLIBC_TUNABLES": TUNABLES, **more}


def our_environment(cache):
    return {**os.environ, "STITHY_CACHE_DIR": cache}


def make_venv(upgrade=False):
    """A virtual environment with the newest JAX and NumPy that this Python takes; None when they cannot be had."""
    folder = os.path.join(BUILD, "bench-venv")
    python = os.path.join(folder, "bin", "python")
    made = os.path.join(folder, "made")
    if os.path.exists(made) and not upgrade:
        return python
    print("== installing JAX and NumPy into build/bench-venv", file=sys.stderr, flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "jax", "numpy"]
        subprocess.run(command, check=True)
    except (subprocess.CalledProcessError, OSError) as e:
        print(f"bench/run: no JAX and NumPy: {e}", file=sys.stderr)
        return None
    open(made, "w").close()
    return python


def make_c_peer():
    """Compiles peers/c_peer.c for this machine; None when that fails."""
    source, program = os.path.join(PEERS, "c_peer.c"), os.path.join(BUILD, "bench-c-peer")
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        wide = ["-mprefer-vector-width=512"] if os.uname().machine == "x86_64" else []
        command = ["gcc", "-O3", "-march=native", "-ffast-math", *wide, source, "-o", program, "-lm", "-lpthread"]
        try:
            subprocess.run(command, check=True)
        except (subprocess.CalledProcessError, OSError) as e:
            print(f"bench/run: no C peer: {e}", file=sys.stderr)
            return None
    return program


class Side:
    """One process that answers requests, started when first asked and again after a crash."""

    def __init__(self, name, command, env):
        self.name, self.command, self.env = name, command, env
        self.process = None

    def ask(self, request, timeout=600):
        """The answer as a dictionary; {"error": ...} for whatever goes wrong."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, env=self.env, cwd=BUILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        try:
            self.process.stdin.write((request + "\n").encode())
            self.process.stdin.flush()
            line = self._line(timeout)
            return json.loads(line)
        except (OSError, TimeoutError) as e:
            self.stop()
            return {"error": f"{self.name}: {e}"}
        except ValueError:
            return {"error": f"{self.name}: {line.decode(errors='replace').strip()[:200]}"}

    def _line(self, timeout):
        out, line, end = self.process.stdout.fileno(), b"", time.monotonic() + timeout
        while not line.endswith(b"\n"):
            if not select.select([out], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no answer in {timeout} s")
            piece = os.read(out, 65536)
            if not piece:
                raise OSError(f"ended with status {self.process.wait()}")
            line += piece
        return line

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def start_sides(bench, python, c_program, with_peers):
    sides = {"ours": Side("ours", [bench, "--serve"], our_environment(os.path.join(BUILD, "bench-cache")))}
    if with_peers and python:
        for name in ("jax", "numpy"):
            sides[name] = Side(name, [python, os.path.join(PEERS, f"{name}_peer.py"), "--serve"], peer_environment())
    if with_peers and c_program:
        sides["c"] = Side("c", [c_program], peer_environment())
    return sides


def run_once(command, env):
    """A whole process: its answer, with the microseconds from its start to its end as "process_us"."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, env=env, cwd=BUILD, capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return {"error": "no end in 600 s"}
    us = (time.perf_counter() - start) * 1e6
    try:
        return {**json.loads(done.stdout), "process_us": us}
    except ValueError:
        return {"error": f"status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}"}


class FreshProcesses:
    """The works that start a process each time, with caches of their own."""

    def __init__(self, bench, python):
        self.commands = {"ours": [bench, "--cold"]}
        if python:
            self.commands["jax"] = [python, os.path.join(PEERS, "jax_peer.py"), "--cold"]
        self.kept = {}

    def ask(self, side, work):
        """Microseconds and result: of the first call (kind cold), or of the whole process with a filled cache (kind start)."""
        command = [*self.commands[side], work.name]
        if work.kind == "cold":
            with tempfile.TemporaryDirectory() as empty:
                return run_once(command, self._environment(side, empty))
        if side not in self.kept:
            self.kept[side] = tempfile.TemporaryDirectory()
            run_once(command, self._environment(side, self.kept[side].name))  # fills the cache
        answer = run_once(command, self._environment(side, self.kept[side].name))
        return answer if "error" in answer else {**answer, "us": answer["process_us"]}

    @staticmethod
    def _environment(side, cache):
        return our_environment(cache) if side == "ours" else peer_environment(STITHY_BENCH_JAX_CACHE=cache)
