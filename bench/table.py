"""How results are printed, kept between runs, and written as docs/performance.md."""

import datetime
import json
import os
import subprocess

from works import WORKS, bound_value

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEFAULT = os.path.join(ROOT, "docs/performance.md")
NOTES = "<!-- Below this line the file is written by hand; above it by `bench/run --table`. -->"
PEERS = ("jax", "numpy", "c")
TITLES = {"jax": "JAX", "numpy": "NumPy", "c": "C"}


def quantity(value, unit="us"):
    """Three digits with a unit."""
    if value is None:
        return ""
    if unit == "bytes":
        return f"{value / 1e6:.2f} MB"
    for name, factor in (("s", 1e6), ("ms", 1e3)):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.3g} us"


def ratio(result):
    """Ours to the best peer's."""
    if result["ours_us"] is None or not result["peers"]:
        return ""
    return f"{result['ours_us'] / min(result['peers'].values()):.2f}"


def met(result, bound):
    return "" if bound is None or result["ours_us"] is None else "yes" if result["ours_us"] <= bound else "NO"


def heading():
    return f"{'work':21}{'ours':>10}{'JAX':>10}{'NumPy':>10}{'C':>10}{'ratio':>8}{'limit':>10}{'must':>10}  met"


def line(work, result, must):
    cells = [quantity(result["ours_us"], work.unit), *[quantity(result["peers"].get(p), work.unit) for p in PEERS]]
    return (
        f"{work.name:21}"
        + "".join(f"{c:>10}" for c in cells)
        + f"{ratio(result):>8}{quantity(result['limit_us'], work.unit):>10}{quantity(must, work.unit):>10}  {met(result, must)}"
    )


def limits_line(limits):
    if not limits:
        return "the machine's limits were not measured"
    return (
        f"limits: {limits['cores']} cores; reading 8 MB {limits['read_8mb_gbs']:.0f} GB/s, 4 MB {limits['read_4mb_gbs']:.0f} GB/s, "
        f"copying 8 MB {limits['copy_8mb_gbs']:.0f} GB/s, 320 kB on one core {limits['read_320kb_one_core_gbs']:.0f} GB/s; "
        f"multiply-adds f64 {limits['f64_gflops']:.0f} GF/s, f32 {limits['f32_gflops']:.0f} GF/s, "
        f"f64 on one core {limits['f64_one_core_gflops']:.0f} GF/s"
    )


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    fields = dict(l.split(":", 1) for l in output_of("lscpu").splitlines() if ":" in l)
    name = fields.get("Model name", os.uname().machine).strip()
    codes = {("GenuineIntel", "6", "207"): "Emerald Rapids", ("GenuineIntel", "6", "143"): "Sapphire Rapids"}
    code = codes.get(tuple(fields.get(k, "").strip() for k in ("Vendor ID", "CPU family", "Model")))
    vectors = "AVX-512" if "avx512f" in fields.get("Flags", "") else "AVX2" if "avx2" in fields.get("Flags", "") else "no AVX2"
    virtual = ", virtual" if fields.get("Hypervisor vendor") else ""
    return f"{name}{f' ({code})' if code else ''}, {os.cpu_count()} cores, {vectors}{virtual}"


def versions(python):
    """Of the peers, as text."""
    found = []
    if python:
        found.append(output_of(python, "-c", "import jax, numpy; print(f'JAX {jax.__version__}, NumPy {numpy.__version__}')").strip())
    found.append(output_of("gcc", "--version").split("\n")[0])
    return ", ".join(f for f in found if f)


def remember(path, results, limits, peer_versions):
    """Keeps results by work, so that a run of some works leaves the others as they are."""
    kept = {"works": {}}
    if os.path.exists(path):
        with open(path) as file:
            kept = json.load(file)
    kept["works"].update({r["work"]: r for r in results})
    kept.update(limits=limits, versions=peer_versions, machine=machine(), date=datetime.date.today().isoformat())
    with open(path, "w") as file:
        json.dump(kept, file, indent=1)


def bound_text(bound, unit):
    if isinstance(bound, tuple):
        return TITLES[bound[0]] if bound[1] == 1 else f"{bound[1]:g} x {TITLES[bound[0]]}"
    return quantity(bound, unit)


def write(path, results_path):
    """docs/performance.md from the kept results; what stands below the line of the notes stays."""
    with open(results_path) as file:
        kept = json.load(file)
    notes = ""
    if os.path.exists(path):
        with open(path) as file:
            notes = file.read().partition(NOTES)[2]
    lines = [
        "# Performance",
        "",
        f"Measured on {kept['date']} by `./quickstart bench`: {kept['machine']}; {kept['versions']}.",
        "",
        f"The machine's {limits_line(kept['limits'])}.",
        "",
        "All sides run in turn in one run, each in a process of its own; a figure is the median over rounds of the best time",
        "of one run, results waited for. Peers run with huge pages and keep their memory. Results are compared first; a side",
        "that computes something else is not timed. *ratio* is ours to the best peer's; *limit* is what memory or arithmetic",
        "allow at best, where that is known; *must* is what is asked for.",
        "C is one thread, by hand, with glibc's vector functions (`-O3 -march=native -ffast-math`).",
        "",
        "| work | what | ours | JAX | NumPy | C | ratio | limit | must | met |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for work in WORKS:
        result = kept["works"].get(work.name)
        if not result:
            continue
        cells = [quantity(result["ours_us"], work.unit) or "failed", *[quantity(result["peers"].get(p), work.unit) for p in PEERS]]
        must = bound_value(work.must, result["peers"])
        cells += [ratio(result), quantity(result["limit_us"], work.unit), bound_text(work.must, work.unit), met(result, must)]
        lines.append(f"| `{work.name}` | {work.what} | " + " | ".join(cells) + " |")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n\n" + NOTES + (notes or "\n"))
