"""The works on NumPy, where NumPy does them in a few calls."""

import numpy as np

from serve import MILLION, Work, serve, span_of_three, wave


def repeated(f, *args):
    def run(n):
        for _ in range(n):
            f(*args)

    return Work(run, lambda: [f(*args)])


def chain(x):
    return np.exp(-x * x) * np.sin(x) + x.dtype.type(0.5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, scale, shift):
    centered = x - x.mean(-1, keepdims=True)
    variance = np.square(centered).mean(-1, keepdims=True)
    return centered / np.sqrt(variance + np.float32(1e-5)) * scale + shift


def pairwise(p):
    return np.sqrt(np.square(p[:, None, :] - p[None, :, :]).sum(-1))


def eager_add():
    one = np.ones(1)

    def run(n):
        for _ in range(n):
            one + one

    return Work(run, lambda: [one + one])


WORKS = {"eager_add_1": eager_add}
for dtype in ("float64", "float32"):
    bits = "f" + dtype[5:]
    WORKS[f"chain_{bits}"] = lambda d=dtype: repeated(chain, span_of_three(MILLION, d))
    WORKS[f"tanh_{bits}"] = lambda d=dtype: repeated(np.tanh, span_of_three(MILLION, d))
    WORKS[f"sum_{bits}"] = lambda d=dtype: repeated(np.sum, wave((MILLION,), d, 1, 1, 0.5))
WORKS["sum_axis0"] = lambda: repeated(lambda x: x.sum(0), wave((1000, 1000), "float32", 1, 1, 0.5))
WORKS["sum_axis1"] = lambda: repeated(lambda x: x.sum(1), wave((1000, 1000), "float32", 1, 1, 0.5))
WORKS["softmax"] = lambda: repeated(softmax, wave((1000, 1000), "float32", 1, 3))
WORKS["layer_norm"] = lambda: repeated(
    layer_norm, wave((1000, 1000), "float32", 1, 3, 1), wave((1000,), "float32", 2), wave((1000,), "float32", 3)
)
for bits, size in (("32", 1024), ("64", 1024), ("64", 128), ("64", 32)):
    WORKS[f"matmul_f{bits}_{size}"] = lambda b=bits, n=size: repeated(np.matmul, wave((n, n), "float" + b, 1), wave((n, n), "float" + b, 2))
WORKS["pairwise"] = lambda: repeated(pairwise, wave((1000, 3), "float64", 1))

if __name__ == "__main__":
    serve(WORKS)
