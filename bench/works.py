"""The works in the order of the table: which peers do them, how closely results must agree, what the machine allows at
best, and what is asked for.

A bound is microseconds (or bytes), or ("jax", 0.85): so many times that peer."""

from dataclasses import dataclass, field
from typing import Callable, Optional, Union

Bound = Union[float, tuple]


@dataclass
class Work:
    name: str
    what: str
    peers: tuple
    must: Bound
    aim: Optional[Bound] = None
    tolerance: float = 1e-9  # of results, relative to the sum of their magnitudes
    limit: Optional[Callable] = None  # from the measured limits of the machine, in microseconds
    kind: str = "warm"  # warm: called again and again; cold: first call of a fresh process; start: a whole process, caches filled
    unit: str = "us"


def read(megabytes):
    """Reading so many MB once, all cores together."""
    key = "read_8mb_gbs" if megabytes > 6 else "read_4mb_gbs"
    return lambda m: megabytes * 1e3 / m[key]


def copy(megabytes):
    """Reading and writing so many MB each, all cores together."""
    key = "copy_8mb_gbs" if megabytes > 6 else "copy_4mb_gbs"
    return lambda m: 2 * megabytes * 1e3 / m[key]


def product(n, dtype):
    """Multiply-adds at their peak on all cores."""
    return lambda m: 2e-3 * n**3 / m[f"{dtype}_gflops"]


def spring_steps(m):
    """5000 times the matrix of 320 kB, read by one core from its cache."""
    return 5000 * 320 / m["read_320kb_one_core_gbs"]


F32 = 1e-5
WORKS = [
    Work("eager_add_1", "add two arrays of one element, no jit", ("jax", "numpy"), ("numpy", 1.1), ("numpy", 0.5)),
    Work("jit_add_1", "the same, jitted", ("jax",), 0.7, 0.3),
    Work("jit_50_args", "50 arrays in and out", ("jax",), 8, 3),
    Work("new_length", "a jitted chain at a new length, above a known one", ("jax",), 100, 20),
    Work("new_length_attention", "the gradient of attention at a new length, above a known one", ("jax",), 100, 20),
    Work("chain_f64", "exp(-x*x)*sin(x)+0.5 of 1e6", ("jax", "numpy", "c"), 1500, 800, limit=copy(8)),
    Work("chain_f32", "the same in f32", ("jax", "numpy", "c"), 600, 350, F32, copy(4)),
    Work("tanh_f64", "tanh of 1e6", ("jax", "numpy"), ("jax", 1), ("jax", 0.7), limit=copy(8)),
    Work("tanh_f32", "the same in f32", ("jax", "numpy"), ("jax", 1), ("jax", 0.7), F32, copy(4)),
    Work("sum_f64", "sum of 1e6", ("jax", "numpy"), 70, 52, limit=read(8)),
    Work("sum_f32", "the same in f32", ("jax", "numpy"), 45, 27, F32, read(4)),
    Work("sum_axis0", "sum of 1000 x 1000 f32 over rows", ("jax", "numpy"), 60, 27, F32, read(4)),
    Work("sum_axis1", "the same over columns", ("jax", "numpy"), 45, 27, F32, read(4)),
    Work("softmax", "softmax of 1000 x 1000 f32", ("jax", "numpy"), 300, 150, F32, copy(4)),
    Work("layer_norm", "layer norm of 1000 x 1000 f32", ("jax", "numpy"), 390, 195, F32, copy(4)),
    Work("matmul_f32_1024", "matrix product, f32, n = 1024", ("jax", "numpy"), ("numpy", 1.1), ("numpy", 1), F32,
         product(1024, "f32")),
    Work("matmul_f64_1024", "f64, n = 1024", ("jax", "numpy"), ("numpy", 1.1), ("numpy", 1),
         limit=product(1024, "f64")),
    Work("matmul_f64_128", "f64, n = 128", ("jax", "numpy"), ("numpy", 1.1), ("numpy", 1), limit=product(128, "f64")),
    Work("matmul_f64_32", "f64, n = 32", ("jax", "numpy"), ("numpy", 1.1), ("numpy", 1), limit=product(32, "f64")),
    Work("pairwise", "1000 x 1000 distances in 3 dimensions", ("jax", "numpy"), 1500, 600,
         limit=lambda m: 8e3 / m["fill_8mb_gbs"]),
    Work("springs_bytes", "peak bytes of the gradient of springs beyond its inputs", ("jax",), 10e6, 9e6,
         limit=lambda m: 8e6, unit="bytes"),
    Work("springs_primal", "5000 steps of 200 joined masses", ("jax", "c"), ("jax", 1.1), 14e3, limit=spring_steps),
    Work("springs_gradient", "its gradient in all 40,000 stiffnesses", ("jax", "c"), ("jax", 0.85), 35e3, 1e-8,
         lambda m: 2 * spring_steps(m) + 2e-3 * 5000 * 200 * 200 / m["f64_one_core_gflops"]),
    Work("scan_1e7", "a scalar recurrence of 1e7 steps", ("jax", "c"), ("c", 1.5), ("c", 1.05)),
    Work("scan_60_leaves", "gradient of 100 steps that carry 60 scalars", ("jax", "c"), 200, 100),
    Work("kalman_value", "log-likelihood of a Kalman filter, 500 observations", ("jax",), ("jax", 1), ("jax", 0.5)),
    Work("kalman_gradient", "with its gradient", ("jax",), ("jax", 1), ("jax", 0.5), 1e-8),
    Work("lynx_hare_value", "likelihood of 2000 Runge-Kutta steps", ("jax", "c"), ("jax", 1), 35),
    Work("lynx_hare_gradient", "with its gradient", ("jax",), ("jax", 1), 100, 1e-8),
    Work("cold_kalman", "first call of the jitted gradient, no cache", ("jax",), ("jax", 0.5), ("jax", 0.25), 1e-8, kind="cold"),
    Work("cold_springs", "the same of springs", ("jax",), ("jax", 0.5), ("jax", 0.25), 1e-8, kind="cold"),
    Work("cold_60_leaves", "the same of 60 leaves", ("jax",), ("jax", 0.5), ("jax", 0.25), 1e-8, kind="cold"),
    Work("trace_per_op", "trace, gradient and plan of 10,000 operations, per operation", ("jax",), 10, 3),
    Work("eager_grad_per_op", "eager gradient of a chain, per operation", ("jax",), 3, 1),
    Work("unrolled_2000", "first call of 1000 sines and multiplications in a row", ("jax",), 250e3, 100e3, 1e-8, kind="cold"),
    Work("second_start", "a process from its start to its first gradient, all cached on disk", ("jax",), 100e3, 50e3, 1e-8, kind="start"),
]


def bound_value(bound, peers):
    """A bound in microseconds, or None where its peer was not measured."""
    if not isinstance(bound, tuple):
        return bound
    peer, factor = bound
    return factor * peers[peer] if peer in peers else None
