"""The works on JAX (CPU), by the same algorithms: jit, value_and_grad, scan, fori_loop."""

import os
import sys
import time
from typing import NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# second_start is about what a process finds on disk; all other works compile.
if sys.argv[1:] == ["--cold", "second_start"] and "STITHY_BENCH_JAX_CACHE" in os.environ:
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.environ["STITHY_BENCH_JAX_CACHE"]
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

import jax
import jax.numpy as jnp
from jax import lax

from serve import MILLION, Work, kalman_observations, lynx_hare_data, microseconds, serve, span_of_three, wave

# f64 as written; arrays of f32 stay f32.
jax.config.update("jax_enable_x64", True)


def ready(x):
    return jax.block_until_ready(x)


def jitted(f, *args):
    """A jitted function called again and again on the same arguments, each call waited for."""
    compiled = jax.jit(f)
    args = jax.tree.map(jnp.asarray, args)

    def run(n):
        for _ in range(n):
            jax.block_until_ready(compiled(*args))

    return Work(run, lambda: jax.tree.leaves(compiled(*args)))


# ---- calls ----


def eager_add():
    one = jnp.ones(1)

    def run(n):
        r = one
        for _ in range(n):
            r = one + one
        ready(r)

    return Work(run, lambda: [one + one])


def jit_add():
    one = jnp.ones(1)
    add = jax.jit(lambda x, y: x + y)

    def run(n):
        r = one
        for _ in range(n):
            r = add(one, one)
        ready(r)

    return Work(run, lambda: [add(one, one)])


def jit_fifty_arguments():
    arguments = [jnp.full(8, float(i)) for i in range(50)]
    f = jax.jit(lambda xs: [x + 1 for x in xs])

    def run(n):
        r = None
        for _ in range(n):
            r = f(arguments)
        ready(r)

    return Work(run, lambda: f(arguments))


def new_length_figure(f, inputs, state):
    """What a length never seen before costs above one that is known: the first call less the second of the same length."""
    extra = []
    for _ in range(2):
        state[0] += 1
        x = inputs(state[0])
        first = microseconds(lambda: ready(f(x)))
        extra.append(first - microseconds(lambda: ready(f(x))))
    return min(extra)


def new_length():
    f = jax.jit(lambda x: jnp.sum(jnp.exp(-x * x) * jnp.sin(x) + 0.5))
    state = [3000]
    return Work(figure=lambda: new_length_figure(f, lambda n: jnp.asarray(span_of_three(n, "float64")), state))


def new_length_attention():
    def attention(q):
        scores = jax.nn.softmax(q @ q.T / 8.0, -1)
        return jnp.sum(jnp.square(scores @ q))

    g = jax.jit(jax.grad(attention))
    state = [100]
    return Work(figure=lambda: new_length_figure(g, lambda n: jnp.asarray(wave((n, 64), "float32", 1)), state))


def long_chain(x, y, count):
    for _ in range(count // 4):
        x = jnp.tanh(jnp.sin(x * 0.9) + y)
    return jnp.sum(x)


def trace_per_operation():
    """Trace and gradient alone (to a jaxpr); what XLA does with it is not in it."""
    count = 2000  # its cost is in proportion, and 10,000 would take minutes
    x, y = jnp.asarray(wave((16,), "float64", 1)), jnp.asarray(wave((16,), "float64", 2))
    return Work(figure=lambda: microseconds(lambda: jax.make_jaxpr(jax.grad(lambda a: long_chain(a, y, count)))(x)) / count)


def eager_gradient_per_operation():
    count = 1000
    x, y = jnp.asarray(wave((16,), "float64", 1)), jnp.asarray(wave((16,), "float64", 2))
    g = jax.grad(lambda a: long_chain(a, y, count))
    return Work(figure=lambda: microseconds(lambda: ready(g(x))) / count)


# ---- elementwise, rows, products ----


def chain(x):
    return jnp.exp(-x * x) * jnp.sin(x) + 0.5


def layer_norm(x, scale, shift):
    centered = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(jnp.square(centered), -1, keepdims=True)
    return centered / jnp.sqrt(variance + 1e-5) * scale + shift


def distances(p):
    return jnp.sqrt(jnp.sum(jnp.square(p[:, None, :] - p[None, :, :]), -1))


# ---- programs with loops ----


def springs(stiffness, start):
    dt = 1.0 / 5000

    def step(_, s):
        position, velocity = s
        velocity = velocity + dt * (stiffness @ position)
        return position + dt * velocity, velocity

    return lax.fori_loop(0, 5000, step, (start, jnp.zeros_like(start)))[0][0]


def springs_arguments():
    return jnp.ones((200, 200)) - jnp.eye(200), (jnp.arange(200.0) + 1) / 200


def springs_bytes():
    """What XLA sets aside for the gradient beyond its inputs: scratch and result."""
    memory = jax.jit(jax.grad(springs)).lower(*springs_arguments()).compile().memory_analysis()
    return float(memory.temp_size_in_bytes + memory.output_size_in_bytes)


def recurrence(x):
    return lax.fori_loop(0, 10_000_000, lambda _, s: s * 0.999999 + 1e-3, x)


def sixty_leaves(leaves):
    def step(_, s):
        return [jnp.sin(s[i]) * 0.5 + s[(i + 1) % len(s)] * 0.1 for i in range(len(s))]

    leaves = lax.fori_loop(0, 100, step, leaves)
    total = leaves[0]
    for x in leaves[1:]:
        total = total + x
    return total


def sixty_leaves_start():
    return [jnp.asarray(i / 60.0) for i in range(60)]


class Noise(NamedTuple):
    log_process: jax.Array
    log_measurement: jax.Array


def kalman(noise, observations):
    transition = jnp.array([[1.0, 1.0], [0.0, 1.0]])
    process = jnp.exp(noise.log_process) * jnp.array([[0.25, 0.5], [0.5, 1.0]])
    measurement = jnp.exp(noise.log_measurement)

    def update(belief, y):
        mean, covariance, total = belief
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T + process
        innovation = y - mean[0]
        variance = covariance[0, 0] + measurement
        gain = covariance[:, 0] / variance
        total = total - 0.5 * (jnp.log(2 * jnp.pi * variance) + innovation * innovation / variance)
        return (mean + gain * innovation, covariance - jnp.outer(gain, covariance[0, :]), total), None

    start = (jnp.zeros(2), 10.0 * jnp.eye(2), jnp.zeros(()))
    return lax.scan(update, start, observations)[0][2]


def kalman_arguments():
    return Noise(jnp.asarray(-3.0), jnp.asarray(-1.0)), jnp.asarray(kalman_observations())


class Parameters(NamedTuple):
    alpha: jax.Array
    beta: jax.Array
    gamma: jax.Array
    delta: jax.Array
    hare: jax.Array
    lynx: jax.Array
    sigma_hare: jax.Array
    sigma_lynx: jax.Array


def lynx_hare(logs, hare, lynx):
    p = jax.tree.map(jnp.exp, logs)
    h = 0.01

    def rates(x, y):
        return x * (p.alpha - p.beta * y), y * (p.delta * x - p.gamma)

    def step(_, now):
        x, y = now
        h1, l1 = rates(x, y)
        h2, l2 = rates(x + h / 2 * h1, y + h / 2 * l1)
        h3, l3 = rates(x + h / 2 * h2, y + h / 2 * l2)
        h4, l4 = rates(x + h * h3, y + h * l3)
        return x + h / 6 * (h1 + 2.0 * (h2 + h3) + h4), y + h / 6 * (l1 + 2.0 * (l2 + l3) + l4)

    def year(now, _):
        now = lax.fori_loop(0, 100, step, now)
        return now, now

    _, path = lax.scan(year, (p.hare, p.lynx), jnp.arange(20))

    def misfit(counted, start, rest, sigma):
        residual = jnp.log(counted) - jnp.log(jnp.concatenate([start[None], rest]))
        return 21.0 * jnp.log(sigma) + jnp.sum(jnp.square(residual)) / (2.0 * jnp.square(sigma))

    return misfit(hare, p.hare, path[0], p.sigma_hare) + misfit(lynx, p.lynx, path[1], p.sigma_lynx)


def lynx_hare_arguments():
    data = lynx_hare_data()
    logs = Parameters(*[jnp.log(v) for v in (0.5, 0.02, 0.8, 0.02, 30.0, 4.0, 0.3, 0.3)])
    return logs, jnp.asarray(data["hare"]), jnp.asarray(data["lynx"])


# ---- first calls in a process of their own ----


def first_call(f, *args):
    args = ready(args)
    start = time.perf_counter_ns()
    result = ready(jax.jit(f)(*args))
    return (time.perf_counter_ns() - start) / 1e3, jax.tree.leaves(result)


def unrolled():
    def f(x):
        for _ in range(1000):
            x = jnp.sin(x) * 1.01
        return x

    return first_call(f, jnp.asarray(span_of_three(1000, "float64")))


def second_start():
    """bench/run times the whole process."""
    return first_call(jax.grad(lambda x: jnp.sum(jnp.exp(-x * x) * jnp.sin(x) + 0.5)), jnp.asarray(span_of_three(1000, "float64")))


COLD = {
    "cold_kalman": lambda: first_call(jax.grad(kalman), *kalman_arguments()),
    "cold_springs": lambda: first_call(jax.grad(springs), *springs_arguments()),
    "cold_60_leaves": lambda: first_call(jax.grad(sixty_leaves), sixty_leaves_start()),
    "unrolled_2000": unrolled,
    "second_start": second_start,
}

WORKS = {
    "eager_add_1": eager_add,
    "jit_add_1": jit_add,
    "jit_50_args": jit_fifty_arguments,
    "new_length": new_length,
    "new_length_attention": new_length_attention,
    "trace_per_op": trace_per_operation,
    "eager_grad_per_op": eager_gradient_per_operation,
    "sum_axis0": lambda: jitted(lambda x: jnp.sum(x, 0), wave((1000, 1000), "float32", 1, 1, 0.5)),
    "sum_axis1": lambda: jitted(lambda x: jnp.sum(x, 1), wave((1000, 1000), "float32", 1, 1, 0.5)),
    "softmax": lambda: jitted(lambda x: jax.nn.softmax(x, -1), wave((1000, 1000), "float32", 1, 3)),
    "layer_norm": lambda: jitted(
        layer_norm, wave((1000, 1000), "float32", 1, 3, 1), wave((1000,), "float32", 2), wave((1000,), "float32", 3)
    ),
    "pairwise": lambda: jitted(distances, wave((1000, 3), "float64", 1)),
    "springs_bytes": lambda: Work(figure=springs_bytes),
    "springs_primal": lambda: jitted(springs, *springs_arguments()),
    "springs_gradient": lambda: jitted(jax.grad(springs), *springs_arguments()),
    "scan_1e7": lambda: jitted(recurrence, 1.0),
    "scan_60_leaves": lambda: jitted(jax.grad(sixty_leaves), sixty_leaves_start()),
    "kalman_value": lambda: jitted(kalman, *kalman_arguments()),
    "kalman_gradient": lambda: jitted(jax.value_and_grad(kalman), *kalman_arguments()),
    "lynx_hare_value": lambda: jitted(lynx_hare, *lynx_hare_arguments()),
    "lynx_hare_gradient": lambda: jitted(jax.value_and_grad(lynx_hare), *lynx_hare_arguments()),
}
for dtype in ("float64", "float32"):
    bits = "f" + dtype[5:]
    WORKS[f"chain_{bits}"] = lambda d=dtype: jitted(chain, span_of_three(MILLION, d))
    WORKS[f"tanh_{bits}"] = lambda d=dtype: jitted(jnp.tanh, span_of_three(MILLION, d))
    WORKS[f"sum_{bits}"] = lambda d=dtype: jitted(jnp.sum, wave((MILLION,), d, 1, 1, 0.5))
for bits, size in (("32", 1024), ("64", 1024), ("64", 128), ("64", 32)):
    WORKS[f"matmul_f{bits}_{size}"] = lambda b=bits, n=size: jitted(
        jnp.matmul, wave((n, n), "float" + b, 1), wave((n, n), "float" + b, 2)
    )

if __name__ == "__main__":
    serve(WORKS, COLD)
